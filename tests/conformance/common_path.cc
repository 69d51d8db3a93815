// SPDX-License-Identifier: Apache-2.0
// Tests the arcs shared by the paths of all tokens, against the literal reference.
#include "reference/viterbi.h"
#include "tests/conformance/search_fixture.h"

namespace asr::test {
namespace {

class CommonPathTest : public SearchFixture {
 protected:
  void SetUp() override {
    SearchFixture::SetUp();
    require(ASR_BACKEND_COMMON_PATH, "cannot tell what paths share");
  }
};

TEST_P(CommonPathTest, IsTheOneDefined) {
  const auto device = open();
  std::mt19937 random(21);
  uint32_t n_some = 0, n_partly = 0;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomGraph graph(random_shape(random), random);
    const uint32_t n_frames = random() % 40, n_pdfs = graph.view().n_pdfs;
    const std::vector<float> rows = graph.loglikes(n_frames);
    const asr_search_options options = search_options(0.5f + static_cast<float>(random() % 20), 1 + random() % 12);
    const std::vector<uint64_t> want = reference::common_arcs(graph.view(), options, rows.data(), n_frames);
    const Loaded loaded(api(), *device, graph.view());
    const Channel channel(api(), *device, loaded, options);
    for (uint32_t t = 0;; ++t) {
      const asr_path path = path_of(*device, channel.channel, ASR_WANTS_COMMON | final_if(t % 2 == 1));
      ASSERT_EQ(path.n_common_arcs, want[t]) << "frame " << t;
      ASSERT_LE(want[t], path.n_arcs);
      n_some += want[t] > 0 ? 1 : 0;
      n_partly += want[t] > 0 && want[t] < path.n_arcs ? 1 : 0;
      if (t == n_frames) break;
      advance(*device, channel, rows.data() + size_t{t} * n_pdfs, n_pdfs, 1, 1);
    }
  }
  EXPECT_GT(n_some, 5000u);
  EXPECT_GT(n_partly, 2000u);
}

// A search so long that path records are removed meanwhile, which must not show.
TEST_P(CommonPathTest, OfALongSearchNeverFalls) {
  const auto device = open();
  std::mt19937 random(22);
  constexpr uint32_t kFrames = 20000, kWindow = 100;
  RandomGraph graph({29, 5, 6, 2.5, 0.7, 0.3, false}, random);
  const std::vector<float> rows = graph.loglikes(kWindow);
  const Loaded loaded(api(), *device, graph.view());
  const Channel channel(api(), *device, loaded, search_options(9, 12));
  std::vector<asr_path_arc> common;
  for (uint32_t t = 0; t < kFrames; t += kWindow) {
    advance(*device, channel, rows.data(), 5, kWindow, kWindow);
    const asr_path path = path_of(*device, channel.channel, ASR_WANTS_COMMON);
    const uint64_t n = path.n_common_arcs;
    ASSERT_GE(n, common.size());
    ASSERT_LE(n, path.n_arcs);
    for (size_t a = 0; a < common.size(); ++a) ASSERT_EQ(path.arcs[a].transition_id, common[a].transition_id);
    common.assign(path.arcs, path.arcs + n);
  }
  EXPECT_GT(common.size(), size_t{kFrames} - 1000);
}

SENONE_INSTANTIATE(CommonPathTest);

}  // namespace
}  // namespace asr::test
