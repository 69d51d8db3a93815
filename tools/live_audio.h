// SPDX-License-Identifier: Apache-2.0
// Audio of standard input as it comes: 16-bit samples without a header, or a WAV file of PCM or float samples whose length need
// not be known. For `senone recognize - --endpoint`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace asr::tool {

class LiveAudio {
 public:
  // Reads the header, for which it waits. raw_rate_hz: of samples without one. Throws asr::Error where there is no input.
  explicit LiveAudio(uint32_t raw_rate_hz);

  // Whether the format is one of these; if not, begin() is what was read so far.
  bool is_live() const { return is_live_; }
  const std::string &begin() const { return bytes_; }

  uint32_t rate_hz() const { return rate_hz_; }
  uint32_t n_channels() const { return n_channels_; }
  uint64_t n_missing_bytes() const { return n_left_ == UINT64_MAX ? 0 : n_left_; }  // at the end: that the header tells of

  // At most n samples of each channel, interleaved, full scale -1..1: what is there, for which it waits a moment.
  size_t read(float *samples, size_t n);
  bool has_ended() const { return has_ended_ && bytes_.size() < size_t{sample_bytes_} * n_channels_; }

 private:
  bool read_more(int timeout_ms);
  bool read_to(size_t n_bytes);
  void read_wav_header();
  void take_format(const std::string &chunk);
  float value_at(size_t byte) const;

  std::string bytes_;             // read and not yet used
  uint64_t n_left_ = UINT64_MAX;  // bytes of samples to be read yet
  uint32_t rate_hz_ = 0, n_channels_ = 1;
  uint32_t sample_bytes_ = 0;
  bool is_float_ = false, is_live_ = false, has_ended_ = false;
};

}  // namespace asr::tool
