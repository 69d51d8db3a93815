// SPDX-License-Identifier: Apache-2.0
#include "core/audio/channel_mixer.h"

#include <algorithm>

namespace asr {
namespace {

constexpr double kAudible = 1e-5;  // mean square of a block, -50 dB of full scale
// The mean of n channels has at least 1/n^2 of the energy of the loudest one, unless they are alike and of opposite signs.
constexpr double kCancels = 1.0 / 25;

}  // namespace

ChannelMixer::ChannelMixer(uint32_t n_channels, int32_t channel, uint32_t rate_hz)
    : n_channels_(n_channels), channel_(n_channels == 1 ? 0 : channel), block_(std::max<size_t>(1, rate_hz / 100)) {}

void ChannelMixer::add(const float *samples, size_t n, std::vector<float> *out) {
  if (n_channels_ == 1 || channel_ == kAllChannels) {
    out->insert(out->end(), samples, samples + n * n_channels_);
    return;
  }
  if (const int32_t one = channel_ >= 0 ? channel_ : taken_; one >= 0 && begun_.empty()) {
    for (size_t i = 0; i < n; ++i) out->push_back(samples[i * n_channels_ + static_cast<size_t>(one)]);
    return;
  }
  const size_t n_block = block_ * n_channels_;
  const float *const end = samples + n * n_channels_;
  while (samples < end) {
    const size_t n_taken = std::min(n_block - begun_.size(), static_cast<size_t>(end - samples));
    begun_.insert(begun_.end(), samples, samples + n_taken);
    samples += n_taken;
    if (begun_.size() == n_block) finish(out);
  }
}

void ChannelMixer::finish(std::vector<float> *out) {
  if (begun_.empty()) return;
  mix(begun_.data(), begun_.size() / n_channels_, out);
  begun_.clear();
}

void ChannelMixer::mix(const float *samples, size_t n, std::vector<float> *out) {
  const size_t begin = out->size();
  const float weight = 1.0f / static_cast<float>(n_channels_);
  double mixed = 0;
  std::vector<double> energies(n_channels_);
  for (size_t i = 0; i < n; ++i) {
    float sum = 0;
    for (size_t c = 0; c < n_channels_; ++c) {
      const float value = samples[i * n_channels_ + c];
      sum += value;
      energies[c] += double{value} * double{value};
    }
    out->push_back(sum * weight);
    mixed += double{out->back()} * double{out->back()};
  }
  const auto loudest = std::max_element(energies.begin(), energies.end());
  if (taken_ < 0 && *loudest > kAudible * static_cast<double>(n) && mixed * n_channels_ * n_channels_ < kCancels * *loudest) {
    taken_ = static_cast<int32_t>(loudest - energies.begin());
  }
  if (taken_ < 0) return;
  for (size_t i = 0; i < n; ++i) (*out)[begin + i] = samples[i * n_channels_ + static_cast<size_t>(taken_)];
}

}  // namespace asr
