// SPDX-License-Identifier: Apache-2.0
// Tests signals that the fused step normalises by the mean, and perhaps the deviation, of all their frames. The
// references are the host's pipeline and score on the same device. Scores and rows must have the same bits. One case
// compares rows with the reference in double.
#include "tests/conformance/step_fixture.h"

namespace asr::test {
namespace {

class StepWholeTest : public StepFixture {
 protected:
  void SetUp() override {
    StepFixture::SetUp();
    if (!IsSkipped() && most_whole_frames() == 0) GTEST_SKIP() << entry().id << ": normalises no whole signals";
  }

  // Returns signals of all relevant lengths, between others that are normalised live, not at all, or by the host.
  static std::vector<Source> sources_of(const FrontEnd &f) {
    std::vector<Source> sources;
    const uint32_t shift = f.shift_samples, window = f.window_samples;
    for (const uint32_t n :
         {0u, 1u, window, window + shift, window + 6 * shift, window + 90 * shift + 7, window + 300 * shift}) {
      sources.push_back({random_signal(n, n + 3), CmnKind::kBatch, n % 2, false});
      if (!f.cmn_variance) sources.push_back({random_signal(n, n + 4), CmnKind::kLive, 0, false});
      sources.push_back({random_signal(n, n + 5), CmnKind::kNone, 0, false});
      sources.push_back({random_signal(n, n + 6), CmnKind::kBatch, 0, true});
    }
    return sources;
  }

