// SPDX-License-Identifier: Apache-2.0
// TextLines splits a text file into lines of words between blanks, with line numbers for error messages. The importers use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace asr {

class TextLines {
 public:
  TextLines(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {}

  // Reads the next non-empty line that does not begin with `comment` into `words`; false at the end.
  bool next(std::vector<std::string_view> &words, std::string_view comment = "#");

  size_t line_number() const { return line_number_; }
  [[noreturn]] void fail_line(const char *what) const;  // throws "file:line: what"

  uint32_t number(std::string_view word, const char *what) const;  // a decimal number in the current line; throws otherwise

 private:
  std::string_view text_;
  std::string source_;
  size_t at_ = 0, line_number_ = 0;
};

}  // namespace asr
