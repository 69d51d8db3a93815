// SPDX-License-Identifier: Apache-2.0
// Tests ASR_MAY_LEAVE: frames that an advance leaves come first in the channel's next, and nothing else changes. Which frames
// are left depends on the device's timing, so advances of very different lengths run beside each other.
#include "tests/conformance/load_fixture.h"

namespace asr::test {
namespace {

class LeftFramesTest : public LoadFixture {
 protected:
  static constexpr uint32_t kPdfs = 24, kUtterances = 12;

  void SetUp() override {
    LoadFixture::SetUp();
    require(ASR_BACKEND_LEAVES, "leaves no frames");
  }

  struct Decoding {
    Utterance utterance;
    std::unique_ptr<Channel> channel;
    Outcome outcome;
    uint32_t n_given = 0, n_left = 0;
    bool is_done = false;
  };

  static Decoding begin(const Device &device, const Loaded &loaded, std::mt19937 &random) {
    const uint32_t n_frames = 1 + random() % 400;
    Decoding decoding{{recorded_rows(n_frames, kPdfs, random), n_frames, search_options(9, 150, 10), random() % 2 == 0}, {}, {}};
    decoding.utterance.options.lattice_beam = random() % 2 == 0 ? 6.0f : 0.0f;
    decoding.channel = std::make_unique<Channel>(*device.api(), device, loaded, decoding.utterance.options);
    return decoding;
  }

  // The channel's next job, of a whole window or of a few frames; its last one may want a result.
  static asr_advance_job next_job(Decoding *d, std::mt19937 &random) {
    const uint32_t n_room = kWindow - d->n_left, n_rest = d->utterance.n_frames - d->n_given;
    const uint32_t n = std::min(n_rest, random() % 2 == 0 ? n_room : std::min(n_room, 1 + static_cast<uint32_t>(random() % 3)));
    const float *const rows = d->utterance.rows.data() + size_t{d->n_given} * kPdfs;
    d->n_given += n;
    d->is_done = n == n_rest && random() % 2 == 0;
    const uint32_t result = d->utterance.options.lattice_beam > 0 ? ASR_WANTS_LATTICE : ASR_WANTS_PATH;
    const uint32_t wants = d->is_done ? result | final_if(d->utterance.use_final) : uint32_t{ASR_MAY_LEAVE};
    return {d->channel->channel, rows, 0, 0, n, wants};
  }

  static void advance_all(const Device &device, std::vector<Decoding> *decodings, std::mt19937 &random) {
    std::vector<asr_advance_job> jobs;
    std::vector<Decoding *> advanced;
    for (Decoding &d : *decodings) {
      if (d.is_done) continue;
      jobs.push_back(next_job(&d, random));
      advanced.push_back(&d);
    }
    device.check(device.api()->advance(device.get(), nullptr, jobs.data(), jobs.size()));
    device.check(device.api()->wait(device.get(), 0));
    for (size_t i = 0; i < advanced.size(); ++i) {
      Decoding &d = *advanced[i];
      const uint32_t n_before = d.n_left;
      d.n_left = device.api()->left(device.get(), d.channel->channel);
      EXPECT_LE(d.n_left, n_before + jobs[i].n_frames);
      EXPECT_TRUE(d.n_left == 0 || jobs[i].wants == ASR_MAY_LEAVE);
      if (d.utterance.options.lattice_beam > 0 && random() % 2 == 0) take_pieces(device, *d.channel, &d.outcome);
    }
  }
};

TEST_P(LeftFramesTest, ComeFirstInTheNextAdvance) {
  std::mt19937 random(71);
  RandomGraph graph({300, kPdfs, 6, 3.0, 0.5, 0.3, false}, random);
  for (const uint32_t initial_capacity_shift : {0, 10}) {
    for (const uint32_t size : cluster_sizes({0, 1, 2, 16})) {
      SCOPED_TRACE("small capacities " + std::to_string(initial_capacity_shift) + ", blocks of a cluster " + std::to_string(size));
      const auto device = open_with(initial_capacity_shift, size, kUtterances);
      const Loaded loaded(api(), *device, graph.view());
      std::vector<Decoding> decodings;
      for (uint32_t i = 0; i < kUtterances; ++i) decodings.push_back(begin(*device, loaded, random));
      const auto is_done = [](const Decoding &d) { return d.is_done; };
      while (!std::all_of(decodings.begin(), decodings.end(), is_done)) advance_all(*device, &decodings, random);
      for (Decoding &d : decodings) {
        finish(*device, *d.channel, d.utterance, &d.outcome);
        expect_same(d.outcome, reference_outcome(graph.view(), d.utterance));
        if (HasFailure()) return;
      }
    }
  }
}

// An advance of more frames than a window, which the device could not keep, leaves none.
TEST_P(LeftFramesTest, AreAtMostAWindow) {
  std::mt19937 random(72);
  RandomGraph graph({300, kPdfs, 6, 3.0, 0.5, 0.3, false}, random);
  const auto device = open_with(0, 0, 2);
  const Loaded loaded(api(), *device, graph.view());
  Decoding one = begin(*device, loaded, random), other = begin(*device, loaded, random);
  while (one.utterance.n_frames < 2 * kWindow) one = begin(*device, loaded, random);
  const asr_advance_job jobs[] = {{one.channel->channel, one.utterance.rows.data(), 0, 0, kWindow, ASR_MAY_LEAVE},
                                  {other.channel->channel, other.utterance.rows.data(), 0, 0, 1, ASR_MAY_LEAVE}};
  device->check(api().advance(device->get(), nullptr, jobs, 2));
  device->check(api().wait(device->get(), 0));
  const uint32_t n_left = api().left(device->get(), one.channel->channel);
  const asr_advance_job next[] = {
      {one.channel->channel, one.utterance.rows.data() + size_t{kWindow} * kPdfs, 0, 0, kWindow, ASR_MAY_LEAVE}};
  device->check(api().advance(device->get(), nullptr, next, 1));
  device->check(api().wait(device->get(), 0));
  const uint32_t n_left_next = api().left(device->get(), one.channel->channel);
  EXPECT_TRUE(n_left == 0 || n_left_next == 0);
  EXPECT_EQ(path_of(*device, one.channel->channel, 0).n_frames, 2 * kWindow - n_left_next);
}

SENONE_INSTANTIATE(LeftFramesTest);

}  // namespace
}  // namespace asr::test
