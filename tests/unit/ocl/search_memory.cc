// SPDX-License-Identifier: Apache-2.0
// Tests the search on a device that runs out of memory: buffers above a limit are refused. Needs a device, such as PoCL's.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>
#include <optional>

#include "core/base/error.h"
#include "plugins/ocl/search/search_lanes.h"
#include "reference/viterbi.h"
#include "tests/conformance/random_graph.h"
#include "tests/unit/scratch.h"

namespace asr::gpu {
namespace {

constexpr Variant kVariant = {"ocl_test", "nobody", 0, nullptr, nullptr, 4096, false};
constexpr asr_backend_options kOptions = {sizeof(asr_backend_options), 4, 64, 2, 0, 0, 0, 0, 0, 0, 0};
constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

size_t g_limit = kUnlimited;  // limit of a buffer, in bytes
size_t g_n_refused = 0;
bool g_reads_host = false;  // a copy from host memory may be running
Api g_real;

cl_mem limited_buffer(cl_context context, cl_mem_flags flags, size_t n_bytes, void *host, cl_int *status) {
  if (n_bytes <= g_limit) return g_real.CreateBuffer(context, flags, n_bytes, host, status);
  ++g_n_refused;
  *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return nullptr;
}
cl_int noting_write(cl_command_queue queue, cl_mem to, cl_bool waits, size_t offset, size_t n_bytes, const void *from,
                    cl_uint n, const cl_event *events, cl_event *event) {
  g_reads_host = true;
  return g_real.EnqueueWriteBuffer(queue, to, waits, offset, n_bytes, from, n, events, event);
}
cl_int noting_finish(cl_command_queue queue) {
  g_reads_host = false;
  return g_real.Finish(queue);
}
cl_int refused_launch(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
                      const cl_event *, cl_event *) {
  return CL_OUT_OF_RESOURCES;
}

asr_search_options options_of(float beam, uint32_t max_active) {
  return {sizeof(asr_search_options), beam, 0, 0.7f, 0.25f, max_active, 0};
}

// A graph, rows for it, and the reference's results.
struct Input {
  Input(const test::GraphShape &shape, uint32_t seed, uint32_t n_frames, const asr_search_options &options)
      : random(seed), graph(shape, random), rows(graph.loglikes(n_frames)), n_frames(n_frames), options(options) {
    want = reference::pruned_search(graph.view(), options, rows.data(), n_frames, true);
  }
  std::mt19937 random;
  test::RandomGraph graph;
  const std::vector<float> rows;
  const uint32_t n_frames;
  const asr_search_options options;
  reference::SearchResult want;
};

class SearchMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("POCL_CACHE_DIR", SENONE_BUILD_DIR "/tests/cache/pocl", 0);
    try {
      g_real = api();
      if (!list_devices(kVariant).devices.empty()) device_.emplace(kVariant, 0, kOptions);
    } catch (const Error &error) {
      GTEST_SKIP() << error.what();
    }
    if (!device_) GTEST_SKIP() << "no OpenCL device";
    g_limit = kUnlimited, g_n_refused = 0, g_reads_host = false;
    SearchTuning tuning = search_tuning(device_->facts(), 0);
    tuning.n_groups = 4;
    lanes_.emplace(*device_, tuning);
    api().CreateBuffer = limited_buffer;
    api().EnqueueWriteBuffer = noting_write;
    api().Finish = noting_finish;
  }
  void TearDown() override {
    if (device_) api() = g_real;
  }

  std::unique_ptr<Search> begin(const SearchGraph &graph, const Input &input) { return lanes_->begin(graph, input.options); }
  // Frames first ... first + n - 1.
  static SearchLanes::Task task(const std::unique_ptr<Search> &search, const Input &input, uint32_t first, uint32_t n) {
    return {search.get(), input.rows.data() + size_t{first} * input.graph.view().n_pdfs, 0, 0, n, 0};
  }
  void expect_found(const std::unique_ptr<Search> &search, const Input &input) {
    asr_path got{};
    lanes_->best_paths({search.get()}, ASR_WANTS_FINAL, &got);
    EXPECT_EQ(got.n_frames, input.want.n_frames);
    EXPECT_EQ(got.n_tokens, input.want.n_tokens);
    EXPECT_EQ(got.n_arcs, input.want.arcs.size());
    EXPECT_NEAR(got.total_cost, input.want.total_cost, 1e-9 * (1 + std::abs(input.want.total_cost)));
  }
  asr_backend_memory memory() const {
    asr_backend_memory memory{};
    lanes_->add_memory(&memory);
    return memory;
  }

  std::optional<Device> device_;
  std::optional<SearchLanes> lanes_;
};

const test::GraphShape kSmall{50, 4, 5, 2.5, 0.5, 0.3, false};

