// SPDX-License-Identifier: Apache-2.0
// Compares likelihoods of an utterance under warps (A2 of docs/equations.md) with features and scores by the plain references.
#include "core/engine/warp_scorer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <random>

#include "core/backend/asr_backend_forced.h"
#include "core/session/results.h"
#include "reference/gmm.h"
#include "reference/mfcc.h"
#include "reference/random_gmm.h"

namespace asr {
namespace {

constexpr double kUnits = 65536;

// Makes a rising tone in noise.
std::vector<float> sound(size_t n_samples) {
  std::mt19937 random(3);
  std::normal_distribution<float> noise(0, 200);
  std::vector<float> samples;
  for (size_t i = 0; i < n_samples; ++i) {
    const auto t = static_cast<float>(i);
    samples.push_back(3000 * std::sin(t * (0.1f + t * 2e-6f)) + noise(random));
  }
  return samples;
}

struct Utterance {
  std::vector<float> samples;
  std::vector<uint32_t> states;
};

// Makes an utterance in which every third frame is silence.
Utterance utterance(const FrontEnd &front_end, const AcousticModel &model, size_t n_frames) {
  Utterance result{sound(n_frames * front_end.shift_samples), {}};
  for (size_t i = 0; i < n_frames; ++i) {
    result.states.push_back(i % 3 == 2 ? kNoState : static_cast<uint32_t>(7 * i) % model.n_states);
  }
  return result;
}

AcousticModel model_for(const FrontEnd &front_end, asr_covariance covariance = ASR_COVARIANCE_DIAGONAL) {
  reference::RandomGmm options;
  options.covariance = covariance;
  options.stream_dims = {front_end.n_dims() - 4, 4};
  options.scale = 5;
  return reference::random_gmm(options);
}

double reference_score(const FrontEnd &front_end, const AcousticModel &model, const Utterance &said, double warp) {
  reference::Rows cepstra = reference::mfcc(front_end, {said.samples.begin(), said.samples.end()}, warp);
  cepstra.resize(std::min(cepstra.size(), said.states.size()));
  const reference::Rows rows = reference::dynamic(front_end, reference::batch_normalised(front_end, cepstra));
  const AcousticView view(model);
  double sum = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (said.states[i] == kNoState) continue;
    const std::vector<float> row(rows[i].begin(), rows[i].end());
    sum += reference::log_likelihood(*view.get(), said.states[i], row.data());
  }
  return sum;
}

TEST(WarpScorer, AgreesWithTheReference) {
  for (const int i : {0, 1, 2, 3}) {
    FrontEnd front_end = i % 2 == 0 ? sphinx_front_end() : kaldi_front_end();
    front_end.cmn = CmnKind::kBatch;
    front_end.dynamic = DynamicKind::kSphinx_c_d_dd;
    const AcousticModel model = model_for(front_end, i / 2 == 0 ? ASR_COVARIANCE_DIAGONAL : ASR_COVARIANCE_FULL);
    const Utterance said = utterance(front_end, model, 60);
    const WarpScorer scorer(front_end, model, choose_device("cpu"), {});
    std::vector<int64_t> sums(WarpScorer::kWarps);
    const size_t n_scored = scorer.score(said.samples, said.states, true, 5, {}, &sums);
    EXPECT_TRUE(n_scored == 39 || n_scored == 40) << n_scored;  // Kaldi's last windows reach over the end
    for (size_t w = 0; w < sums.size(); ++w) {
      if (w % 5 != 0) {
        EXPECT_EQ(sums[w], 0) << w;
        continue;
      }
      const double expected = reference_score(front_end, model, said, WarpScorer::warp(w));
      EXPECT_NEAR(static_cast<double>(sums[w]) / kUnits, expected, 1e-4 * std::abs(expected)) << w;
    }
  }
}

// Sums are independent of earlier utterances and of the order.
TEST(WarpScorer, SumsDoNotDependOnTheOrder) {
  FrontEnd front_end = sphinx_front_end();
  front_end.cmn = CmnKind::kBatch;
  const AcousticModel model = model_for(front_end);
  const WarpScorer scorer(front_end, model, choose_device("cpu"), {});
  std::vector<std::vector<int64_t>> sums(2, std::vector<int64_t>(WarpScorer::kWarps));
  for (const size_t n_frames : {20, 33, 7}) {
    const Utterance said = utterance(front_end, model, n_frames);
    scorer.score(said.samples, said.states, true, 1, {}, &sums[0]);
  }
  for (const size_t n_frames : {7, 20, 33}) {
    const Utterance said = utterance(front_end, model, n_frames);
    scorer.score(said.samples, said.states, true, 1, {}, &sums[1]);
  }
  EXPECT_EQ(sums[0], sums[1]);
}

// Fewer samples than the states need, none at all, and values that no microphone gives.
TEST(WarpScorer, OddInput) {
  FrontEnd front_end = sphinx_front_end();
  front_end.cmn = CmnKind::kBatch;
  const AcousticModel model = model_for(front_end);
  const WarpScorer scorer(front_end, model, choose_device("cpu"), {});
  std::vector<int64_t> sums(WarpScorer::kWarps);
  const Utterance said = utterance(front_end, model, 30);
  const std::vector<float> half(said.samples.begin(), said.samples.begin() + ptrdiff_t{15} * front_end.shift_samples);
  EXPECT_LE(scorer.score(half, said.states, true, 1, {}, &sums), 20u);
  EXPECT_EQ(scorer.score({}, said.states, true, 1, {}, &sums), 0u);
  EXPECT_EQ(scorer.score(said.samples, {}, true, 1, {}, &sums), 0u);
  EXPECT_EQ(scorer.score(said.samples, std::vector<uint32_t>(30, kNoState), true, 1, {}, &sums), 0u);
  const std::vector<float> loud(said.samples.size(), 1e30f);
  scorer.score(loud, said.states, true, 1, {}, &sums);
  const std::atomic<bool> stopped{true};
  try {
    scorer.score(said.samples, said.states, true, 1, StopToken(&stopped), &sums);
    FAIL() << "was not stopped";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ASR_CANCELLED);
  }
}

