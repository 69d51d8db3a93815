// SPDX-License-Identifier: Apache-2.0
// `senone bench fusion`: the time in which the host fuses a frame's log-likelihoods of several models, by each rule. It
// also gives the largest error against the double reference.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "core/base/limits.h"
#include "core/rows/fusion.h"
#include "reference/fusion.h"
#include "tools/bench.h"

namespace asr::tool {
namespace {

struct FusionBench {
  BenchOptions common;
  uint32_t n_states = 6000, n_models = 10, n_frames = 256;
};

using Scores = std::vector<std::vector<float>>;  // scores of each model

Scores random_scores(const FusionBench &bench) {
  std::mt19937 random(1);
  std::normal_distribution<float> common(-90, 20), own(0, 6);
  std::vector<float> shared(size_t{bench.n_frames} * bench.n_states);
  for (float &value : shared) value = common(random);
  Scores scores(bench.n_models, shared);
  for (auto &model : scores) {
    for (float &value : model) value += own(random);
  }
  return scores;
}

double largest_error(const FusionBench &bench, const FusionSettings &settings, const Scores &scores,
                     const std::vector<float> &found) {
  reference::FusionProblem problem;
  problem.rule = static_cast<reference::Fusion>(settings.rule);
  problem.n_frames = std::min(bench.n_frames, 16u);
  problem.n_states = bench.n_states;
  for (const auto &model : scores) problem.loglikes.emplace_back(model.begin(), model.end());
  problem.weights.assign(settings.weights.begin(), settings.weights.end());
  problem.is_silent.resize(bench.n_states);
  problem.follow_frames = settings.follow_frames;
  problem.select_frames = settings.select_frames;
  const std::vector<double> expected = reference::fuse(problem);
  double error = 0;
  for (size_t i = 0; i < expected.size(); ++i) error = std::max(error, std::abs(static_cast<double>(found[i]) - expected[i]));
  return error;
}

void run(const FusionBench &bench) {
  const Scores scores = random_scores(bench);
  std::vector<const float *> rows;
  for (const auto &model : scores) rows.push_back(model.data());
  std::vector<float> fused(size_t{bench.n_frames} * bench.n_states);
  BenchReport report("fusion", bench.common, choose_device("cpu"),
                     {{"rule", "rule", 0}, {"us_per_frame", "us/frame", 2}, {"error", "largest error", -2}});
  report.option("states", bench.n_states);
  report.option("models", bench.n_models);
  report.option("frames", bench.n_frames);
  const std::pair<const char *, FusionRule> rules[] = {{"sum", FusionRule::kSum},
                                                       {"log-sum", FusionRule::kLogSum},
                                                       {"max", FusionRule::kMax},
                                                       {"follow", FusionRule::kFollow},
                                                       {"select, undecided", FusionRule::kSelect}};
  for (const auto &[name, rule] : rules) {
    FusionSettings settings;
    settings.rule = rule;
    settings.weights.assign(bench.n_models, 1);
    settings.select_frames = UINT64_MAX;
    Fusion fusion(settings, bench.n_states);
    const Timing time = time_repeats(bench.common.n_repeats, [&] {
      fusion.begin({});
      fusion.combine(rows.data(), bench.n_frames, fused.data());
    });
    report.row({name, 1e6 * time.min_s / bench.n_frames, largest_error(bench, settings, scores, fused)});
  }
  report.print();
}

void add_fusion(Command app) {
  const auto bench = std::make_shared<FusionBench>();
  Command command = app.command("fusion", "Fusion of several models' log-likelihoods on the host");
  command.option("--states", bench->n_states, "States of the models").range(1u, 1000000u).shows_default();
  command.option("--models", bench->n_models, "Models").range(1u, static_cast<uint32_t>(kMaxModels)).shows_default();
  command.option("--frames", bench->n_frames, "Frames in all").range(1u, 100000u).shows_default();
  bench->common.add_to(command);
  command.callback([bench] { run(*bench); });
}

const Benchmark kFusion{"fusion", add_fusion};

}  // namespace
}  // namespace asr::tool
