// SPDX-License-Identifier: Apache-2.0
#include "builder/text/text_file.h"

#include <algorithm>

#include "builder/text/unicode.h"
#include "builder/text/unpack.h"
#include "core/base/error.h"

namespace asr {
namespace {

// Text in UTF-16 without a mark has a zero byte beside each letter of ASCII.
const char *utf16_without_mark(const std::string &text) {
  const size_t n = std::min<size_t>(text.size() / 2, 32);
  size_t n_even = 0, n_odd = 0;
  for (size_t i = 0; i < n; ++i) {
    n_even += text[2 * i] == '\0';
    n_odd += text[2 * i + 1] == '\0';
  }
  if (n == 0 || std::max(n_even, n_odd) * 2 < n || std::min(n_even, n_odd) > 0) return nullptr;
  return n_even > 0 ? "UTF-16BE" : "UTF-16LE";
}

void check_zero_bytes(const std::string &text, const std::string &source, const char *wanted) {
  const size_t zero = text.find('\0');
  if (zero == std::string::npos) return;
  if (const char *const encoding = utf16_without_mark(text)) {
    fail(ASR_BAD_FILE, "%s: is text in UTF-16; convert it: iconv -f %s -t UTF-8 FILE >NEW", source.c_str(), encoding);
  }
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
  fail(ASR_BAD_FILE, "%s: line %lld: has a zero byte, which text has not; name %s, or remove the byte", source.c_str(),
       static_cast<long long>(line), wanted);
}

// The '\r' before a '\n' and at the end of the file go; in a file without '\n' they are the ends of lines themselves.
void change_line_ends(std::string *text) {
  if (text->find('\r') == std::string::npos) return;
  if (text->find('\n') == std::string::npos) {
    std::replace(text->begin(), text->end(), '\r', '\n');
    return;
  }
  std::string changed;
  changed.reserve(text->size());
  for (size_t at = 0; at < text->size();) {
    const size_t begin = std::min(text->find('\r', at), text->size());
    const size_t end = std::min(text->find_first_not_of('\r', begin), text->size());
    const bool is_line_end = end == text->size() || (*text)[end] == '\n';
    changed.append(*text, at, (is_line_end ? begin : end) - at);
    at = end;
  }
  *text = std::move(changed);
}

}  // namespace

std::string read_text(const FileAt &place, const WantedText &wanted) {
  return text_of(unpack(read_file(place, wanted.max_bytes), place.path(), wanted.max_bytes), place.path(), wanted);
}

std::string text_of(std::string text, const std::string &source, const WantedText &wanted) {
  while (begin_of_text(text) > 0) text.erase(0, begin_of_text(text));  // files that were joined may have several
  check_format(text, source, wanted.what, wanted.taken);
  check_zero_bytes(text, source, wanted.what);
  change_line_ends(&text);
  return wanted.characters == Characters::kNormalised ? to_nfc(std::move(text)) : text;
}

std::string read_unpacked(const FileAt &place, const char *wanted, std::initializer_list<Format> taken) {
  std::string bytes = unpack(read_file(place), place.path());
  bytes.erase(0, begin_of_text(bytes));
  check_format(bytes, place.path(), wanted, taken);
  if (bytes.find('\0') == std::string::npos) change_line_ends(&bytes);
  return bytes;
}

UnpackedFile::UnpackedFile(const std::string &path) : mapped_(path) {
  if (packing_of(bytes()) == Packing::kNone) return;
  unpacked_ = unpack(std::string(bytes()), path);
  mapped_ = MappedFile();
  is_packed_ = true;
}

std::string UnpackedFile::take() { return is_packed_ ? std::move(unpacked_) : std::string(bytes()); }

}  // namespace asr
