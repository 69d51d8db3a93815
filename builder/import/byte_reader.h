// SPDX-License-Identifier: Apache-2.0
// ByteReader is a cursor over the bytes of a foreign model file, of either byte order. Reading past the end is an asr::Error
// that names the file. The importers use it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace asr {

inline uint32_t swap_bytes(uint32_t v) { return __builtin_bswap32(v); }
inline uint16_t swap_bytes(uint16_t v) { return __builtin_bswap16(v); }

class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string source) : bytes_(bytes), source_(std::move(source)) {}

  const std::string &source() const { return source_; }
  void set_swapped(bool swapped) { swapped_ = swapped; }
  size_t position() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

  std::string_view bytes(uint64_t count, const char *what) {
    if (count > left()) fail(ASR_BAD_FILE, "%s: ends within its %s; the file is damaged or truncated", source_.c_str(), what);
    const std::string_view found = bytes_.substr(at_, static_cast<size_t>(count));
    at_ += static_cast<size_t>(count);
    return found;
  }

  // Reads up to a NUL and consumes the NUL.
  std::string text(const char *what) {
    const size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) fail(ASR_BAD_FILE, "%s: ends within its %s; the file is damaged", source_.c_str(), what);
    std::string found(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return found;
  }

  uint32_t u32(const char *what) { return value<uint32_t>(what); }
  uint16_t u16(const char *what) { return value<uint16_t>(what); }
  uint8_t u8(const char *what) { return static_cast<uint8_t>(bytes(1, what)[0]); }

  // Reads a count: an i32 that must not be negative.
  uint32_t count(const char *what) {
    const uint32_t value = u32(what);
    if (value > 0x7fffffffu) fail(ASR_BAD_FILE, "%s: %s is negative; the file is damaged", source_.c_str(), what);
    return value;
  }

  void finish() const {
    if (left() != 0) fail(ASR_BAD_FILE, "%s: has %zu bytes after its end; the file is damaged", source_.c_str(), left());
  }

 private:
  std::string_view bytes_;
  std::string source_;
  size_t at_ = 0;
  bool swapped_ = false;

  template <typename T>
  T value(const char *what) {
    T v;
    memcpy(&v, bytes(sizeof(T), what).data(), sizeof(T));
    return swapped_ ? swap_bytes(v) : v;
  }
};

}  // namespace asr