// A back end like the CPU's, whose scores of forced states fail with a status, or which has none of them.
asr_status g_status = ASR_OK;
int g_n_calls = 0;

DeviceEntry failing_device(bool has_extension) {
  static const DeviceEntry cpu = choose_device("cpu");
  static asr_backend_forced_api forced = *extension_of<asr_backend_forced_api>(*cpu.api, ASR_BACKEND_FORCED);
  static asr_backend_api with = *cpu.api, without = *cpu.api;
  forced.score = [](asr_backend_device *, asr_backend_forced *, const float *, const uint32_t *, size_t, float *) {
    ++g_n_calls;
    return g_status;
  };
  with.extension = [](const char *name) {
    return strcmp(name, ASR_BACKEND_FORCED) == 0 ? static_cast<const void *>(&forced) : nullptr;
  };
  without.extension = [](const char *) { return static_cast<const void *>(nullptr); };
  DeviceEntry entry = cpu;
  entry.id = "failing:0";
  entry.api = has_extension ? &with : &without;
  return entry;
}

std::vector<int64_t> sums_of(const WarpScorer &scorer, const Utterance &said) {
  std::vector<int64_t> sums(WarpScorer::kWarps);
  scorer.score(said.samples, said.states, true, 1, {}, &sums);
  return sums;
}

// The CPU takes over from a device that cannot search: for ever, or for an utterance for which there was no memory.
TEST(WarpScorer, TheCpuTakesOver) {
  FrontEnd front_end = sphinx_front_end();
  front_end.cmn = CmnKind::kBatch;
  const AcousticModel model = model_for(front_end);
  const Utterance said = utterance(front_end, model, 30);
  const WarpScorer on_cpu(front_end, model, choose_device("cpu"), {});
  EXPECT_EQ(on_cpu.why_cpu(), "");
  const std::vector<int64_t> expected = sums_of(on_cpu, said);

  const WarpScorer without(front_end, model, failing_device(false), {});
  EXPECT_EQ(without.why_cpu(), "failing:0: its back end makes no features, or scores no forced states");
  EXPECT_EQ(without.device_id(), "cpu:0");
  EXPECT_EQ(sums_of(without, said), expected);

  const WarpScorer failing(front_end, model, failing_device(true), {});
  EXPECT_EQ(failing.why_cpu(), "");
  g_n_calls = 0;
  g_status = ASR_OUT_OF_MEMORY;
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(sums_of(failing, said), expected);
    EXPECT_EQ(failing.device_id(), "failing:0");
    EXPECT_EQ(g_n_calls, i);
  }
  g_status = ASR_DEVICE_LOST;
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(sums_of(failing, said), expected);
    EXPECT_EQ(failing.device_id(), "cpu:0");
    EXPECT_EQ(g_n_calls, 3);
  }
}

TEST(WarpScorer, NarrowBanksAreRefused) {
  FrontEnd narrow = sphinx_front_end();
  narrow.low_hz = 300;
  narrow.high_hz = 700;
  narrow.n_mel = 13;
  const AcousticModel model = model_for(narrow);
  EXPECT_THROW(WarpScorer scorer(narrow, model, choose_device("cpu"), {}), Error);
}

}  // namespace
}  // namespace asr
