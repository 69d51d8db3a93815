// SPDX-License-Identifier: Apache-2.0
// Tests channels that begin and end at different times, with windows of different lengths, in any order and not in every call.
// They wait or do not, and some are cancelled midway, beside each other and one after the other. Each channel must give the
// references' result for its utterance.
#include <cmath>
#include <optional>

#include "tests/conformance/load_fixture.h"

namespace asr::test {
namespace {

class ComingAndGoingTest : public LoadFixture {
 protected:
  struct Spoken {
    Utterance utterance;
    Outcome want;
  };

  // Utterances of all lengths and lattice beams; one loses all its tokens.
  static const std::vector<Spoken> &spoken(const asr_graph_view &view, std::mt19937 &random) {
    static std::vector<Spoken> all;  // shared by all devices
    const float lattice_beams[] = {6.0f, 0.0f, 12.0f, 0.5f};
    const uint32_t lengths[] = {1, 30, 75, 140, 260, 530, 800};
    for (size_t i = all.size(); i < std::size(lengths); ++i) {
      Utterance u{recorded_rows(lengths[i], kPdfs, random), lengths[i],
                  search_options(9, 40 + 100 * static_cast<uint32_t>(i % 3), 10), i % 2 == 0};
      u.options.lattice_beam = lattice_beams[i % std::size(lattice_beams)];
      if (i == 3) std::fill_n(u.rows.data() + size_t{90} * kPdfs, kPdfs, -HUGE_VALF);
      all.push_back({u, reference_outcome(view, u)});
    }
    return all;
  }

  // A channel within an utterance.
  struct Visit {
    const Spoken &spoken;
    Channel channel;
    uint32_t n_done = 0, cancelled_at;  // frames
    Outcome got{};

    Visit(const Device &device, const Loaded &loaded, const Spoken &spoken, uint32_t cancelled_at)
        : spoken(spoken), channel(*device.api(), device, loaded, spoken.utterance.options), cancelled_at(cancelled_at) {}
    uint32_t n_left() const { return spoken.utterance.n_frames - n_done; }
  };

  // Runs n visits at a time, 2 * n in total.
  static void visit_all(const Device &device, const asr_graph_view &view, const std::vector<Spoken> &spoken, size_t n) {
    std::mt19937 random(static_cast<uint32_t>(n));
    const Loaded loaded(*device.api(), device, view);
    std::vector<std::optional<Visit>> seats(n);
    size_t n_begun = 0, n_ended = 0, n_compared = 0;
    for (uint32_t round = 0; n_ended < 2 * n && !HasFailure(); ++round) {
      std::vector<asr_advance_job> jobs;
      for (size_t seat = 0; seat < n; ++seat) {
        std::optional<Visit> &visit = seats[seat];
        if (!visit && n_begun < 2 * n && round >= seat % 5) {
          const Spoken &one = spoken[(n_begun + random() % 3) % spoken.size()];
          const bool is_cancelled = random() % 6 == 0;
          visit.emplace(device, loaded, one, is_cancelled ? random() % (one.utterance.n_frames + 1) : UINT32_MAX);
          ++n_begun;
        }
        if (!visit || visit->n_left() == 0 || random() % 6 == 0) continue;
        const uint32_t n_frames = std::min<uint32_t>(visit->n_left(), 1 + random() % kWindow);
        const float *const rows = visit->spoken.utterance.rows.data() + size_t{visit->n_done} * kPdfs;
        jobs.push_back({visit->channel.channel, rows, 0, 0, n_frames, 0});
        visit->n_done += n_frames;
      }
      std::shuffle(jobs.begin(), jobs.end(), random);
      if (!jobs.empty()) device.check(device.api()->advance(device.get(), nullptr, jobs.data(), jobs.size()));
      if (random() % 2 == 0) device.check(device.api()->wait(device.get(), 0));
      for (std::optional<Visit> &visit : seats) {
        if (!visit) continue;
        const Utterance &u = visit->spoken.utterance;
        const bool is_cancelled = visit->n_done >= visit->cancelled_at;
        if (!is_cancelled && u.options.lattice_beam > 0 && random() % 4 == 0) {
          take_pieces(device, visit->channel, &visit->got);
        }
        if (!is_cancelled && visit->n_left() > 0) continue;
        if (!is_cancelled) {
          finish(device, visit->channel, u, &visit->got);
          SCOPED_TRACE(std::to_string(u.n_frames) + " frames");
          expect_same(visit->got, visit->spoken.want);
          ++n_compared;
        }
        visit.reset();
        ++n_ended;
      }
    }
    EXPECT_GT(n_compared, n / 2);
    device.check(device.api()->wait(device.get(), 0));
  }

  void visit_all(const std::vector<size_t> &numbers, uint32_t initial_capacity_shift, const std::vector<uint32_t> &sizes) {
    std::mt19937 random(81);
    RandomGraph graph({400, kPdfs, 6, 3.0, 0.5, 0.3, false}, random);
    const std::vector<Spoken> &all = spoken(graph.view(), random);
    for (const size_t n : numbers) {
      for (const uint32_t size : cluster_sizes(sizes)) {
        if (HasFailure()) return;
        SCOPED_TRACE(std::to_string(n) + " channels, blocks of a cluster " + std::to_string(size));
        visit_all(*open_with(initial_capacity_shift, size, static_cast<uint32_t>(n)), graph.view(), all, n);
      }
    }
  }

  static constexpr uint32_t kPdfs = 30;
};

TEST_P(ComingAndGoingTest, FewChannels) { visit_all({1, 2, 7, 14}, 0, {0, 1, 2, 4, 9, 16}); }

TEST_P(ComingAndGoingTest, FewChannelsWithSmallCapacities) { visit_all({1, 7, 14}, 8, {0, 1, 2, 4, 9, 16}); }

TEST_P(ComingAndGoingTest, ManyChannelsWithSmallCapacities) { visit_all({40, 600}, 8, {0, 2}); }

// Channels that need gigabytes of memory together.
TEST_P(ComingAndGoingTest, ManyChannels) {
  if (entry().info.score < 100) GTEST_SKIP() << entry().id << ": is no GPU of this back end's vendor";
  visit_all({40, 130, 600}, 0, {0, 2});
}

SENONE_INSTANTIATE(ComingAndGoingTest);

}  // namespace
}  // namespace asr::test
