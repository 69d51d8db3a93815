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

// "\r\n" becomes "\n", and so does "\r" in a file without '\n'; a '\r' that ends the file goes.
void change_line_ends(std::string *text) {
  if (text->find('\r') == std::string::npos) return;
  if (text->find('\n') == std::string::npos) {
    std::replace(text->begin(), text->end(), '\r', '\n');
    return;
  }
  size_t size = 0;
  for (size_t i = 0; i < text->size(); ++i) {
    const bool ends_line = (*text)[i] == '\r' && (i + 1 == text->size() || (*text)[i + 1] == '\n');
    if (!ends_line) (*text)[size++] = (*text)[i];
  }
  text->resize(size);
}

}  // namespace

std::string read_text(const FileAt &place, const WantedText &wanted) {
  return text_of(read_file(place, wanted.most_bytes), place.path(), wanted);
}

std::string text_of(std::string bytes, const std::string &source, const WantedText &wanted) {
  std::string text = packing_of(bytes) == Packing::kNone ? std::move(bytes) : unpack(bytes, source, wanted.most_bytes);
  bytes.clear();
  text.erase(0, begin_of_text(text));
  check_format(text, source, wanted.what, wanted.taken);
  check_zero_bytes(text, source, wanted.what);
  change_line_ends(&text);
  return wanted.characters == Characters::kNormalised ? to_nfc(std::move(text)) : text;
}

std::string read_unpacked(const FileAt &place, size_t most_bytes) {
  std::string bytes = read_file(place, most_bytes);
  return packing_of(bytes) == Packing::kNone ? bytes : unpack(bytes, place.path(), most_bytes);
}

UnpackedFile::UnpackedFile(const std::string &path) : mapped_(path) {
  if (packing_of(bytes()) == Packing::kNone) return;
  unpacked_ = unpack(bytes(), path);
  mapped_ = MappedFile();
  is_packed_ = true;
}

}  // namespace asr
