// SPDX-License-Identifier: Apache-2.0
#include "builder/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace asr {
namespace {

constexpr utf8proc_int32_t kSharpS = 0xdf, kSigma = 0x3a3, kFinalSigma = 0x3c2, kCapitalDottedI = 0x130, kReplacement = 0xfffd;
constexpr auto kNfc = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);

// Letters whose upper case has more than one letter: those of Unicode's SpecialCasing.txt that words of living languages have.
constexpr struct {
  utf8proc_int32_t letter;
  const char *upper;
} kLongUppers[] = {{kSharpS, "SS"}, {0x149, "\u02bcN"}, {0x1f0, "J\u030c"}, {0x587, "\u0535\u0552"},
                   {0xfb00, "FF"},  {0xfb01, "FI"},     {0xfb02, "FL"},     {0xfb03, "FFI"},
                   {0xfb04, "FFL"}, {0xfb05, "ST"},     {0xfb06, "ST"}};

const auto *bytes_of(std::string_view text) { return reinterpret_cast<const utf8proc_uint8_t *>(text.data()); }

// Code points in which normal form C changes nothing, if all of a word's are of these: no combining marks and no letters that
// were given a second code point. The test saves time; what it does not know is normalised.
bool is_surely_normal(utf8proc_int32_t c) {
  return c < 0x300 || (c >= 0x388 && c <= 0x482) || (c >= 0x48a && c <= 0x590) || (c >= 0x3400 && c <= 0x9fff) ||
         (c >= 0xac00 && c <= 0xd7a3) || (c >= 0x3041 && c <= 0x3096) || (c >= 0x30a1 && c <= 0x30fe);
}

bool is_surely_normal(std::string_view word) {
  for (size_t at = 0; at < word.size();) {
    utf8proc_int32_t c = 0;
    const auto n = utf8proc_iterate(bytes_of(word) + at, static_cast<utf8proc_ssize_t>(word.size() - at), &c);
    if (n <= 0) return true;  // no UTF-8: it stays
    if (!is_surely_normal(c)) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

std::string mapped(std::string_view word, utf8proc_option_t options) {
  utf8proc_uint8_t *made = nullptr;
  const auto n = utf8proc_map(bytes_of(word), static_cast<utf8proc_ssize_t>(word.size()), &made, options);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, std::free);
  if (n == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  return n < 0 ? std::string(word) : std::string(reinterpret_cast<const char *>(made), static_cast<size_t>(n));
}

void append(std::string *text, utf8proc_int32_t c) {
  utf8proc_uint8_t bytes[4];
  text->append(reinterpret_cast<const char *>(bytes), static_cast<size_t>(utf8proc_encode_char(c, bytes)));
}

bool is_letter(utf8proc_int32_t c) {
  const auto category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_mark(utf8proc_int32_t c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_MN; }

// Calls use(code point, its place) for the letters of a word, or returns false if it is no UTF-8.
bool code_points(std::string_view word, std::vector<utf8proc_int32_t> *points) {
  for (size_t at = 0; at < word.size();) {
    utf8proc_int32_t c = 0;
    const auto n = utf8proc_iterate(bytes_of(word) + at, static_cast<utf8proc_ssize_t>(word.size() - at), &c);
    if (n <= 0) return false;
    points->push_back(c);
    at += static_cast<size_t>(n);
  }
  return true;
}

// A word that is no UTF-8: letters of ASCII alone. Behind one of them a mark may stand that the new letter is one with, in a text
// of several words.
template <typename Change>
std::string ascii_changed(std::string_view word, Change change) {
  std::string made(word);
  std::transform(made.begin(), made.end(), made.begin(), change);
  return to_nfc(std::move(made));
}

}  // namespace

std::string to_nfc(std::string text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto is_high = [](char c) { return static_cast<unsigned char>(c) >= 0xcc; };  // U+0300 and above begin with such bytes
  if (std::none_of(text.begin(), text.end(), is_high)) return text;
  std::string made;
  size_t copied = 0;  // text before this offset is in `made`
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(text.find_first_not_of(kBlanks, at), text.size());
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    at = end;
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    if (std::none_of(word.begin(), word.end(), is_high) || is_surely_normal(word)) continue;
    const std::string normal = mapped(word, kNfc);
    if (normal == word) continue;
    made.append(text, copied, begin - copied);
    made += normal;
    copied = end;
  }
  if (copied == 0) return text;
  return made.append(text, copied);
}

std::string from_utf16(std::string_view bytes, bool is_big_endian) {
  const auto unit = [&](size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<utf8proc_int32_t>(is_big_endian ? first * 256 + second : second * 256 + first);
  };
  const auto is_high = [](utf8proc_int32_t c) { return c >= 0xd800 && c < 0xdc00; };
  const auto is_low = [](utf8proc_int32_t c) { return c >= 0xdc00 && c < 0xe000; };
  std::string text;
  size_t at = 0;
  for (; at + 2 <= bytes.size(); at += 2) {
    utf8proc_int32_t c = unit(at);
    if (is_high(c) && at + 4 <= bytes.size() && is_low(unit(at + 2))) {
      c = 0x10000 + (c - 0xd800) * 0x400 + (unit(at + 2) - 0xdc00);
      at += 2;
    }
    append(&text, is_high(c) || is_low(c) ? kReplacement : c);
  }
  if (at < bytes.size()) append(&text, kReplacement);
  return text;
}

std::string to_upper(std::string_view word) {
  std::vector<utf8proc_int32_t> points;
  if (!code_points(word, &points)) {
    return ascii_changed(word, [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  }
  std::string upper;
  for (const utf8proc_int32_t c : points) {
    const auto *const found =
        std::find_if(std::begin(kLongUppers), std::end(kLongUppers), [c](const auto &entry) { return entry.letter == c; });
    if (found != std::end(kLongUppers)) {
      upper += found->upper;
    } else {
      append(&upper, utf8proc_toupper(c));
    }
  }
  return to_nfc(std::move(upper));
}

std::string to_lower(std::string_view word) {
  std::vector<utf8proc_int32_t> points;
  if (!code_points(word, &points)) {
    return ascii_changed(word, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  }
  std::string lower;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto next = std::find_if_not(points.begin() + static_cast<std::ptrdiff_t>(i) + 1, points.end(), is_mark);
    const bool is_last = i > 0 && is_letter(points[i - 1]) && (next == points.end() || !is_letter(*next));
    if (points[i] == kCapitalDottedI) {
      lower += "i\u0307";
    } else {
      append(&lower, points[i] == kSigma && is_last ? kFinalSigma : utf8proc_tolower(points[i]));
    }
  }
  return to_nfc(std::move(lower));
}

std::string fold_letters(std::string_view word) {
  std::vector<utf8proc_int32_t> points;
  if (!code_points(word, &points)) return to_lower(word);
  return mapped(word, static_cast<utf8proc_option_t>(kNfc | UTF8PROC_CASEFOLD));
}

}  // namespace asr
