// SPDX-License-Identifier: Apache-2.0
// The lines of a text file as words between blanks, with line numbers for error messages. Used by the importers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace asr {

class TextLines {
 public:
  TextLines(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {}

  // Puts the words of the next line that has any and does not begin with `comment` into `words`; false at the end.
  bool next(std::vector<std::string_view> &words, std::string_view comment = "#");

  size_t line_number() const { return line_number_; }
  [[noreturn]] void fail_line(const char *what) const;  // "file:line: what"

  uint32_t number(std::string_view word, const char *what) const;  // of the current line; decimal, or fails

 private:
  std::string_view text_;
  std::string source_;
  size_t at_ = 0, line_number_ = 0;
};

}  // namespace asr
