// SPDX-License-Identifier: Apache-2.0
// Reads and writes words.txt and phones.txt: one "symbol id" line per symbol.
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
  std::string_view symbol, label;  // label: the text after the number and a tab
  uint32_t id = 0;
};

// Parses "symbol id" and "symbol id<TAB>label"; false for any other line.
bool parse_line(std::string_view line, SymbolLine &out) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const size_t gap = line.find_first_of(kBlanks);
  if (gap == 0 || gap == std::string_view::npos) return false;
  out.symbol = line.substr(0, gap);
  const size_t begin = line.find_first_not_of(kBlanks, gap);
  if (begin == std::string_view::npos) return false;
  const auto [stop, error] = std::from_chars(line.data() + begin, line.data() + line.size(), out.id);
  if (error != std::errc()) return false;
  const std::string_view rest = line.substr(static_cast<size_t>(stop - line.data()));
  if (rest.find_first_not_of(kBlanks) == std::string_view::npos) return true;
  if (rest[0] != '\t') return false;
  out.label = rest.substr(1);
  return true;
}

constexpr std::pair<char, char> kEscapes[] = {{'\t', 't'}, {'\n', 'n'}, {'\r', 'r'}, {'\\', '\\'}};

std::string escaped(const std::string &text) {
  std::string out;
  for (const char c : text) {
    const auto *const found = std::find_if(std::begin(kEscapes), std::end(kEscapes), [c](auto e) { return e.first == c; });
    if (found != std::end(kEscapes)) {
      out += {'\\', found->second};
    } else {
      out += c;
    }
  }
  return out;
}

bool unescape(std::string_view text, std::string *out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      *out += text[i];
      continue;
    }
    const char code = ++i < text.size() ? text[i] : '\0';
    const auto *const found =
        std::find_if(std::begin(kEscapes), std::end(kEscapes), [code](auto e) { return e.second == code; });
    if (found == std::end(kEscapes)) return false;
    *out += found->first;
  }
  return true;
}

// Parses "rule" or "rule<TAB>tags".
bool parse_label(std::string_view text, WordLabel *label) {
  const size_t tab = std::min(text.find('\t'), text.size());
  const std::string_view tags = text.substr(std::min(tab + 1, text.size()));
  return tags.find('\t') == std::string_view::npos && unescape(text.substr(0, tab), &label->rule) &&
         unescape(tags, &label->tags);
}

}  // namespace

std::vector<std::string> read_symbols(const std::string &path) { return parse_symbols(read_file(path), path); }

std::vector<std::string> parse_symbols(std::string_view text, const std::string &path) { return parse_words(text, path).words; }

WordTable parse_words(std::string_view text, const std::string &path) {
  WordTable table;
  std::vector<std::string> &words = table.words;
  size_t line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    SymbolLine entry;
    if (!parse_line(line, entry) || line.find('\0') != std::string_view::npos) {
      fail(ASR_BAD_FILE, "%s:%zu: is not a symbol and its number; name a table of both, such as words.txt", path.c_str(),
           line_number);
    }
    if (entry.id != words.size()) {
      fail(ASR_BAD_FILE, "%s:%zu: has the number %u where %zu follows", path.c_str(), line_number, entry.id, words.size());
    }
    words.emplace_back(entry.symbol);
    if (entry.label.empty()) continue;
    table.labels.resize(words.size());
    if (!parse_label(entry.label, &table.labels.back())) {
      fail(ASR_BAD_FILE, "%s:%zu: what follows the number is not a rule and tags", path.c_str(), line_number);
    }
  }
  if (words.empty() || words[0] != "<eps>") fail(ASR_BAD_FILE, "%s: does not begin with \"<eps> 0\"", path.c_str());
  if (!table.labels.empty()) table.labels.resize(words.size());
  return table;
}

std::string symbols_text(const std::vector<std::string> &symbols, const std::string &path) {
  return words_text({symbols, {}}, path);
}

std::string words_text(const WordTable &table, const std::string &path) {
  const auto &[words, labels] = table;
  std::string text;
  for (size_t id = 0; id < words.size(); ++id) {
    if (words[id].empty() || words[id].find_first_of(std::string(" \t\r\n\0", 5)) != std::string::npos) {
      fail(ASR_INVALID_ARGUMENT, "%s: symbol %zu (\"%s\") is empty or has blanks", path.c_str(), id, words[id].c_str());
    }
    text += format("%s %zu", words[id].c_str(), id);
    const WordLabel label = id < labels.size() ? labels[id] : WordLabel{};
    if (!label.rule.empty() || !label.tags.empty()) text += "\t" + escaped(label.rule);
    if (!label.tags.empty()) text += "\t" + escaped(label.tags);
    text += '\n';
  }
  return text;
}

void write_symbols(const std::vector<std::string> &symbols, const FileAt &place) { write_words({symbols, {}}, place); }

void write_words(const WordTable &table, const FileAt &place) {
  OutputFile file(place);
  file.write(words_text(table, place.path()));
  file.commit();
}

}  // namespace asr
