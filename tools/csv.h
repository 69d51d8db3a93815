// SPDX-License-Identifier: Apache-2.0
// Tables in text (RFC 4180, and with semicolons or tabs), in which `senone align` finds recordings and their texts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace asr::tool {

struct CsvRow {
  size_t line;  // where it begins, from 1
  std::vector<std::string> fields;
};

// Returns the rows, without empty lines. The separator is the first comma, semicolon or tab of the text outside quotes. A field
// in double quotes may have separators, line ends and doubled quotes. `source` names the text in errors: ASR_BAD_FILE if a
// quote has no end, or more than a separator follows it.
std::vector<CsvRow> parse_csv(const std::string &text, const std::string &source);

}  // namespace asr::tool
