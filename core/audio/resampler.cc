// SPDX-License-Identifier: Apache-2.0
#include "core/audio/resampler.h"

#include <algorithm>
#include <utility>

namespace asr {

Resampler::Resampler(std::shared_ptr<const ResampleFilter> filter) : filter_(std::move(filter)) {
  if (filter_) input_.resize(filter_->n_taps() / 2 - 1);
}

void Resampler::make_sample(std::vector<float> *out) {
  out->push_back(filter_->apply(input_.data() + begin_, phase_));
  phase_ += filter_->in();
  begin_ += phase_ / filter_->out();
  phase_ %= filter_->out();
}

void Resampler::feed(const float *samples, size_t n, std::vector<float> *out) {
  if (!filter_) {
    out->insert(out->end(), samples, samples + n);
    return;
  }
  input_.insert(input_.end(), samples, samples + n);
  while (begin_ + filter_->n_taps() <= input_.size()) make_sample(out);
  const size_t n_used = std::min(begin_, input_.size());
  input_.erase(input_.begin(), input_.begin() + static_cast<ptrdiff_t>(n_used));
  begin_ -= n_used;
}

void Resampler::finish(std::vector<float> *out) {
  if (!filter_) return;
  const size_t end = input_.size();
  input_.resize(end + filter_->n_taps());
  // Output sample i belongs to the round(n * out / in) samples if i + 1/2 <= n * out / in.
  const auto is_within = [&] {
    const size_t before = begin_ + filter_->n_taps() / 2 - 1;  // the input sample at that time, or the last one before it
    return before <= end && 2 * phase_ + filter_->in() <= 2 * filter_->out() * (end - before);
  };
  while (is_within()) make_sample(out);
}

}  // namespace asr
