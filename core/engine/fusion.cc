// SPDX-License-Identifier: Apache-2.0
// Loops over states are plain, without branches or calls, so that -O3 vectorises them; no result depends on the vectors' size.
#include "core/engine/fusion.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace asr {
namespace {

constexpr float kLogZero = -1e30f;  // log-likelihoods below it stand for -infinity

int32_t bits_of(float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float with_bits(int32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// e^x for x <= 0, at least e^-87; relative error 2e-7, and exactly 1 for 0. x = n ln 2 + r, then the series to r^7 / 7!.
inline float exp_nonpositive(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: what is added to it is rounded to an integer
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  x = x < -87.0f ? -87.0f : x;
  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const int32_t exponent = bits_of(shifted) - bits_of(kRound);
  return p * with_bits((exponent + 127) * (1 << 23));
}

// ln x for normal x > 0; absolute error 3e-7, and exactly 0 for 1. x = 2^n m with m from sqrt(1/2) to sqrt(2), then the series
// of 2 artanh((m - 1) / (m + 1)).
inline float log_positive(float x) {
  constexpr int32_t kSqrtHalf = 0x3f3504f3;
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  const int32_t bits = bits_of(x);
  const int32_t n = (bits - kSqrtHalf) >> 23;
  const float m = with_bits(bits - n * (1 << 23));
  const float z = (m - 1.0f) / (m + 1.0f), square = z * z;
  float p = 2.0f / 9;
  p = p * square + 2.0f / 7;
  p = p * square + 2.0f / 5;
  p = p * square + 2.0f / 3;
  p = p * square;
  const auto exponent = static_cast<float>(n);
  return exponent * kLn2High + ((p * z + 2.0f * z) + exponent * kLn2Low);
}

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

void Fusion::set_weights() {
  const double sum = std::accumulate(unscaled_.begin(), unscaled_.end(), 0.0);
  const double most = *std::max_element(unscaled_.begin(), unscaled_.end());
  for (size_t m = 0; m < n_models(); ++m) {
    weights_[m] = static_cast<float>(unscaled_[m] / sum);
    offsets_[m] = static_cast<float>(std::log(unscaled_[m] / most));
  }
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
    sum(rows, out);
  } else if (settings_.rule == FusionRule::kMax) {
    max(rows, out);
  } else {
    log_sum(rows, out);
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

void Fusion::sum(const float *const *rows, float *out) const {
  for (size_t m = 0; m < n_models(); ++m) {
    const float *const row = rows[m];
    const float weight = weights_[m];
    for (size_t s = 0; s < n_states_; ++s) out[s] = m == 0 ? weight * row[s] : out[s] + weight * row[s];
  }
}

void Fusion::max(const float *const *rows, float *out) const {
  std::fill_n(out, n_states_, -std::numeric_limits<float>::infinity());
  for (size_t m = 0; m < n_models(); ++m) {
    const float *const row = rows[m];
    const float offset = offsets_[m];
    for (size_t s = 0; s < n_states_; ++s) out[s] = row[s] + offset > out[s] ? row[s] + offset : out[s];
  }
}

// Relative to the largest term of each state, so that a sum is at least the largest weight.
void Fusion::log_sum(const float *const *rows, float *out) {
  max(rows, out);
  float *const sums = row_.data();
  std::fill_n(sums, n_states_, 0.0f);
  const float weight = *std::max_element(weights_.begin(), weights_.end());
  for (size_t m = 0; m < n_models(); ++m) {
    const float *const row = rows[m];
    const float offset = offsets_[m];
    for (size_t s = 0; s < n_states_; ++s) {
      const float most = out[s] > kLogZero ? out[s] : 0.0f;
      sums[s] += weight * exp_nonpositive(row[s] + offset - most);
    }
  }
  for (size_t s = 0; s < n_states_; ++s) {
    const float sum = log_positive(sums[s]);
    out[s] = out[s] > kLogZero ? out[s] + sum : out[s];
  }
}

}  // namespace asr
