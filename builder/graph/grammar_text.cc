// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/grammar_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "builder/g2p/dictionary.h"
#include "builder/graph/grammar.h"
#include "core/base/error.h"

namespace asr {

void check_grammar_text(const std::string &text, const std::string &source) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const std::optional<uint32_t> letter = next_letter(text, &at);
    if (letter && *letter != 0) continue;
    const auto place = text.begin() + static_cast<ptrdiff_t>(begin);
    const size_t line_end = begin == 0 ? std::string::npos : text.rfind('\n', begin - 1);
    const size_t column = line_end == std::string::npos ? begin + 1 : begin - line_end;
    fail(ASR_BAD_FILE, "%s: %s: %s", source.c_str(),
         shown({static_cast<uint32_t>(1 + std::count(text.begin(), place, '\n')), static_cast<uint32_t>(column)}).c_str(),
         letter ? "a zero byte; remove it" : "this is not UTF-8; convert the grammar");
  }
}

std::optional<double> parse_weight(const std::string &text) {
  double weight = 0;
  const char *const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, weight);
  const bool good = error == std::errc() && stop == end && weight >= 0 && weight <= std::numeric_limits<float>::max();
  return good ? std::optional<double>(weight) : std::nullopt;
}

}  // namespace asr
