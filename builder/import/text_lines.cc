// SPDX-License-Identifier: Apache-2.0
#include "builder/import/text_lines.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"

namespace asr {

bool TextLines::next(std::vector<std::string_view> &words, std::string_view comment) {
  constexpr std::string_view kBlanks = " \t\r\f\v";
  while (at_ < text_.size()) {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end + 1;
    ++line_number_;
    words.clear();
    for (size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
      const size_t stop = std::min(line.find_first_of(kBlanks, begin), line.size());
      words.push_back(line.substr(begin, stop - begin));
      begin = line.find_first_not_of(kBlanks, stop);
    }
    if (!words.empty() && words[0].substr(0, comment.size()) != comment) return true;
  }
  return false;
}

void TextLines::fail_line(const char *what) const { fail(ASR_BAD_FILE, "%s:%zu: %s", source_.c_str(), line_number_, what); }

uint32_t TextLines::number(std::string_view word, const char *what) const {
  uint32_t value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || stop != word.data() + word.size()) {
    fail(ASR_BAD_FILE, "%s:%zu: %s is \"%s\", not a number", source_.c_str(), line_number_, what, std::string(word).c_str());
  }
  return value;
}

}  // namespace asr
