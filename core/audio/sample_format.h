// SPDX-License-Identifier: Apache-2.0
// SampleFormat describes a caller's samples. to_mono() converts them for the front end: one channel of floats at the scale of
// 16-bit integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace asr {

enum class SampleType { kInt16, kFloat, kUlaw, kAlaw };  // kFloat: full scale is -1..1; kUlaw, kAlaw: bytes of G.711

struct SampleFormat {
  SampleType type = SampleType::kInt16;
  uint32_t rate_hz = 16000;
  uint32_t n_channels = 1;  // interleaved
  int32_t channel = -1;     // the channel to take; -1 = the mean of all

  size_t sample_bytes() const {
    return type == SampleType::kFloat ? sizeof(float) : type == SampleType::kInt16 ? sizeof(int16_t) : sizeof(uint8_t);
  }
};

// Returns true if values[0..n) contains no NaN and no infinity.
bool all_finite(const float *values, size_t n);

// Returns what is wrong with rows[n][row_length], such as "frame 7 has only -inf: ..."; empty if nothing is. Features must be
// finite. A log-likelihood may also be -inf, which closes its state in that frame, if the frame has others. The first row is
// frame `first_frame`.
std::string fault_of_rows(const float *rows, size_t n, size_t row_length, bool are_loglikes, uint64_t first_frame);

// Converts samples[n][n_channels] to mono[n].
void to_mono(const SampleFormat &format, const void *samples, size_t n, float *mono);

}  // namespace asr
