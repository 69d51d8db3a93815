// SPDX-License-Identifier: Apache-2.0
// LiveAudio reads audio from standard input as it arrives. It takes 16-bit samples without a header, or a WAV file of
// PCM or float samples of unknown length. For `senone recognize - --endpoint`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace asr::tool {

class LiveAudio {
 public:
  // Waits for the header and reads it. raw_rate_hz: rate of samples without a header. Throws asr::Error without input.
  explicit LiveAudio(uint32_t raw_rate_hz);

  // Returns true for these formats; otherwise begin() returns the bytes read so far.
  bool is_live() const { return is_live_; }
  const std::string &begin() const { return bytes_; }

  uint32_t rate_hz() const { return rate_hz_; }
  uint32_t n_channels() const { return n_channels_; }
  uint64_t n_missing_bytes() const { return n_left_ == UINT64_MAX ? 0 : n_left_; }  // at the end: missing bytes by the header

  // Reads the available samples, at most n of each channel, interleaved, full scale -1..1. Waits briefly for them.
  size_t read(float *samples, size_t n);
  bool has_ended() const { return has_ended_ && bytes_.size() < size_t{sample_bytes_} * n_channels_; }

 private:
  bool read_more(int timeout_ms);
  bool read_to(size_t n_bytes);
  void read_wav_header();
  void take_format(const std::string &chunk);
  float value_at(size_t byte) const;

  std::string bytes_;             // bytes read but not yet used
  uint64_t n_left_ = UINT64_MAX;  // bytes of samples still to read
  uint32_t rate_hz_ = 0, n_channels_ = 1;
  uint32_t sample_bytes_ = 0;
  bool is_float_ = false, is_live_ = false, has_ended_ = false;
};

}  // namespace asr::tool