  void expect_as_on_the_host(const FrontEnd &f, double tolerance) { expect_host_scores(f, sources_of(f), 32, tolerance); }
};

TEST_P(StepWholeTest, Means) {
  for (const bool skips : {false, true}) {
    FrontEnd f = small_front_end();
    f.cmn_skip_negative_c0 = skips;
    expect_as_on_the_host(f, 0);
  }
}

TEST_P(StepWholeTest, Deviations) {
  FrontEnd f = small_front_end();
  f.cmn = CmnKind::kBatch, f.cmn_variance = true;
  expect_as_on_the_host(f, 0);
}

// Levels above the cepstra are made once these are normalised.
TEST_P(StepWholeTest, RepeatedRegression) {
  FrontEnd f = small_front_end();
  f.dynamic = DynamicKind::kRegressionRepeated;
  f.n_ceps = 3, f.delta_order = 2, f.delta_window = 2;
  f.cmn_prior.resize(f.n_ceps);
  expect_as_on_the_host(f, 0);
}

TEST_P(StepWholeTest, SpliceAndTransform) {
  FrontEnd f = small_front_end();
  f.dynamic = DynamicKind::kSplice;
  f.splice_left = 4, f.splice_right = 3;
  f.transform_rows = 11, f.transform_cols = f.n_dims() + 1;
  for (uint32_t i = 0; i < f.transform_rows * f.transform_cols; ++i) {
    f.transform.push_back(static_cast<float>(i * 7 % 23) / 40 - 0.25f);
  }
  expect_as_on_the_host(f, 0);
}

// exp and log may differ from the host's in the last place.
TEST_P(StepWholeTest, NoiseRemoval) {
  FrontEnd f = small_front_end();
  f.noise_removal = true;
  expect_as_on_the_host(f, 1e-3);
}

// Signals with transforms of their own, also in the memory of signals that have ended.
TEST_P(StepWholeTest, Transforms) {
  const FrontEnd f = small_front_end();
  const World world(*this, f, 40);
  if (!world.makes_signals() || !transforms_signals()) GTEST_SKIP() << entry().id << ": transforms no such rows";
  std::vector<Source> sources;
  std::mt19937 random(3);
  std::uniform_real_distribution<float> value(-0.1f, 0.1f);
  for (uint32_t i = 0; i < 40; ++i) {
    std::vector<float> transform(f.n_dims() * (f.n_dims() + 1));
    for (float &x : transform) x = value(random);
    sources.push_back({random_signal(400 + 30 * i, i), i % 4 == 3 ? CmnKind::kLive : CmnKind::kBatch, 0, false});
    sources.back().changes = {{0, transform}};
    sources.back().returns_rows = i % 2 == 0;
  }
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const Streams streams = streams_of(world, sources);
    run(world, streams, seed);
    size_t n_returned = 0;
    for (size_t i = 0; i < sources.size(); ++i) {
      EXPECT_EQ(scores_of(world, streams[i]->channel()), host_scores(world, sources[i])) << i;
      const std::vector<float> want = rows_of(world, sources[i]);
      for (const Returned &part : streams[i]->returned()) {
        const size_t first = part.first_row * f.n_dims();
        for (size_t k = 0; k < part.rows.size(); ++k, ++n_returned) ASSERT_EQ(part.rows[k], want.at(first + k)) << i;
      }
    }
    EXPECT_GT(n_returned, 1000u);
  }
}

TEST_P(StepWholeTest, RowsOfTheReference) {
  FrontEnd f = small_front_end();
  f.cmn = CmnKind::kBatch, f.cmn_variance = true;
  const World world(*this, f, 2);
  if (!world.makes_signals() || !transforms_signals()) GTEST_SKIP() << entry().id << ": returns no rows of such features";
  std::vector<Source> sources = {{random_signal(3000, 4), CmnKind::kBatch, 0, false}};
  sources[0].returns_rows = true;
  const Streams streams = streams_of(world, sources);
  run(world, streams, 4);
  const reference::Rows cepstra = reference::mfcc(f, to_double(sources[0].samples));
  const reference::Rows want = reference::dynamic(f, reference::batch_normalised(f, cepstra));
  size_t n_compared = 0;
  for (const Returned &part : streams[0]->returned()) {
    for (size_t k = 0; k < part.rows.size(); ++k, ++n_compared) {
      const size_t row = part.first_row + k / f.n_dims();
      EXPECT_NEAR(part.rows[k], want.at(row)[k % f.n_dims()], 2e-3) << "row " << row;
    }
  }
  EXPECT_GT(n_compared, 1000u);
}

TEST_P(StepWholeTest, MisuseIsRefused) {
  const World world(*this, small_front_end(), 2);
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  const asr_signal_options options{sizeof(options), 0, 0, 1, 0};
  asr_backend_signal *signal = nullptr;
  check(signals()->signal_begin(world.device->get(), world.features, &options, &signal));
  const std::vector<float> samples(size_t{20} * 1000 + 100, 1.0f);
  uint32_t n_frames = 0;
  const auto step = [&](uint32_t n, uint32_t ends, uint32_t n_rows) {
    const asr_step_job job{signal, samples.data() + 1, n, ends, nullptr, 0, n_rows};
    const asr_status status = signals()->step(world.device->get(), world.features, world.acoustic, &job, 1, 0);
    if (status == ASR_OK) n_frames += n;
    return status;
  };
  EXPECT_EQ(step(100, 0, 1), ASR_INVALID_ARGUMENT);  // no row before the end
  EXPECT_STRNE(api().last_error(), "");
  while (n_frames < most_whole_frames()) ASSERT_EQ(step(std::min(1000u, most_whole_frames() - n_frames), 0, 0), ASR_OK);
  EXPECT_EQ(step(1, 0, 0), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(step(0, 1, 2 * kWindow), ASR_OK);
  check(api().wait(world.device->get(), 0));
  signals()->signal_end(signal);
}

// The device's memory may be exhausted. Then a signal that ends makes some.
TEST_P(StepWholeTest, ManySignals) {
  const World world(*this, small_front_end(), 2);
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  const asr_signal_options options{sizeof(options), 0, 0, 1, 0};
  std::vector<asr_backend_signal *> begun;
  asr_status status = ASR_OK;
  while (status == ASR_OK && begun.size() < 2000) {
    asr_backend_signal *signal = nullptr;
    status = signals()->signal_begin(world.device->get(), world.features, &options, &signal);
    if (status == ASR_OK) begun.push_back(signal);
  }
  ASSERT_GE(begun.size(), 8u);
  if (status != ASR_OK) {
    EXPECT_EQ(status, ASR_OUT_OF_MEMORY) << api().last_error();
    signals()->signal_end(begun.back());
    begun.pop_back();
  }
  const Source source{random_signal(1500, 8), CmnKind::kBatch, 0, false};
  for (const auto &scores : step_scores(world, {source}, 1)) EXPECT_EQ(scores, host_scores(world, source));
  for (asr_backend_signal *signal : begun) signals()->signal_end(signal);
}

SENONE_INSTANTIATE(StepWholeTest);

}  // namespace
}  // namespace asr::test
