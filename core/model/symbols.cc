// SPDX-License-Identifier: Apache-2.0
// words.txt and phones.txt: one "symbol id" line for each symbol.
#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/model/bundle.h"

namespace asr {
namespace {

constexpr std::string_view kBlanks = " \t\r";

struct SymbolLine {
  std::string_view symbol;
  uint32_t id = 0;
};

// Parses "symbol id"; false if the line is anything else.
bool parse_line(std::string_view line, SymbolLine &out) {
  const size_t end = line.find_last_not_of(kBlanks);
  if (end == std::string_view::npos) return false;
  line = line.substr(0, end + 1);
  const size_t gap = line.find_first_of(kBlanks);
  if (gap == 0 || gap == std::string_view::npos) return false;
  out.symbol = line.substr(0, gap);
  const std::string_view number = line.substr(line.find_first_not_of(kBlanks, gap));
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), out.id);
  return error == std::errc() && stop == number.data() + number.size();
}

}  // namespace

std::vector<std::string> read_symbols(const std::string &path) { return parse_symbols(read_file(path), path); }

std::vector<std::string> parse_symbols(std::string_view text, const std::string &path) {
  std::vector<std::string> symbols;
  size_t line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    SymbolLine entry;
    if (!parse_line(line, entry) || line.find('\0') != std::string_view::npos) {
      fail(ASR_BAD_FILE, "%s:%zu: is not a symbol and its number", path.c_str(), line_number);
    }
    if (entry.id != symbols.size()) {
      fail(ASR_BAD_FILE, "%s:%zu: has the number %u where %zu follows", path.c_str(), line_number, entry.id, symbols.size());
    }
    symbols.emplace_back(entry.symbol);
  }
  if (symbols.empty() || symbols[0] != "<eps>") fail(ASR_BAD_FILE, "%s: does not begin with \"<eps> 0\"", path.c_str());
  return symbols;
}

std::string symbols_text(const std::vector<std::string> &symbols, const std::string &path) {
  std::string text;
  for (size_t id = 0; id < symbols.size(); ++id) {
    if (symbols[id].empty() || symbols[id].find_first_of(std::string(" \t\r\n\0", 5)) != std::string::npos) {
      fail(ASR_INVALID_ARGUMENT, "%s: symbol %zu (\"%s\") is empty or has blanks", path.c_str(), id, symbols[id].c_str());
    }
    text += format("%s %zu\n", symbols[id].c_str(), id);
  }
  return text;
}

void write_symbols(const std::vector<std::string> &symbols, const std::string &path) {
  OutputFile file(path);
  file.write(symbols_text(symbols, path));
  file.commit();
}

}  // namespace asr
