// SPDX-License-Identifier: Apache-2.0
// Tests channels on a device that others have filled: asr_backend_options::most_memory_bytes makes allocations beyond a budget
// fail. Channels then begin small, take turns, and leave the device between their jobs. Results must equal those without a
// budget bit for bit. Only a channel that the device has no memory for even alone fails.
#include <optional>

#include "core/base/error.h"
#include "tests/conformance/load_fixture.h"

namespace asr::test {
namespace {

class MemoryBudgetTest : public LoadFixture {
 protected:
  void SetUp() override {
    LoadFixture::SetUp();
    if (IsSkipped()) return;
    if (bench() == nullptr || bench()->memory == nullptr) GTEST_SKIP() << entry().id << ": has no memory of its own";
  }

  static constexpr uint32_t kPdfs = 30;

  // Utterances with lattices of several lengths, which share no rows.
  static std::vector<Utterance> utterances(size_t n, uint32_t max_frames, std::mt19937 &random) {
    std::vector<Utterance> all;
    for (size_t i = 0; i < n; ++i) {
      const uint32_t n_frames = max_frames / 2 + random() % (max_frames / 2);
      all.push_back({recorded_rows(n_frames, kPdfs, random), n_frames, search_options(9, 300, 10), i % 2 == 0});
      all.back().options.lattice_beam = i % 8 == 7 ? 0.0f : 5.0f;
    }
    return all;
  }

  std::unique_ptr<Device> open_within(uint64_t budget, size_t n_lanes, uint32_t initial_capacity_shift = 0) const {
    asr_backend_options options = backend_options(static_cast<uint32_t>(n_lanes), kWindow, 2);
    options.most_memory_bytes = budget;
    options.initial_capacity_shift = initial_capacity_shift;
    return open(options);
  }

  // What came of the channels of a run: the outcome of each, none if it failed for lack of memory; and the most device memory
  // that was seen between two advances.
  struct Run {
    std::vector<std::optional<Outcome>> outcomes;
    uint64_t max_bytes = 0;
    size_t n_failed() const { return static_cast<size_t>(std::count(outcomes.begin(), outcomes.end(), std::nullopt)); }
  };

  uint64_t total_bytes(const Device &device) const {
    asr_backend_memory memory{};
    memory.size = sizeof(memory);
    device.check(bench()->memory(device.get(), &memory));
    return memory.total_bytes;
  }

  // Advances all utterances together, half of them a window ahead of the others. Each ends when its frames do, and its channel
  // with it, while the others go on.
  Run run(const Device &device, const asr_graph_view &view, const std::vector<Utterance> &all) const {
    Run run;
    run.outcomes.resize(all.size());
    const Loaded loaded(api(), device, view);
    std::vector<std::unique_ptr<Channel>> channels(all.size());
    std::vector<Outcome> got(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      channels[i] = std::make_unique<Channel>(api(), device, loaded, all[i].options);
    }
    for (uint32_t t = 0; std::any_of(channels.begin(), channels.end(), [](const auto &c) { return c != nullptr; });
         t += kWindow) {
      for (const size_t parity : {0, 1}) {
        std::vector<asr_advance_job> jobs;
        for (size_t i = parity; i < all.size(); i += 2) {
          if (channels[i] == nullptr || t >= all[i].n_frames) continue;
          const uint32_t n_frames = std::min(kWindow, all[i].n_frames - t);
          const uint32_t wants = t + n_frames < all[i].n_frames ? 0 : final_if(all[i].use_final);
          jobs.push_back({channels[i]->channel, all[i].rows.data() + size_t{t} * kPdfs, 0, 0, n_frames, wants});
        }
        if (!jobs.empty()) device.check(api().advance(device.get(), nullptr, jobs.data(), jobs.size()));
      }
      device.check(api().wait(device.get(), 0));
      run.max_bytes = std::max(run.max_bytes, total_bytes(device));
      end_those_done(device, all, t + kWindow, &channels, &got, &run);
    }
    return run;
  }

  // Takes the results of channels that failed, or whose frames end before `t`.
  void end_those_done(const Device &device, const std::vector<Utterance> &all, uint32_t t,
                      std::vector<std::unique_ptr<Channel>> *channels, std::vector<Outcome> *got, Run *run) const {
    for (size_t i = 0; i < all.size(); ++i) {
      std::unique_ptr<Channel> &channel = (*channels)[i];
      if (channel == nullptr) continue;
      const asr_status status = api().outcome(device.get(), channel->channel);
      EXPECT_TRUE(status == ASR_OK || status == ASR_OUT_OF_MEMORY) << api().last_error();
      if (status == ASR_OK && t < all[i].n_frames) continue;
      if (status == ASR_OK) {
        finish(device, *channel, all[i], &(*got)[i]);
        run->outcomes[i] = std::move((*got)[i]);
      }
      channel.reset();
    }
  }