TEST_F(SearchMemoryTest, ScratchForFewGroupsServesManyChannels) {
  Input input(kSmall, 31, 20, options_of(10, 100));
  const SearchGraph graph(*device_, input.graph.view());
  std::vector<std::unique_ptr<Search>> searches;
  for (int i = 0; i < 4; ++i) searches.push_back(begin(graph, input));
  ASSERT_EQ(memory().n_lanes, 1u);
  g_limit = 3 * memory().lane_bytes;
  std::vector<SearchLanes::Task> tasks;
  for (const auto &search : searches) tasks.push_back(task(search, input, 0, 20));
  lanes_->start(nullptr, tasks);
  lanes_->finish();
  EXPECT_EQ(memory().n_lanes, 2u);
  for (auto &search : searches) expect_found(search, input);
  for (auto &search : searches) lanes_->end(std::move(search));
}

// A frame has more candidates than scratch memory can hold; channels that need no more memory go on.
TEST_F(SearchMemoryTest, FrameThatIsTooLargeFailsItsOwnChannel) {
  asr_search_options with_lattice = options_of(1e6f, 1000000);
  with_lattice.lattice_beam = 0.01f;
  Input small(kSmall, 32, 20, options_of(10, 100)), large({500, 4, 5, 300, 0, 0.3, false}, 33, 4, with_lattice);
  const SearchGraph small_graph(*device_, small.graph.view()), large_graph(*device_, large.graph.view());
  auto one = begin(small_graph, small), other = begin(large_graph, large);
  g_limit = memory().lane_bytes * 5 / 4;
  lanes_->start(nullptr, {task(other, large, 0, 4)});
  lanes_->finish();
  test::expect_error([&] { other->check_outcome(); }, ASR_OUT_OF_MEMORY, "allocating memory");
  lanes_->start(nullptr, {task(one, small, 0, 20)});
  lanes_->finish();
  expect_found(one, small);
  lanes_->end(std::move(other));
  lanes_->end(std::move(one));
}

// If a lattice fills most of its memory, more is allocated before the next window, if possible.
TEST_F(SearchMemoryTest, GrowthAheadOfNeedMayFail) {
  constexpr uint32_t kFrames = 390, kWindow = 5;  // 500 links per frame, nearly the initial capacity of a channel
  asr_search_options with_lattice = options_of(1e6f, 1000000);
  with_lattice.lattice_beam = 1e6f;
  Input small(kSmall, 34, kFrames, options_of(10, 100)), large({100, 4, 5, 5, 0, 0.3, false}, 35, kFrames, with_lattice);
  const SearchGraph small_graph(*device_, small.graph.view()), large_graph(*device_, large.graph.view());
  auto one = begin(small_graph, small), other = begin(large_graph, large);
  lanes_->start(nullptr, {task(one, small, 0, kWindow), task(other, large, 0, kWindow)});
  lanes_->finish();
  const uint64_t n_bytes = memory().channel_bytes;
  g_limit = n_bytes;
  for (uint32_t t = kWindow; t < kFrames; t += kWindow) {
    lanes_->start(nullptr, {task(one, small, t, kWindow), task(other, large, t, kWindow)});
    lanes_->finish();
  }
  EXPECT_GT(g_n_refused, 0u);
  EXPECT_EQ(memory().channel_bytes, n_bytes);
  expect_found(one, small);
  expect_found(other, large);
  lanes_->end(std::move(other));
  lanes_->end(std::move(one));
}

// The pool of channels grows by half of itself if possible, otherwise by the requested amount. A channel that it has no memory
// for begins without, and takes turns with the others.
TEST_F(SearchMemoryTest, PoolTakesWhatIsLeft) {
  Input input(kSmall, 36, 20, options_of(10, 100));
  const SearchGraph graph(*device_, input.graph.view());
  std::vector<std::unique_ptr<Search>> searches;
  searches.push_back(begin(graph, input));
  const uint64_t of_channel = memory().channel_bytes;
  g_limit = 4 * of_channel;
  for (int i = 1; i < 4; ++i) searches.push_back(begin(graph, input));
  EXPECT_EQ(memory().channel_bytes, 4 * of_channel);
  searches.push_back(begin(graph, input));
  EXPECT_TRUE(searches.back()->is_parked());
  for (uint32_t t = 0; t < 20; t += 5) {
    std::vector<SearchLanes::Task> tasks;
    for (const auto &search : searches) tasks.push_back(task(search, input, t, 5));
    lanes_->start(nullptr, tasks);
    lanes_->finish();
  }
  EXPECT_LE(memory().channel_bytes, 4 * of_channel);
  for (auto &search : searches) expect_found(search, input);
  for (auto &search : searches) lanes_->end(std::move(search));
}

// After an exception, start() no longer reads the caller's memory.
TEST_F(SearchMemoryTest, RowsAreNotReadAfterAFailure) {
  Input input(kSmall, 37, 20, options_of(10, 100));
  const SearchGraph graph(*device_, input.graph.view());
  auto search = begin(graph, input);
  api().EnqueueNDRangeKernel = refused_launch;
  test::expect_error([&] { lanes_->start(nullptr, {task(search, input, 0, 20)}); }, ASR_DEVICE_LOST, "launching a kernel");
  EXPECT_FALSE(g_reads_host);
  lanes_->end(std::move(search));
}

}  // namespace
}  // namespace asr::gpu
