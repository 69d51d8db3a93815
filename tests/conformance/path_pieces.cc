// SPDX-License-Identifier: Apache-2.0
// Tests ASR_WANTS_PIECE of `best_paths`: a path whose settled arcs are taken now and then is the path of a channel that keeps
// them.
#include "tests/conformance/search_fixture.h"

namespace asr::test {
namespace {

std::vector<asr_path_arc> arcs_of(const asr_path &path) { return {path.arcs, path.arcs + path.n_arcs}; }

void expect_same(const std::vector<asr_path_arc> &found, const std::vector<asr_path_arc> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t a = 0; a < found.size(); ++a) {
    ASSERT_EQ(found[a].frame, expected[a].frame) << "arc " << a;
    ASSERT_EQ(found[a].transition_id, expected[a].transition_id) << "arc " << a;
    ASSERT_EQ(found[a].word, expected[a].word) << "arc " << a;
    ASSERT_EQ(found[a].graph_cost, expected[a].graph_cost) << "arc " << a;
    ASSERT_EQ(found[a].acoustic_cost, expected[a].acoustic_cost) << "arc " << a;
  }
}

class PathPiecesTest : public SearchFixture {
 protected:
  void SetUp() override {
    SearchFixture::SetUp();
    require(ASR_BACKEND_PATH_PIECES, "gives no pieces of paths");
  }

  void take_piece(const Device &device, const Channel &channel, std::vector<asr_path_arc> *taken) {
    const asr_path piece = path_of(device, channel.channel, ASR_WANTS_PIECE);
    taken->insert(taken->end(), piece.arcs, piece.arcs + piece.n_arcs);
  }

  // Compares the paths of two channels after the same rows; the arcs before those of `cut` are in `taken`.
  void compare(const Device &device, const Channel &cut, const Channel &whole, const std::vector<asr_path_arc> &taken,
               bool use_final) {
    const uint32_t common = (entry().info.capabilities & ASR_BACKEND_COMMON_PATH) != 0 ? ASR_WANTS_COMMON : 0;
    const asr_path expected = path_of(device, whole.channel, common | final_if(use_final));
    const std::vector<asr_path_arc> all = arcs_of(expected);
    const asr_path found = path_of(device, cut.channel, common | final_if(use_final));
    std::vector<asr_path_arc> joined = taken;
    joined.insert(joined.end(), found.arcs, found.arcs + found.n_arcs);
    expect_same(joined, all);
    EXPECT_EQ(found.total_cost, expected.total_cost);
    EXPECT_EQ(found.n_frames, expected.n_frames);
    EXPECT_EQ(found.reached_final, expected.reached_final);
    EXPECT_EQ(found.beam_died, expected.beam_died);
    if (common != 0) {
      EXPECT_EQ(taken.size() + found.n_common_arcs, expected.n_common_arcs);
    }
  }
};

TEST_P(PathPiecesTest, JoinToTheWholePath) {
  const auto device = open();
  std::mt19937 random(31);
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomGraph graph(random_shape(random), random);
    const uint32_t n_frames = random() % 60, n_pdfs = graph.view().n_pdfs;
    const std::vector<float> rows = graph.loglikes(n_frames);
    const asr_search_options options = search_options(0.5f + static_cast<float>(random() % 20), 1 + random() % 12);
    const Loaded loaded(api(), *device, graph.view());
    const Channel cut(api(), *device, loaded, options), whole(api(), *device, loaded, options);
    std::vector<asr_path_arc> taken;
    for (uint32_t t = 0; t < n_frames;) {
      const uint32_t n = std::min(1 + static_cast<uint32_t>(random() % 7), n_frames - t);
      for (const Channel *channel : {&cut, &whole}) advance(*device, *channel, rows.data() + size_t{t} * n_pdfs, n_pdfs, n, n);
      t += n;
      if (random() % 2 == 0) take_piece(*device, cut, &taken);
      compare(*device, cut, whole, taken, random() % 2 == 0);
    }
  }
}

// A search so long that the back end removes records of its paths: then pieces have arcs. How soon that is, is its choice.
TEST_P(PathPiecesTest, OfALongSearchLeaveTheChannel) {
  const auto device = open();
  std::mt19937 random(22);
  constexpr uint32_t kMaxFrames = 400000, kWindow = 200;
  const FanGraph graph(12, false);
  const std::vector<float> rows = FanGraph::loglikes(kWindow, false);
  const Loaded loaded(api(), *device, graph.view());
  const Channel cut(api(), *device, loaded, search_options(30)), whole(api(), *device, loaded, search_options(30));
  std::vector<asr_path_arc> taken;
  for (uint32_t t = 0; t < kMaxFrames && taken.size() < 5000; t += kWindow) {
    for (const Channel *channel : {&cut, &whole}) {
      advance(*device, *channel, rows.data(), FanGraph::kPdfs, kWindow, kWindow);
    }
    if (random() % 20 == 0) compare(*device, cut, whole, taken, false);
    take_piece(*device, cut, &taken);
    if (random() % 3 == 0) take_piece(*device, cut, &taken);  // empty, or what settled since
  }
  compare(*device, cut, whole, taken, true);
  EXPECT_GE(taken.size(), 5000u);
}

SENONE_INSTANTIATE(PathPiecesTest);

}  // namespace
}  // namespace asr::test
