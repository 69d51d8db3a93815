// SPDX-License-Identifier: Apache-2.0
#include "core/base/printable.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "core/base/utf8.h"

namespace asr {
namespace {

bool is_between(uint32_t code, uint32_t first, uint32_t last) { return code >= first && code <= last; }

// C1 controls; separators of lines and paragraphs, embeddings and overrides of direction; isolates of direction.
bool is_control(uint32_t code) {
  return is_between(code, 0x80, 0x9f) || is_between(code, 0x2028, 0x202e) || is_between(code, 0x2066, 0x2069);
}

// Blanks other than U+0020, and characters of no width. The joiners U+200C and U+200D stay: words of Persian and of Indian
// languages have them.
bool is_unseen(uint32_t code) {
  return code == 0xa0 || code == 0xad || code == 0x1680 || is_between(code, 0x2000, 0x200b) ||
         is_between(code, 0x200e, 0x200f) || code == 0x202f || is_between(code, 0x205f, 0x2060) || code == 0x3000 ||
         code == 0xfeff;
}

constexpr size_t kMaxEscape = sizeof("\\u0085");

// Returns the bytes to print for a character: its own, or an escape that is written to `escape`.
std::string_view shown(std::string_view text, const Utf8Character &character, Unseen unseen, char (&escape)[kMaxEscape]) {
  int n = 0;
  if (!character.is_valid || character.code == 0x7f || character.code < 0x20) {
    const char letter = character.code == '\n' ? 'n' : character.code == '\r' ? 'r' : character.code == '\t' ? 't' : '\0';
    n = letter != '\0' ? snprintf(escape, sizeof(escape), "\\%c", letter)
                       : snprintf(escape, sizeof(escape), "\\x%02x", character.code);
  } else if (is_control(character.code) || (unseen == Unseen::kEscape && is_unseen(character.code))) {
    n = snprintf(escape, sizeof(escape), "\\u%04x", character.code);
  }
  return n > 0 ? std::string_view(escape, static_cast<size_t>(n)) : text.substr(0, character.size);
}

// Calls add(bytes) for one character after the other, until it returns false.
template <typename Add>
void for_each_shown(std::string_view text, Unseen unseen, const Add &add) {
  char escape[kMaxEscape];
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (!add(shown(text, character, unseen, escape))) return;
    text.remove_prefix(character.size);
  }
}

}  // namespace

std::string printable(std::string_view text, Unseen unseen) {
  std::string out;
  out.reserve(text.size());
  for_each_shown(text, unseen, [&](std::string_view bytes) {
    out += bytes;
    return true;
  });
  return out;
}

size_t print_into(char *out, size_t capacity, std::string_view text) noexcept {
  size_t n = 0;
  for_each_shown(text, Unseen::kEscape, [&](std::string_view bytes) {
    if (bytes.size() >= capacity - n) return false;
    memcpy(out + n, bytes.data(), bytes.size());
    n += bytes.size();
    return true;
  });
  out[n] = '\0';
  return n;
}

}  // namespace asr
