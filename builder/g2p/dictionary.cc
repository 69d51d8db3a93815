// SPDX-License-Identifier: Apache-2.0
#include "builder/g2p/dictionary.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/model/hmm_set.h"

namespace asr {
namespace {

using Fields = std::vector<std::string_view>;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

void split(std::string_view line, Fields *fields) {
  fields->clear();
  for (size_t at = 0; at < line.size();) {
    const size_t begin = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    if (at > begin) fields->push_back(line.substr(begin, at - begin));
    while (at < line.size() && is_blank(line[at])) ++at;
  }
}

// Removes a comment: it begins with a '#' that stands by itself or, after the first phone, with any '#', as at the ends of
// cmudict's lines. A word may begin with '#', because dictionaries have "#hash-mark".
void remove_comment(Fields *fields) {
  for (size_t i = 0; i < fields->size(); ++i) {
    if ((*fields)[i] == "#" || (i >= 2 && (*fields)[i][0] == '#')) fields->resize(i);
  }
}

// Returns "word" for its variant "word(2)".
std::string base_form(std::string_view word) {
  const size_t open = word.rfind('(');
  return std::string(word.back() == ')' && open != std::string_view::npos && open > 0 ? word.substr(0, open) : word);
}

// Returns the value of a decimal number.
std::optional<double> number_of(std::string_view field) {
  double value = 0;
  const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool is_number = error == std::errc() && stop == field.data() + field.size() && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

// Returns true if the word is followed by HTK's "[output]".
bool has_output(const Fields &fields, const std::function<bool(const std::string &name)> &is_phone) {
  return fields.size() > 2 && fields[1].front() == '[' && fields[1].back() == ']' && fields[1].size() > 1 &&
         !(is_phone && is_phone(std::string(fields[1])));
}

// Returns true if all of a word's letters are digits.
bool is_category(std::string_view word) { return word.find_first_not_of("0123456789") == std::string_view::npos; }

// Calls `use` with the number and the fields of each line that has some.
void for_each_line(const std::string &text, const std::function<void(size_t number, const Fields &fields)> &use) {
  Fields fields;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.substr(0, 2) == "##" || line.substr(0, 2) == ";;") continue;
    split(line, &fields);
    remove_comment(&fields);
    if (!fields.empty()) use(number, fields);
  }
}

// Returns true if the phone ends as Kaldi's in this position of a word do.
bool has_ending(const std::string &phone, WordPosition position) {
  const std::string_view ending = kPositionEndings[static_cast<size_t>(position)];
  return phone.size() > ending.size() && std::string_view(phone).substr(phone.size() - ending.size()) == ending;
}

// Takes the endings of positions off all phones, if every word of several phones has them. Words of one phone may have none:
// Kaldi's silences (<eps> SIL).
bool take_endings_off(std::vector<DictionaryLine> *lines) {
  bool found = false;
  for (const DictionaryLine &line : *lines) {
    const size_t n = line.phones.size();
    for (size_t i = 0; i < n && n > 1; ++i) {
      if (!has_ending(line.phones[i], position_in_word(i, n))) return false;
      found = true;
    }
  }
  if (!found) return false;
  for (DictionaryLine &line : *lines) {
    for (size_t i = 0; i < line.phones.size(); ++i) {
      if (has_ending(line.phones[i], position_in_word(i, line.phones.size()))) line.phones[i].resize(line.phones[i].size() - 2);
    }
  }
  return true;
}

}  // namespace

