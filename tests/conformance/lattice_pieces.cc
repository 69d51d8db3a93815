// SPDX-License-Identifier: Apache-2.0
// Tests the settled pieces of lattices against the literal reference, bit for bit.
#include "tests/conformance/lattice_fixture.h"

namespace asr::test {
namespace {

class LatticePiecesTest : public LatticeTest {
 protected:
  void SetUp() override {
    LatticeTest::SetUp();
    require(ASR_BACKEND_PIECES, "makes no pieces of lattices");
  }

  // Takes the available pieces; false if there were none.
  bool take(const Device &device, const Channel &channel, std::vector<RawLattice> *pieces) {
    const asr_raw_lattice raw = lattice_of(device, channel.channel, ASR_WANTS_PIECE);
    if (raw.n_states == 0) return false;
    pieces->push_back(copy_of(raw));
    pieces->back().n_frames = 0;
    pieces->back().beam_died = false;
    return true;
  }

  static void expect_same_pieces(const std::vector<RawLattice> &got, const std::vector<RawLattice> &want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      SCOPED_TRACE(i);
      expect_same(got[i], want[i]);
    }
  }
};

// Takes pieces as soon as they settle, or all at the end, or with intermediate lattices of the rest.
TEST_P(LatticePiecesTest, AreThoseDefined) {
  const auto device = open();
  std::mt19937 random(11);
  size_t n_pieces = 0;
  for (int i = 0; i < 6 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomGraph graph({30 + 10 * static_cast<uint32_t>(i), 6, 6, 2.5, 0.8, 0.3, false}, random);
    const uint32_t n_frames = 500 + random() % 1000;
    const std::vector<float> rows = graph.loglikes(n_frames);
    asr_search_options options = search_options(10, 20);
    options.lattice_beam = 2.0f + static_cast<float>(i);
    const bool use_final = i % 2 == 0;
    const auto want = reference::lattice_pieces(graph.view(), options, rows.data(), n_frames, use_final);
    n_pieces += want.size() - 1;
    const Loaded loaded(api(), *device, graph.view());
    for (const uint32_t chunk : {1u, 100u, n_frames}) {
      SCOPED_TRACE(chunk);
      const Channel channel(api(), *device, loaded, options);
      std::vector<RawLattice> got;
      for (uint32_t t = 0; t < n_frames; t += chunk) {
        const uint32_t n = std::min(chunk, n_frames - t);
        advance(*device, channel, rows.data() + size_t{t} * 6, 6, n, std::min(n, 64u));
        if (chunk == 100) lattice(*device, channel, true);
        while (take(*device, channel, &got)) continue;
      }
      got.push_back(lattice(*device, channel, use_final));
      expect_same_pieces(got, want);
    }
  }
  EXPECT_GT(n_pieces, 10u);
}

// Pieces not taken stay in the lattice.
TEST_P(LatticePiecesTest, NotTakenChangeNothing) {
  const auto device = open();
  std::mt19937 random(12);
  RandomGraph graph({30, 6, 6, 3.0, 0.8, 0.3, false}, random);
  constexpr uint32_t kFrames = 1100;
  const std::vector<float> rows = graph.loglikes(kFrames);
  asr_search_options options = search_options(12);
  options.lattice_beam = 6;
  expect_same(decode(*device, graph.view(), options, rows, kFrames, true),
              reference::lattice(graph.view(), options, rows.data(), kFrames, true));
}

// Pieces that settled before the beam died can be taken after it.
TEST_P(LatticePiecesTest, OfABeamThatDied) {
  const auto device = open();
  std::mt19937 random(13);
  RandomGraph graph({20, 3, 3, 3.0, 0.5, 0.5, false}, random);
  std::vector<float> rows = graph.loglikes(700);
  for (uint32_t p = 0; p < 3; ++p) rows[600 * 3 + p] = -HUGE_VALF;
  asr_search_options options = search_options(10);
  options.lattice_beam = 8;
  const auto want = reference::lattice_pieces(graph.view(), options, rows.data(), 700, true);
  ASSERT_EQ(want.size(), 2u);
  const Loaded loaded(api(), *device, graph.view());
  const Channel channel(api(), *device, loaded, options);
  advance(*device, channel, rows.data(), 3, 700, 64);
  std::vector<RawLattice> got;
  while (take(*device, channel, &got)) continue;
  got.push_back(lattice(*device, channel, true));
  EXPECT_TRUE(got.back().beam_died);
  expect_same_pieces(got, want);
}

TEST_P(LatticePiecesTest, AreRefusedWhereLatticesAre) {
  const auto device = open();
  std::mt19937 random(14);
  RandomGraph graph({4, 2, 2, 2.0, 0.0, 0.5, false}, random);
  const Loaded loaded(api(), *device, graph.view());
  const Channel channel(api(), *device, loaded, search_options(10));
  asr_raw_lattice raw{};
  EXPECT_EQ(api().lattices(device->get(), &channel.channel, 1, ASR_WANTS_PIECE, &raw), ASR_INVALID_ARGUMENT);
}

SENONE_INSTANTIATE(LatticePiecesTest);

}  // namespace
}  // namespace asr::test
