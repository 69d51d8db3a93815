// SPDX-License-Identifier: Apache-2.0
#include "tools/csv.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr::tool {
namespace {

// Returns ',' if there is none.
char separator_of(const std::string &text) {
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == ',' || c == ';' || c == '\t') return c;
    if (c == '\n') break;
  }
  return ',';
}

class CsvReader {
 public:
  CsvReader(const std::string &text, const std::string &source)
      : text_(text), source_(source), separator_(separator_of(text)), ends_{separator_, '\n'} {}

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      CsvRow row{line_, {field()}};
      while (at_ < text_.size() && text_[at_] == separator_) {
        ++at_;
        row.fields.push_back(field());
      }
      if (row.fields.size() > 1 || !row.fields.front().empty()) rows.push_back(std::move(row));
      ++at_;  // the line end
      ++line_;
    }
    return rows;
  }

 private:
  const std::string &text_, &source_;
  const char separator_;
  const std::string ends_;  // of a field
  size_t at_ = 0, line_ = 1;

  // Returns a field, up to the separator or line end behind it.
  std::string field() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted();
    const size_t begin = at_;
    at_ = std::min(text_.find_first_of(ends_, at_), text_.size());
    return text_.substr(begin, at_ - begin);
  }

  std::string quoted() {
    std::string value;
    for (++at_;; ++at_) {
      const size_t quote = text_.find('"', at_);
      if (quote == std::string::npos) {
        fail(ASR_BAD_FILE, "%s: line %zu: has a quote without an end; double the quotes within a field", source_.c_str(),
             line_);
      }
      value.append(text_, at_, quote - at_);
      at_ = quote + 1;
      if (at_ == text_.size() || text_[at_] != '"') break;
      value += '"';
    }
    line_ += static_cast<size_t>(std::count(value.begin(), value.end(), '\n'));
    if (at_ < text_.size() && ends_.find(text_[at_]) == std::string::npos) {
      fail(ASR_BAD_FILE, "%s: line %zu: has text behind a quoted field; double the quotes within it", source_.c_str(), line_);
    }
    return value;
  }
};

}  // namespace

std::vector<CsvRow> parse_csv(const std::string &text, const std::string &source) { return CsvReader(text, source).rows(); }

}  // namespace asr::tool
