// SPDX-License-Identifier: Apache-2.0
#include "core/feature/normalise.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace asr {
namespace {

constexpr size_t kBlockFrames = 1024;

}  // namespace

Normaliser::Normaliser(const FrontEnd &front_end, CmnKind kind, const MeanState *start)
    : kind_(kind),
      skip_negative_c0_(front_end.cmn_skip_negative_c0),
      n_ceps_(front_end.n_ceps),
      c0_(front_end.c0_last ? front_end.n_ceps - 1 : 0),
      prior_frames_(front_end.cmn_prior_frames),
      window_frames_(front_end.cmn_window_frames),
      mean_(n_ceps_, 0.0),
      sum_(n_ceps_, 0.0) {
  if (kind_ == CmnKind::kBatch || kind_ == CmnKind::kMeasure) {
    whole_.emplace(front_end, start != nullptr ? &std::get<WholeMeanState>(*start) : nullptr);
    return;
  }
  if (kind_ == CmnKind::kLive && front_end.cmn_variance) {
    fail(ASR_UNSUPPORTED, "cmn: this model's variance normalisation needs whole utterances; use batch");
  }
  if (front_end.energy_range_db > 0) {
    fail(ASR_UNSUPPORTED, "cmn: this model's normalised energy needs whole utterances; use batch");
  }
  if (kind_ != CmnKind::kLive) return;
  if (front_end.cmn_lookahead_frames > 0) {
    live_.emplace(front_end);
    if (start != nullptr) live_->set_state(std::get<LiveMeanState>(*start));
  } else {
    std::copy(front_end.cmn_prior.begin(), front_end.cmn_prior.end(), mean_.begin());
    for (uint32_t i = 0; i < n_ceps_; ++i) sum_[i] = mean_[i] * prior_frames_;
    count_ = prior_frames_;
  }
}

void Normaliser::push(const float *cepstra, size_t n, std::vector<float> *out) {
  const float *end = cepstra + n * n_ceps_;
  if (kind_ == CmnKind::kMeasure) {
    for (; cepstra != end; cepstra += n_ceps_) whole_->measure(cepstra);
    return;
  }
  if (kind_ == CmnKind::kBatch && !whole_->is_measured()) {
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
  for (size_t at = first; at < out->size(); at += n_ceps_) {
    whole_ ? whole_->normalise(out->data() + at) : subtract_running_mean(out->data() + at);
  }
}

void Normaliser::finish(std::vector<float> *out) {
  release_waiting(out);
  if (kind_ == CmnKind::kMeasure) whole_->end_pass();
  if (kind_ != CmnKind::kBatch || whole_->is_measured()) return;
  for (; !whole_->is_measured(); whole_->end_pass()) {
    for_each_held([&](const float *frame) { whole_->measure(frame); });
  }
  for_each_held([&](float *frame) { whole_->normalise(frame); });
}

bool Normaliser::get_state(MeanState *state) const {
  if (live_) *state = live_->state();
  if (kind_ == CmnKind::kMeasure) *state = whole_->state();
  return live_ || kind_ == CmnKind::kMeasure;
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

}  // namespace asr