  static void expect_same_runs(const Run &got, const Run &want) {
    for (size_t i = 0; i < want.outcomes.size() && !HasFailure(); ++i) {
      SCOPED_TRACE("channel " + std::to_string(i));
      if (got.outcomes[i]) expect_same(*got.outcomes[i], *want.outcomes[i]);
    }
  }

  // Budgets from the memory of a run without one down to what its largest channel takes alone, and for both kinds of
  // capacities.
  void expect_same_within_budgets(size_t n_channels, uint32_t max_frames, uint32_t initial_capacity_shift) {
    std::mt19937 random(91);
    RandomGraph graph({400, kPdfs, 6, 3.0, 0.5, 0.3, false}, random);
    const std::vector<Utterance> all = utterances(n_channels, max_frames, random);
    const Run want = run(*open_within(0, n_channels, initial_capacity_shift), graph.view(), all);
    ASSERT_EQ(want.n_failed(), 0u);
    uint64_t of_one = 0;
    for (const Utterance &u : all) {
      of_one = std::max(of_one, run(*open_within(0, n_channels, initial_capacity_shift), graph.view(), {u}).max_bytes);
      if (initial_capacity_shift == 0) break;  // all channels begin with the same, which is enough
    }
    const uint64_t least = of_one + all.size() * kWindow * kPdfs * sizeof(float);
    ASSERT_LT(least, want.max_bytes);
    for (const double share : {1.0, 0.5, 0.25, 0.1, 0.0}) {
      const auto budget = least + static_cast<uint64_t>(share * static_cast<double>(want.max_bytes - least));
      SCOPED_TRACE(testing::Message() << n_channels << " channels in " << budget << " bytes, without a budget "
                                      << want.max_bytes);
      const Run got = run(*open_within(budget, n_channels, initial_capacity_shift), graph.view(), all);
      EXPECT_LE(got.max_bytes, budget);
      EXPECT_EQ(got.n_failed(), 0u);
      expect_same_runs(got, want);
      if (HasFailure()) return;
    }
  }
};

TEST_P(MemoryBudgetTest, SixteenChannels) { expect_same_within_budgets(16, 300, 0); }
TEST_P(MemoryBudgetTest, SixteenChannelsWithSmallCapacities) { expect_same_within_budgets(16, 300, 20); }
TEST_P(MemoryBudgetTest, SixtyFourChannels) { expect_same_within_budgets(64, 150, 0); }
TEST_P(MemoryBudgetTest, SixtyFourChannelsWithSmallCapacities) { expect_same_within_budgets(64, 150, 20); }

// From what one channel needs down to nothing: each channel has its result, or fails for lack of memory. The device, or the
// graph, may not even load.
TEST_P(MemoryBudgetTest, TooLittleForOneChannel) {
  std::mt19937 random(92);
  RandomGraph graph({400, kPdfs, 6, 3.0, 0.5, 0.3, false}, random);
  const std::vector<Utterance> all = utterances(3, 200, random);
  const Run want = run(*open_within(0, 3, 20), graph.view(), all);
  size_t n_all = 0, n_some = 0, n_refused = 0;
  for (uint64_t budget = want.max_bytes; budget > 16; budget = budget / 8 * 7) {
    SCOPED_TRACE(testing::Message() << budget << " bytes, without a budget " << want.max_bytes);
    try {
      const Run got = run(*open_within(budget, 3, 20), graph.view(), all);
      EXPECT_LE(got.max_bytes, budget);
      ++(got.n_failed() == 0 ? n_all : n_some);
      expect_same_runs(got, want);
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ASR_OUT_OF_MEMORY) << error.what();
      ++n_refused;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(n_all, 0u);
  EXPECT_GT(n_refused, 0u);
}

// Whatever the channels and the budget: each channel has its result, or fails for lack of memory.
TEST_P(MemoryBudgetTest, RandomBudgets) {
  std::mt19937 random(95);
  size_t n_results = 0, n_without = 0;
  for (int i = 0; i < 12 && !HasFailure(); ++i) {
    const uint32_t initial_capacity_shift = random() % 2 == 0 ? 0 : 20;
    const size_t n_channels = 1 + random() % 12;
    RandomGraph graph({static_cast<uint32_t>(50 + random() % 300 * 2), kPdfs, 6, 3.0, 0.5, 0.3, false}, random);
    const std::vector<Utterance> all = utterances(n_channels, static_cast<uint32_t>(40 + random() % 160), random);
    const Run want = run(*open_within(0, n_channels, initial_capacity_shift), graph.view(), all);
    const double share = 1e-3 * static_cast<double>(random() % 1000);
    const auto budget = static_cast<uint64_t>(share * share * static_cast<double>(want.max_bytes));
    SCOPED_TRACE(testing::Message() << n_channels << " channels in " << budget << " bytes, without a budget "
                                    << want.max_bytes);
    try {
      const Run got = run(*open_within(budget, n_channels, initial_capacity_shift), graph.view(), all);
      EXPECT_LE(got.max_bytes, budget);
      n_results += n_channels - got.n_failed();
      n_without += got.n_failed();
      expect_same_runs(got, want);
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ASR_OUT_OF_MEMORY) << error.what();
      n_without += n_channels;
    }
  }
  EXPECT_GT(n_results, 0u);
  EXPECT_GT(n_without, 0u);
}

// A channel whose frames the device cannot hold fails; those beside it do not.
TEST_P(MemoryBudgetTest, OneChannelIsTooLarge) {
  std::mt19937 random(93);
  RandomGraph graph({6000, kPdfs, 6, 3.0, 0.7, 0.1, false}, random);
  std::vector<Utterance> all = utterances(6, 150, random);
  for (Utterance &u : all) u.options.max_active = 200;
  const Run small = run(*open_within(0, all.size(), 20), graph.view(), all);
  Utterance large = all[0];
  large.options = search_options(30, 1u << 20);
  large.options.lattice_beam = 30;
  all.push_back(large);
  const uint64_t budget = small.max_bytes * 2;
  ASSERT_GT(run(*open_within(0, 1, 20), graph.view(), {large}).max_bytes, 2 * budget);
  const Run got = run(*open_within(budget, all.size(), 20), graph.view(), all);
  EXPECT_LE(got.max_bytes, budget);
  EXPECT_EQ(got.n_failed(), 1u);
  EXPECT_FALSE(got.outcomes.back());
  for (size_t i = 0; i < small.outcomes.size() && !HasFailure(); ++i) {
    ASSERT_TRUE(got.outcomes[i]) << i;
    expect_same(*got.outcomes[i], *small.outcomes[i]);
  }
}

// Paths and lattices of all channels in one call, while few of them fit.
TEST_P(MemoryBudgetTest, ResultsOfManyTogether) {
  std::mt19937 random(94);
  RandomGraph graph({400, kPdfs, 6, 3.0, 0.5, 0.3, false}, random);
  constexpr size_t kChannels = 24;
  const std::vector<Utterance> all = utterances(kChannels, 100, random);
  const uint64_t of_all = run(*open_within(0, kChannels), graph.view(), all).max_bytes;
  const uint64_t of_one = run(*open_within(0, kChannels), graph.view(), {all[0]}).max_bytes;
  const auto device = open_within(of_one + (of_all - of_one) / 8, kChannels);
  const Loaded loaded(api(), *device, graph.view());
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<asr_backend_channel *> handles;
  std::vector<asr_advance_job> jobs;
  for (const Utterance &u : all) {
    asr_search_options options = u.options;
    options.lattice_beam = 5;
    channels.push_back(std::make_unique<Channel>(api(), *device, loaded, options));
    handles.push_back(channels.back()->channel);
    jobs.push_back({handles.back(), u.rows.data(), 0, 0, 40, 0});
  }
  device->check(api().advance(device->get(), nullptr, jobs.data(), jobs.size()));
  std::vector<asr_path> paths(kChannels);
  std::vector<asr_raw_lattice> lattices(kChannels);
  device->check(api().best_paths(device->get(), handles.data(), kChannels, ASR_WANTS_FINAL, paths.data()));
  device->check(api().lattices(device->get(), handles.data(), kChannels, ASR_WANTS_FINAL, lattices.data()));
  for (size_t i = 0; i < kChannels && !HasFailure(); ++i) {
    asr_search_options options = all[i].options;
    options.lattice_beam = 5;
    const reference::SearchResult want = reference::pruned_search(graph.view(), options, all[i].rows.data(), 40, true);
    EXPECT_EQ(paths[i].n_arcs, want.arcs.size());
    EXPECT_EQ(paths[i].n_tokens, want.n_tokens);
    EXPECT_NEAR(paths[i].total_cost, want.total_cost, 1e-9 * (1 + std::abs(want.total_cost)));
    expect_same(copy_of(lattices[i]), reference::lattice_pieces(graph.view(), options, all[i].rows.data(), 40, true).back());
  }
}

SENONE_INSTANTIATE(MemoryBudgetTest);

}  // namespace
}  // namespace asr::test
