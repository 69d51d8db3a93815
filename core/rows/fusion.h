// SPDX-License-Identifier: Apache-2.0
// Fuses the log-likelihoods of several acoustic models into one row a frame (G5 to G9 of docs/equations.md). Each fused stream
// has one Fusion, used by the engine's thread. Results depend on the frames of the utterance alone, not on how they are cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/stream/stream_options.h"

namespace asr {

class Fusion {
 public:
  // At most kMaxModels weights.
  Fusion(FusionSettings settings, size_t n_states);

  // Begins an utterance. is_silent: [n_states], whether a state is silence's; frames of silence do not count for the
  // weights.
  void begin(std::vector<bool> is_silent);

  size_t n_models() const { return settings_.weights.size(); }
  // Returns true if the model's log-likelihoods are still needed.
  bool uses(size_t model) const { return !selected_ || *selected_ == model; }

  // Fuses the next n_rows rows: loglikes[model] is [n_rows][n_states], nullptr where uses(model) was false before the call;
  // `out` is [n_rows][n_states].
  void combine(const float *const *loglikes, size_t n_rows, float *out);

  // Returns the rule if a frame's fusion does not depend on frames before it; its weights do not change then.
  std::optional<FusionRule> rule_of_frames() const {
    const bool is_fixed = settings_.rule != FusionRule::kFollow && settings_.rule != FusionRule::kSelect;
    return is_fixed ? std::optional(settings_.rule) : std::nullopt;
  }

  // Returns the models' weights in the frame combined last; their sum is 1.
  const std::vector<float> &weights() const { return weights_; }

 private:
  void combine_row(const float *const *rows, float *out);
  void observe(const float *const *rows);
  void follow();
  void select();
  void set_weights();  // from unscaled_

  const FusionSettings settings_;
  const size_t n_states_;
  const double decay_;
  std::vector<bool> is_silent_;
  std::vector<float> weights_;
  std::vector<float> offsets_;       // ln of weight to largest weight
  std::vector<double> evidence_;     // per model, of the utterance's speech so far
  double n_evidence_ = 0;            // frames in it; kFollow: decayed
  std::optional<size_t> selected_;   // by kSelect, or the only model
  std::vector<double> unscaled_;     // scratch: weights, of any sum
  std::vector<float> best_;          // scratch: per model, the largest log-likelihood of the frame
  std::vector<float> row_;           // scratch: per state
  std::vector<const float *> rows_;  // scratch: per model
};

}  // namespace asr
