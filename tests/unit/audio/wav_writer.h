// SPDX-License-Identifier: Apache-2.0
// Writes WAV and AU files of all codes that AudioDecoder knows, with whatever sizes in their headers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/audio/audio_decoder.h"
#include "core/audio/g711.h"

namespace asr::test {

inline std::string number(uint64_t value, size_t n_bytes, bool is_big_endian = false) {
  std::string bytes(n_bytes, '\0');
  for (size_t i = 0; i < n_bytes; ++i) bytes[is_big_endian ? n_bytes - 1 - i : i] = static_cast<char>(value >> 8 * i);
  return bytes;
}

// The code word of a sample, -32768..32767: the nearest one of G.711.
inline uint64_t code_word(const SampleCode &code, int sample) {
  const auto nearest = [&](const g711::Table &table) {
    uint64_t best = 0;
    for (uint64_t i = 1; i < 256; ++i) {
      if (std::abs(table[i] - sample) < std::abs(table[best] - sample)) best = i;
    }
    return best;
  };
  switch (code.encoding) {
    case Encoding::kUlaw:
      return nearest(g711::kUlaw);
    case Encoding::kAlaw:
      return nearest(g711::kAlaw);
    case Encoding::kUnsigned:
      return static_cast<uint64_t>(std::min((sample + 32768 + 128) / 256, 255));
    case Encoding::kFloat: {
      uint64_t bits = 0;
      if (code.n_bytes == 8) {
        const double value = sample / 32768.0;
        memcpy(&bits, &value, 8);
      } else {
        const float value = static_cast<float>(sample) / 32768;
        memcpy(&bits, &value, 4);
      }
      return bits;
    }
    case Encoding::kSigned:
      break;
  }
  const int64_t wide = static_cast<int64_t>(sample) * 65536;
  return static_cast<uint64_t>(wide >> (32 - 8 * code.n_bytes));
}

inline std::string samples_in(const SampleCode &code, const std::vector<int> &samples) {
  std::string bytes;
  for (const int sample : samples) bytes += number(code_word(code, sample), code.n_bytes, code.is_big_endian);
  return bytes;
}

constexpr uint64_t kRightSize = UINT64_MAX;

struct WavWriter {
  SampleCode code;
  uint32_t rate_hz = 16000, n_channels = 1;
  uint64_t riff_size = kRightSize, data_size = kRightSize;  // what the header says
  bool is_extensible = false, is_rf64 = false;
  std::string before, behind;  // chunks

  std::string header(size_t n_bytes) const {
    const bool big = code.is_big_endian;
    const uint32_t codec = code.encoding == Encoding::kFloat  ? 3
                           : code.encoding == Encoding::kAlaw ? 6
                           : code.encoding == Encoding::kUlaw ? 7
                                                              : 1;
    const uint32_t block = code.n_bytes * n_channels;
    std::string format = number(is_extensible ? 0xfffe : codec, 2, big) + number(n_channels, 2, big) + number(rate_hz, 4, big) +
                         number(uint64_t{rate_hz} * block, 4, big) + number(block, 2, big) + number(8 * code.n_bytes, 2, big);
    if (is_extensible) {
      format += number(22, 2, big) + number(8 * code.n_bytes, 2, big) + number(0, 4, big) + number(codec, 2, big) +
                std::string("\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14);
    }
    std::string chunks = "WAVE";
    const uint64_t size = data_size == kRightSize ? n_bytes : data_size;
    if (is_rf64) {
      chunks += "ds64" + number(28, 4) + number(n_bytes + 200, 8) + number(size, 8) + number(0, 8) + number(0, 4);
    }
    chunks += "fmt " + number(format.size(), 4, big) + format + before + "data" + number(is_rf64 ? 0xffffffff : size, 4, big);
    const uint64_t whole = riff_size == kRightSize ? chunks.size() + n_bytes + n_bytes % 2 + behind.size() : riff_size;
    return (is_rf64 ? "RF64" : big ? "RIFX" : "RIFF") + number(is_rf64 ? 0xffffffff : whole, 4, big) + chunks;
  }

  std::string file(const std::vector<int> &samples) const {
    const std::string data = samples_in(code, samples);
    return header(data.size()) + data + (behind.empty() ? "" : std::string(data.size() % 2, '\0') + behind);
  }
};

inline std::string au_file(const SampleCode &code, uint32_t encoding, uint32_t size, const std::vector<int> &samples,
                           uint32_t n_channels = 1) {
  return ".snd" + number(28, 4, true) + number(size, 4, true) + number(encoding, 4, true) + number(16000, 4, true) +
         number(n_channels, 4, true) + std::string(4, '\0') + samples_in(code, samples);
}

}  // namespace asr::test
