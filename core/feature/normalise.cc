// SPDX-License-Identifier: Apache-2.0
#include "core/feature/normalise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace asr {
namespace {

constexpr double kVarianceFloor = 1e-20;
constexpr size_t kBlockFrames = 1024;

}  // namespace

Normaliser::Normaliser(const FrontEnd &front_end, CmnKind kind, const LiveMeanState *start)
    : kind_(kind),
      variance_(front_end.cmn_variance),
      skip_negative_c0_(front_end.cmn_skip_negative_c0),
      cepstra_(front_end.cmn_cepstra),
      energy_range_(front_end.energy_range_db * std::log(10) / 10),
      energy_scale_(front_end.energy_scale),
      n_ceps_(front_end.n_ceps),
      c0_(front_end.c0_last ? front_end.n_ceps - 1 : 0),
      prior_frames_(front_end.cmn_prior_frames),
      window_frames_(front_end.cmn_window_frames),
      mean_(n_ceps_, 0.0),
      sum_(n_ceps_, 0.0) {
  if (kind_ == CmnKind::kLive && variance_) {
    fail(ASR_UNSUPPORTED, "cmn: this model's variance normalisation needs whole utterances; use batch");
  }
  if (kind_ != CmnKind::kBatch && energy_range_ > 0) {
    fail(ASR_UNSUPPORTED, "cmn: this model's normalised energy needs whole utterances; use batch");
  }
  if (kind_ != CmnKind::kLive) return;
  if (front_end.cmn_lookahead_frames > 0) {
    live_.emplace(front_end);
    if (start != nullptr) live_->set_state(*start);
  } else {
    std::copy(front_end.cmn_prior.begin(), front_end.cmn_prior.end(), mean_.begin());
    for (uint32_t i = 0; i < n_ceps_; ++i) sum_[i] = mean_[i] * prior_frames_;
    count_ = prior_frames_;
  }
}

void Normaliser::push(const float *cepstra, size_t n, std::vector<float> *out) {
  const float *end = cepstra + n * n_ceps_;
  if (kind_ == CmnKind::kBatch) {
    hold(cepstra, n);
    return;
  }
  if (live_) {
    for (; cepstra != end; cepstra += n_ceps_) push_live(cepstra, out);
    return;
  }
  const size_t first = out->size();
  out->insert(out->end(), cepstra, end);
  if (kind_ == CmnKind::kNone) return;
  for (size_t at = first; at < out->size(); at += n_ceps_) subtract_running_mean(out->data() + at);
}

void Normaliser::finish(std::vector<float> *out) {
  release_waiting(out);
  if (kind_ != CmnKind::kBatch) return;
  if (cepstra_) subtract_batch_mean();
  if (energy_range_ > 0) normalise_energy();
}

bool Normaliser::take(std::vector<float> *out) {
  if (blocks_.empty()) return false;
  out->insert(out->end(), blocks_.front().begin(), blocks_.front().end());
  blocks_.pop_front();
  return true;
}

void Normaliser::release_waiting(std::vector<float> *out) {
  if (live_ && !held_.empty()) release(held_.size() / n_ceps_, out);
}

void Normaliser::push_live(const float *frame, std::vector<float> *out) {
  live_->add(frame);
  held_.insert(held_.end(), frame, frame + n_ceps_);
  const size_t n_held = held_.size() / n_ceps_, n_waiting = live_->has_settled() ? 0 : live_->lookahead_frames();
  if (n_held > n_waiting) release(n_held - n_waiting, out);
}

// Moves the first n held frames to *out and subtracts the current mean.
void Normaliser::release(size_t n, std::vector<float> *out) {
  live_->mean(mean_.data());
  const auto n_values = static_cast<ptrdiff_t>(n * n_ceps_);
  for (size_t i = 0; i < n * n_ceps_; ++i) out->push_back(static_cast<float>(held_[i] - mean_[i % n_ceps_]));
  held_.erase(held_.begin(), held_.begin() + n_values);
}

void Normaliser::subtract_running_mean(float *frame) {
  if (!counts(frame)) return;
  for (uint32_t i = 0; i < n_ceps_; ++i) {
    sum_[i] += frame[i];
    frame[i] = static_cast<float>(frame[i] - mean_[i]);
  }
  if (++count_ <= window_frames_) return;
  for (uint32_t i = 0; i < n_ceps_; ++i) {
    mean_[i] = sum_[i] / count_;
    sum_[i] = mean_[i] * prior_frames_;
  }
  count_ = prior_frames_;
}

void Normaliser::hold(const float *cepstra, size_t n) {
  while (n > 0) {
    if (blocks_.empty() || blocks_.back().size() == kBlockFrames * n_ceps_) blocks_.emplace_back();
    std::vector<float> &block = blocks_.back();
    const size_t n_now = std::min(n, kBlockFrames - block.size() / n_ceps_);
    block.insert(block.end(), cepstra, cepstra + n_now * n_ceps_);
    cepstra += n_now * n_ceps_, n -= n_now;
  }
}

// Calls action(frame) for the frames of kBatch, in their order.
template <typename Action>
void Normaliser::for_each_held(const Action &action) {
  for (std::vector<float> &block : blocks_) {
    for (size_t at = 0; at < block.size(); at += n_ceps_) action(&block[at]);
  }
}

void Normaliser::subtract_batch_mean() {
  size_t n = 0;
  for_each_held([&](const float *frame) {
    ++n;
    if (!counts(frame)) return;
    for (uint32_t i = 0; i < n_ceps_; ++i) sum_[i] += frame[i];
    ++count_;
  });
  for (uint32_t i = 0; i < n_ceps_; ++i) mean_[i] = count_ > 0 ? sum_[i] / count_ : 0;

  if (energy_range_ > 0) mean_[c0_] = 0;

  std::vector<double> scale(n_ceps_, 1.0);
  if (variance_) {
    std::vector<double> squares(n_ceps_, 0.0);
    for_each_held([&](const float *frame) {
      for (uint32_t i = 0; i < n_ceps_; ++i) squares[i] += (frame[i] - mean_[i]) * (frame[i] - mean_[i]);
    });
    for (uint32_t i = 0; i < n_ceps_; ++i) {
      if (energy_range_ > 0 && i == c0_) continue;
      scale[i] = 1 / std::sqrt(std::max(squares[i] / static_cast<double>(n), kVarianceFloor));
    }
  }
  for_each_held([&](float *frame) {
    for (uint32_t i = 0; i < n_ceps_; ++i) frame[i] = static_cast<float>((frame[i] - mean_[i]) * scale[i]);
  });
}

void Normaliser::normalise_energy() {
  double highest = -std::numeric_limits<double>::infinity();
  for_each_held([&](const float *frame) { highest = std::max(highest, static_cast<double>(frame[c0_])); });
  for_each_held([&](float *frame) {
    const double below = std::min(highest - frame[c0_], energy_range_);
    frame[c0_] = static_cast<float>(1 - energy_scale_ * below);
  });
}

}  // namespace asr
