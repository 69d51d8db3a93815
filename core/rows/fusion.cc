// SPDX-License-Identifier: Apache-2.0
#include "core/rows/fusion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/fused_rows.h"

namespace asr {
namespace {

constexpr float kLogZero = kFusedLogZero;

float largest(const float *row, size_t n) {
  constexpr size_t kLanes = 16;
  float best[kLanes];
  std::fill_n(best, kLanes, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) best[k] = row[i + k] > best[k] ? row[i + k] : best[k];
  }
  for (; i < n; ++i) best[0] = std::max(best[0], row[i]);
  return *std::max_element(best, best + kLanes);
}

}  // namespace

Fusion::Fusion(FusionSettings settings, size_t n_states)
    : settings_(std::move(settings)),
      n_states_(n_states),
      decay_(std::exp(-1 / settings_.follow_frames)),
      weights_(n_models()),
      offsets_(n_models()),
      evidence_(n_models()),
      unscaled_(n_models()),
      best_(n_models()),
      row_(n_states),
      rows_(n_models()) {
  begin({});
}

void Fusion::begin(std::vector<bool> is_silent) {
  is_silent_ = std::move(is_silent);
  std::copy(settings_.weights.begin(), settings_.weights.end(), unscaled_.begin());
  set_weights();
  std::fill(evidence_.begin(), evidence_.end(), 0);
  n_evidence_ = 0;
  selected_.reset();
  if (n_models() == 1) selected_ = 0;
}

// Offsets of weights that stay are those of plugins/common/fuse_call.h, which gets the weights as floats. Weights that follow
// may be too small for a float.
void Fusion::set_weights() {
  const double sum = std::accumulate(unscaled_.begin(), unscaled_.end(), 0.0);
  for (size_t m = 0; m < n_models(); ++m) weights_[m] = static_cast<float>(unscaled_[m] / sum);
  if (rule_of_frames()) std::copy(weights_.begin(), weights_.end(), unscaled_.begin());
  const double most = *std::max_element(unscaled_.begin(), unscaled_.end());
  for (size_t m = 0; m < n_models(); ++m) offsets_[m] = static_cast<float>(std::log(unscaled_[m] / most));
}

void Fusion::combine(const float *const *loglikes, size_t n_rows, float *out) {
  for (size_t t = 0; t < n_rows; ++t) {
    for (size_t m = 0; m < n_models(); ++m) rows_[m] = loglikes[m] == nullptr ? nullptr : loglikes[m] + t * n_states_;
    combine_row(rows_.data(), out + t * n_states_);
  }
}

void Fusion::combine_row(const float *const *rows, float *out) {
  if (!selected_ && (settings_.rule == FusionRule::kFollow || settings_.rule == FusionRule::kSelect)) observe(rows);
  if (selected_) {
    std::copy_n(rows[*selected_], n_states_, out);
  } else if (settings_.rule == FusionRule::kSum) {
    fuse_sum(rows, weights_.data(), n_models(), n_states_, out);
  } else if (settings_.rule == FusionRule::kMax) {
    fuse_max(rows, offsets_.data(), n_models(), n_states_, out);
  } else {
    fuse_log_sum(rows, weights_.data(), offsets_.data(), n_models(), n_states_, row_.data(), out);
  }
}

// Takes a frame of speech into account: one whose likeliest state, of all models, is no silence.
void Fusion::observe(const float *const *rows) {
  for (size_t m = 0; m < n_models(); ++m) best_[m] = largest(rows[m], n_states_);
  const auto best = static_cast<size_t>(std::max_element(best_.begin(), best_.end()) - best_.begin());
  const auto state = static_cast<size_t>(std::find(rows[best], rows[best] + n_states_, best_[best]) - rows[best]);
  if (state < is_silent_.size() && is_silent_[state]) return;
  if (!std::all_of(best_.begin(), best_.end(), [](float value) { return value > kLogZero; })) return;
  if (settings_.rule == FusionRule::kFollow) {
    follow();
  } else {
    select();
  }
}

void Fusion::follow() {
  n_evidence_ = decay_ * n_evidence_ + 1;
  for (size_t m = 0; m < n_models(); ++m) evidence_[m] = decay_ * evidence_[m] + static_cast<double>(best_[m]);
  const double most = *std::max_element(evidence_.begin(), evidence_.end());
  for (size_t m = 0; m < n_models(); ++m) {
    unscaled_[m] = static_cast<double>(settings_.weights[m]) * std::exp((evidence_[m] - most) / n_evidence_);
  }
  set_weights();
}

void Fusion::select() {
  n_evidence_ += 1;
  for (size_t m = 0; m < n_models(); ++m) evidence_[m] += static_cast<double>(best_[m]);
  if (n_evidence_ < static_cast<double>(settings_.select_frames)) return;
  selected_ = static_cast<size_t>(std::max_element(evidence_.begin(), evidence_.end()) - evidence_.begin());
}

}  // namespace asr
