// SPDX-License-Identifier: Apache-2.0
// G.711 (ITU-T, 1988): a byte of telephone audio as a 16-bit sample. For streams of ASR_INPUT_ULAW and ASR_INPUT_ALAW
// (sample_format.cc) and for files (audio_decoder.cc).
#pragma once

#include <array>
#include <cstdint>

namespace asr::g711 {

// mu-law: sign, 3 bits of exponent, 4 of mantissa, all inverted. 14 bits, shifted to 16.
constexpr int16_t ulaw_value(unsigned byte) {
  const unsigned bits = ~byte & 0xff;
  const int magnitude = static_cast<int>(((bits & 15) * 8 + 132) << (bits >> 4 & 7)) - 132;
  return static_cast<int16_t>((bits & 0x80) != 0 ? -magnitude : magnitude);
}

// A-law: the even bits are inverted; 13 bits, shifted to 16.
constexpr int16_t alaw_value(unsigned byte) {
  const unsigned bits = (byte ^ 0x55) & 0xff, exponent = bits >> 4 & 7;
  const unsigned step = (bits & 15) * 16 + 8;
  const int magnitude = static_cast<int>(exponent == 0 ? step : (step + 256) << (exponent - 1));
  return static_cast<int16_t>((bits & 0x80) != 0 ? magnitude : -magnitude);
}

using Table = std::array<int16_t, 256>;

constexpr Table table_of(int16_t (*value)(unsigned)) {
  Table table{};
  for (unsigned i = 0; i < 256; ++i) table[i] = value(i);
  return table;
}

inline constexpr Table kUlaw = table_of(ulaw_value), kAlaw = table_of(alaw_value);

}  // namespace asr::g711