void read_dictionary_lines(const std::string &text, const std::string &source,
                           const std::function<void(const DictionaryLine &line)> &use,
                           const std::function<bool(const std::string &name)> &is_phone) {
  bool all_have_numbers = true, all_are_categories = true, has_first_category = false;
  for_each_line(text, [&](size_t, const Fields &fields) {
    all_are_categories = all_are_categories && is_category(fields[0]) && has_output(fields, is_phone) &&
                         fields[1].substr(1, fields[1].size() - 2) != fields[0];
    has_first_category = has_first_category || fields[0] == "0";
    const size_t at = has_output(fields, is_phone) ? 2 : 1;
    all_have_numbers = all_have_numbers && fields.size() > at + 1 && number_of(fields[at]);
  });
  bool is_first = true;
  for_each_line(text, [&](size_t number, const Fields &fields) {
    if (std::exchange(is_first, false) && all_are_categories && has_first_category) {
      fail(
          ASR_BAD_FILE,
          "%s: has a number and an output in every line, as Julius's dictionaries of grammars, whose numbers are categories of "
          "words; give lines of a word and its phones",
          source.c_str());
    }
    const auto refuse = [&](const std::string &why) {
      fail(ASR_BAD_FILE, "%s: line %zu: '%.40s' %s", source.c_str(), number, std::string(fields[0]).c_str(), why.c_str());
    };
    DictionaryLine line;
    line.number = number;
    line.word = base_form(fields[0]);
    size_t at = 1;
    if (has_output(fields, is_phone)) {
      line.output = fields[at].substr(1, fields[at].size() - 2);
      if (line.output == line.word) line.output.reset();
      ++at;
    }
    const auto is_column = [&](std::string_view field) {
      return number_of(field) && (all_have_numbers || field.find('.') != std::string_view::npos) &&
             !(is_phone && is_phone(std::string(field)));
    };
    size_t n_columns = 0;
    while (at + n_columns < fields.size() && is_column(fields[at + n_columns])) ++n_columns;
    if (n_columns > 0) {
      line.probability = *number_of(fields[at]);
      if (!(line.probability > 0 && line.probability <= 1)) {
        refuse("has the probability " + std::string(fields[at]) + "; it must be above 0 and at most 1");
      }
      if (n_columns != 1 && n_columns != 4) {
        refuse(format("has %zu numbers before its phones; give its probability alone, or with three about silence", n_columns));
      }
      line.has_silence = n_columns == 4;
    }
    line.phones.assign(fields.begin() + static_cast<std::ptrdiff_t>(at + n_columns), fields.end());
    if (line.phones.empty()) refuse("has no phones; a line is a word and its phones");
    if (line.phones.size() > kMaxWordPhones) {
      refuse(format("has %zu phones; a pronunciation can have up to %zu", line.phones.size(), kMaxWordPhones));
    }
    use(line);
  });
}

Pronunciations parse_pronunciations(const std::string &text, const std::string &source) {
  std::map<std::string, uint32_t> phones;
  std::vector<DictionaryLine> lines;
  read_dictionary_lines(text, source, [&](const DictionaryLine &line) { lines.push_back(line); });
  if (lines.empty()) fail(ASR_BAD_FILE, "%s: no words in it; give a dictionary of words and their phones", source.c_str());
  Pronunciations out;
  out.had_positions = take_endings_off(&lines);
  for (const DictionaryLine &line : lines) {
    for (const std::string &phone : line.phones) phones.emplace(phone, 0);
  }
  for (auto &[phone, number] : phones) {
    number = static_cast<uint32_t>(out.phones.size());
    out.phones.push_back(phone);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto &a, const auto &b) { return a.word < b.word; });
  for (const DictionaryLine &line : lines) {
    std::vector<uint32_t> pronunciation;
    for (const std::string &phone : line.phones) pronunciation.push_back(phones[phone]);
    if (out.words.empty() || out.words.back().word != line.word) out.words.push_back({line.word, {}});
    auto &of_word = out.words.back().pronunciations;
    if (of_word.size() >= kMaxPronunciations) {
      fail(ASR_BAD_FILE, "%s: '%.40s' has more than %zu pronunciations; leave some out", source.c_str(), line.word.c_str(),
           kMaxPronunciations);
    }
    if (std::find(of_word.begin(), of_word.end(), pronunciation) == of_word.end()) of_word.push_back(std::move(pronunciation));
  }
  return out;
}

std::optional<uint32_t> next_letter(std::string_view text, size_t *at) {
  const auto first = static_cast<unsigned char>(text[(*at)++]);
  const int n_more = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : 3;
  uint32_t letter = n_more == 0 ? first : first & (0x3fu >> n_more);
  bool valid = first < 0x80 || (first >= 0xc2 && first < 0xf5);
  for (int i = 0; i < n_more && valid; ++i) {
    valid = *at < text.size() && (static_cast<unsigned char>(text[*at]) & 0xc0) == 0x80;
    if (valid) letter = letter << 6 | (static_cast<unsigned char>(text[(*at)++]) & 0x3fu);
  }
  constexpr uint32_t kMin[] = {0, 0x80, 0x800, 0x10000};
  if (!valid || letter < kMin[n_more] || letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000)) return std::nullopt;
  return letter;
}

std::vector<uint32_t> letters_of(std::string_view word, const std::string &source) {
  std::vector<uint32_t> letters;
  for (size_t at = 0; at < word.size();) {
    const std::optional<uint32_t> letter = next_letter(word, &at);
    if (!letter) {
      fail(ASR_BAD_FILE, "%s: '%.*s' is not UTF-8; convert the text", source.c_str(),
           static_cast<int>(std::min<size_t>(word.size(), 40)), word.data());
    }
    letters.push_back(*letter);
  }
  return letters;
}

std::string letter_text(uint32_t letter) {
  if (letter < 0x80) return std::string(1, static_cast<char>(letter));
  const int n_more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
  std::string text(1, static_cast<char>((0xff00u >> (n_more + 1) & 0xff) | letter >> (6 * n_more)));
  for (int i = n_more - 1; i >= 0; --i) text += static_cast<char>(0x80 | (letter >> (6 * i) & 0x3f));
  return text;
}

}  // namespace asr
