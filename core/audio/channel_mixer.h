// SPDX-License-Identifier: Apache-2.0
// ChannelMixer makes one channel of interleaved ones: the one that is asked for, or their mean. Channels that cancel each
// other, such as a microphone's balanced line recorded as stereo, have a mean of nearly nothing: then one of them is taken
// instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asr {

constexpr int32_t kMixChannels = -1, kAllChannels = -2;

class ChannelMixer {
 public:
  ChannelMixer() = default;
  ChannelMixer(uint32_t n_channels, int32_t channel, uint32_t rate_hz);

  uint32_t n_out() const { return channel_ == kAllChannels ? n_channels_ : 1; }
  int32_t taken() const { return taken_; }  // the channel that is taken because the channels cancel; -1: none

  // Appends n samples of each channel. The mean comes in blocks of 10 ms; finish() adds the last one.
  void add(const float *samples, size_t n, std::vector<float> *out);
  void finish(std::vector<float> *out);

 private:
  void mix(const float *samples, size_t n, std::vector<float> *out);

  uint32_t n_channels_ = 1;
  int32_t channel_ = 0, taken_ = -1;
  size_t block_ = 1;          // samples of each channel
  std::vector<float> begun_;  // of a block that is not complete
};

}  // namespace asr
