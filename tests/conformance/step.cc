// SPDX-License-Identifier: Apache-2.0
// Tests the fused step against extract, the host's pipeline and score on the same device. Scores must be the same for any
// pieces of samples and any other jobs in a call. mfcc.cc, gmm.cc and tests/unit/feature compare the three separate functions
// with double references.
#include "tests/conformance/step_fixture.h"

namespace asr::test {
namespace {

class StepTest : public StepFixture {
 protected:
  // Makes signals of all relevant lengths, under each normalisation that the device does.
  static std::vector<Source> sources_of(const FrontEnd &f) {
    std::vector<Source> sources;
    const uint32_t shift = f.shift_samples, window = f.window_samples;
    for (const CmnKind cmn : {CmnKind::kNone, CmnKind::kLive}) {
      for (const uint32_t n : {0u, 1u, window, window + shift, window + 6 * shift, window + 90 * shift + 7}) {
        sources.push_back({random_signal(n, n + 3), cmn, n % 2, false});
      }
    }
    return sources;
  }

  void expect_as_on_the_host(const FrontEnd &f, double tolerance) { expect_host_scores(f, sources_of(f), 12, tolerance); }
};

// Shrinks a front end, so that windows are small and there are many frames.
FrontEnd small(FrontEnd f) {
  f.sample_rate_hz = 2000, f.high_hz = 900, f.low_hz = 50, f.vtln_low_hz = 0, f.vtln_high_hz = 0;
  f.window_samples = 50, f.shift_samples = 20, f.fft_samples = 64, f.n_mel = 14;
  f.cmn_lookahead_frames = 0;                         // devices use running means
  f.cmn_window_frames = 30, f.cmn_prior_frames = 10;  // so that live means are renewed
  return f;
}

TEST_P(StepTest, DifferencesOfSphinx) {
  for (const DynamicKind kind : {DynamicKind::kNone, DynamicKind::kSphinx_c_d_dd, DynamicKind::kSphinx_c_d,
                                 DynamicKind::kSphinx_c_d_ld_dd, DynamicKind::kSphinx_s2_4x, DynamicKind::kSphinx_s3_1x39}) {
    FrontEnd f = small(sphinx_front_end());
    f.dynamic = kind;
    expect_as_on_the_host(f, 0);
  }
}

TEST_P(StepTest, Regression) {
  for (const DynamicKind kind : {DynamicKind::kRegressionSquared, DynamicKind::kRegressionRepeated}) {
    for (const uint32_t order : {0u, 1u, 2u, 3u}) {
      FrontEnd f = small(htk_front_end());
      f.dynamic = kind;
      f.n_ceps = 3;
      f.delta_order = order, f.delta_window = order == 2 ? 2 : 3;
      f.drop_absolute_energy = order == 1;
      f.c0_last = order != 3;
      expect_as_on_the_host(f, 0);
    }
  }
}

TEST_P(StepTest, SpliceAndTransform) {
  for (const uint32_t offset : {0u, 1u}) {
    FrontEnd f = small(kaldi_front_end());
    f.dynamic = DynamicKind::kSplice;
    f.splice_left = 4, f.splice_right = 2 + offset;
    f.transform_rows = 11, f.transform_cols = f.n_dims() + offset;
    for (uint32_t i = 0; i < f.transform_rows * f.transform_cols; ++i) {
      f.transform.push_back(static_cast<float>(i * 7 % 23) / 40 - 0.25f);
    }
    expect_as_on_the_host(f, 0);
  }
}

TEST_P(StepTest, LiveNormalisationOfAllFrames) {
  FrontEnd f = small(sphinx_front_end());
  f.cmn_skip_negative_c0 = false, f.cmn_prior.clear();
  expect_as_on_the_host(f, 0);
}

// exp and log may differ from the host's in the last place.
TEST_P(StepTest, NoiseRemoval) {
  FrontEnd f = small(sphinx_front_end());
  f.noise_removal = true;
  expect_as_on_the_host(f, 1e-3);
}

// The dither noise depends on the frame's number.
TEST_P(StepTest, Dither) {
  FrontEnd f = small(kaldi_front_end());
  f.dither = 3;
  expect_as_on_the_host(f, 0);
}

TEST_P(StepTest, LinearPrediction) {
  require(ASR_BACKEND_PLP, "it computes MFCC only");
  FrontEnd f = small(htk_plp_front_end());
  f.use_energy = f.energy_beside_c0 = true, f.lpc_order = 9, f.n_ceps = 10;
  expect_as_on_the_host(f, 0);
}

TEST_P(StepTest, UsualFrontEnd) {
  FrontEnd f = en_us_front_end();
  f.cmn_lookahead_frames = 0;
  expect_as_on_the_host(f, 0);
}

// Streams with rows from the host are scored in the same calls.
TEST_P(StepTest, RowsOfTheHostBetweenSignals) {
  const World world(*this, small(sphinx_front_end()), 24);
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  std::vector<Source> sources;
  for (uint32_t i = 0; i < 24; ++i) {
    const bool on_host = i % 3 == 0 || i % 8 == 1;
    sources.push_back({random_signal(50 + 97 * i, i), on_host && i % 2 == 0 ? CmnKind::kBatch : CmnKind::kLive, 0, on_host});
  }
  const auto got = step_scores(world, sources, 5);
  for (size_t i = 0; i < sources.size(); ++i) EXPECT_EQ(got[i], host_scores(world, sources[i])) << i;
}

// The graph has a quarter of the model's states, for which alone a back end may score.
TEST_P(StepTest, FewStatesOfTheModel) {
  const FrontEnd f = small(sphinx_front_end());
  const World world(*this, f, 12, 4 * kPdfs);
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  const std::vector<Source> sources = sources_of(f);
  for (const uint32_t seed : {1u, 2u}) {  // the first steps of the first run come before the graph is known
    const auto got = step_scores(world, sources, seed);
    for (size_t i = 0; i < sources.size(); ++i) EXPECT_EQ(got[i], host_scores_of_all_states(world, sources[i])) << i;
  }
}

// More signals than allocated memory, while some are running; then others in the memory of those that ended.
TEST_P(StepTest, MemoryOfSignals) {
  const World world(*this, small(htk_front_end()), 100);
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  const Source source{random_signal(1500, 8), CmnKind::kLive, 0, false};
  const std::vector<float> want = host_scores(world, source);
  std::mt19937 random(1);
  std::vector<float> given;
  Stream early(world, source);
  const asr_step_job first = early.next(random, &given);
  world.device->check(world.signals->step(world.device->get(), world.features, world.acoustic, &first, 1, 0));
  const asr_advance_job advance{early.channel(), nullptr, 0, 0, first.n_rows, 0};
  world.device->check(world.api.advance(world.device->get(), world.acoustic, &advance, 1));
  for (uint32_t seed = 0; seed < 2; ++seed) {
    for (const auto &scores : step_scores(world, std::vector<Source>(100, source), seed)) ASSERT_EQ(scores, want);
  }
  while (!early.done()) {
    const asr_step_job job = early.next(random, &given);
    world.device->check(world.signals->step(world.device->get(), world.features, world.acoustic, &job, 1, 0));
    const asr_advance_job rest{early.channel(), nullptr, 0, 0, job.n_rows, 0};
    world.device->check(world.api.advance(world.device->get(), world.acoustic, &rest, 1));
  }
  EXPECT_EQ(scores_of(world, early.channel()), want);
}

TEST_P(StepTest, MisuseIsRefused) {
  const World world(*this, small(sphinx_front_end()), 2);  // looks 3 frames ahead
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  asr_signal_options options{sizeof(options), 7, 0, 0, 0};
  asr_backend_signal *signal = nullptr;
  EXPECT_EQ(signals()->signal_begin(world.device->get(), world.features, &options, &signal), ASR_INVALID_ARGUMENT);
  EXPECT_STRNE(api().last_error(), "");
  options.warp = 0;
  check(signals()->signal_begin(world.device->get(), world.features, &options, &signal));
  const std::vector<float> samples(5000, 1.0f);
  const auto step = [&](uint32_t n_frames, uint32_t ends, uint32_t first_row, uint32_t n_rows, uint32_t buffer = 0) {
    const asr_step_job job{signal, samples.data() + 1, n_frames, ends, nullptr, first_row, n_rows};
    return signals()->step(world.device->get(), world.features, world.acoustic, &job, 1, buffer);
  };
  EXPECT_EQ(step(0, 0, 0, 1), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(step(10, 0, 0, 8), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(step(10, 1, 0, 11), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(step(10, 0, 1, 7), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(step(10, 0, 0, 7, 2), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(step(2 * kWindow + 4, 0, 0, 7), ASR_INVALID_ARGUMENT);
  EXPECT_STRNE(api().last_error(), "");
  EXPECT_EQ(step(2 * kWindow + 3, 0, 0, 2 * kWindow), ASR_OK);
  EXPECT_EQ(step(2, 1, 0, 5), ASR_OK);
  EXPECT_EQ(step(1, 0, 0, 0), ASR_INVALID_STATE);
  check(api().wait(world.device->get(), 0));
  signals()->signal_end(signal);
  EXPECT_EQ(signals()->step(world.device->get(), world.features, world.acoustic, nullptr, 0, 0), ASR_OK);
}

TEST_P(StepTest, BadTablesAreRefused) {
  FrontEnd f = small(htk_front_end());
  const FeatureTables tables(f, {1});
  const auto device = open();
  const auto load = [&](auto &&change) {
    asr_dynamics_view dynamics = *tables.view()->dynamics;
    std::vector<asr_dynamic_tap> taps(dynamics.taps, dynamics.taps + dynamics.tap_begin[dynamics.n_values]);
    change(&dynamics, &taps);
    dynamics.taps = taps.data();
    asr_features_view view = *tables.view();
    view.dynamics = &dynamics;
    asr_backend_features *features = nullptr;
    const asr_status status = api().load_features(device->get(), &view, &features);
    api().free_features(features);
    return status;
  };
  using Taps = std::vector<asr_dynamic_tap>;
  const auto nothing = [](asr_dynamics_view *, Taps *) {};
  if (const World world(*this, f, 1); !world.makes_signals()) GTEST_SKIP() << entry().id << ": does not look at them";
  EXPECT_EQ(load(nothing), ASR_OK);
  EXPECT_EQ(load([](asr_dynamics_view *, Taps *taps) { taps->back().column += 13; }), ASR_INVALID_ARGUMENT);
  EXPECT_STRNE(api().last_error(), "");
  EXPECT_EQ(load([](asr_dynamics_view *, Taps *taps) { taps->back().offset = 1; }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(load([](asr_dynamics_view *d, Taps *) { d->n_levels = 2; }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(load([](asr_dynamics_view *d, Taps *) { d->n_ceps = 12; }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(load([](asr_dynamics_view *d, Taps *) { d->n_dims = 40; }), ASR_INVALID_ARGUMENT);
}

// Views of hosts that do not know dynamics.
TEST_P(StepTest, FeaturesWithoutDynamics) {
  const FeatureTables tables(small(htk_front_end()), {1});
  const auto device = open();
  asr_features_view view = *tables.view();
  for (const size_t size : {sizeof view, offsetof(asr_features_view, dynamics)}) {
    if (view.size = size; size == sizeof view) view.dynamics = nullptr;
    asr_backend_features *features = nullptr;
    check(api().load_features(device->get(), &view, &features));
    uint32_t makes_rows = 1;
    check(signals()->prepare(device->get(), features, &makes_rows));
    EXPECT_EQ(makes_rows, 0u);
    api().free_features(features);
    view.dynamics = reinterpret_cast<const asr_dynamics_view *>(&view);  // must not be read
  }
}

SENONE_INSTANTIATE(StepTest);

}  // namespace
}  // namespace asr::test
