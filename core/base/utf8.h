// SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8 text, which may have bytes that are none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace asr {

struct Utf8Character {
  size_t size;  // in bytes
  uint32_t code;
  bool is_valid;  // otherwise it is one byte that is no UTF-8
};

// Reads the first character of a text that is not empty, by the table of well-formed UTF-8 (Unicode, table 3-7): neither longer
// than needed, nor a surrogate, nor over U+10FFFF.
inline Utf8Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const Utf8Character invalid{1, lead, false};
  if (lead < 0x80) return {1, lead, true};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return invalid;
  uint32_t code = lead & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return invalid;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool is_longer_than_needed = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool is_none = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff;
  return is_longer_than_needed || is_none ? invalid : Utf8Character{size, code, true};
}

}  // namespace asr
