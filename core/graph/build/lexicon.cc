// SPDX-License-Identifier: Apache-2.0
#include "core/graph/build/lexicon.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"

namespace asr {
namespace {

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields;
  for (size_t at = line.find_first_not_of(" \t\r"); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    fields.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t\r", end);
  }
  return fields;
}

// "word(2)" is a variant of "word".
std::string base_form(const std::string &word) {
  const size_t open = word.rfind('(');
  return word.back() == ')' && open != std::string::npos && open > 0 ? word.substr(0, open) : word;
}

using WordsOf = std::map<std::vector<uint32_t>, std::vector<std::string>>;  // by pronunciation

// Numbers the pronunciations.
Lexicon numbered(const WordsOf &words_of, const std::string &source) {
  Lexicon lexicon;
  for (const auto &[phones, words] : words_of) {
    const uint32_t index = static_cast<uint32_t>(lexicon.pronunciations.size());
    lexicon.pronunciations.push_back(phones);
    for (const std::string &word : words) {
      std::vector<uint32_t> &of_word = lexicon.pronunciations_of[word];
      if (of_word.empty() || of_word.back() != index) of_word.push_back(index);
      if (of_word.size() > kMostPronunciations) {
        fail(ASR_BAD_FILE, "%s: '%.40s' has more than %zu pronunciations; leave some out", source.c_str(), word.c_str(),
             kMostPronunciations);
      }
    }
  }
  return lexicon;
}

}  // namespace

Lexicon parse_sphinx_lexicon(const std::string &text, const std::string &source, const HmmSet &set, size_t *n_left_out) {
  std::unordered_map<std::string, uint32_t> phone_ids;
  for (uint32_t i = 0; i < set.phones.size(); ++i) phone_ids[set.phones[i].name] = i;
  WordsOf words_of;
  std::string first_problem;
  size_t line_number = 0;
  *n_left_out = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++line_number;
    if (line.substr(0, 2) == "##" || line.substr(0, 2) == ";;") continue;
    const std::vector<std::string> fields = split(line);
    if (fields.empty()) continue;
    if (fields.size() == 1) {
      fail(ASR_BAD_FILE, "%s: line %zu: '%s' has no phones; a line is a word and its phones", source.c_str(), line_number,
           fields[0].c_str());
    }
    if (fields.size() - 1 > kMostWordPhones) {
      fail(ASR_BAD_FILE, "%s: line %zu: '%.40s' has %zu phones; a pronunciation can have up to %zu", source.c_str(),
           line_number, fields[0].c_str(), fields.size() - 1, kMostWordPhones);
    }
    std::vector<uint32_t> phones;
    for (size_t i = 1; i < fields.size(); ++i) {
      const auto phone = phone_ids.find(fields[i]);
      if (phone != phone_ids.end()) {
        phones.push_back(phone->second);
        continue;
      }
      ++*n_left_out;
      if (first_problem.empty())
        first_problem = format("line %zu: the model has no phone '%s'", line_number, fields[i].c_str());
      phones.clear();
      break;
    }
    if (!phones.empty()) words_of[phones].push_back(base_form(fields[0]));
  }
  if (words_of.empty()) {
    fail(ASR_BAD_FILE, "%s: %s; give the dictionary made for this model", source.c_str(),
         first_problem.empty() ? "no words in it" : first_problem.c_str());
  }
  return numbered(words_of, source);
}

Lexicon merge(const Lexicon &first, const Lexicon &second, const std::string &source) {
  WordsOf words_of;
  for (const Lexicon *lexicon : {&first, &second}) {
    for (const auto &[word, pronunciations] : lexicon->pronunciations_of) {
      for (const uint32_t index : pronunciations) words_of[lexicon->pronunciations[index]].push_back(word);
    }
  }
  return numbered(words_of, source);
}

Lexicon restricted(const Lexicon &lexicon, const std::vector<std::string> &words) {
  std::map<uint32_t, uint32_t> number_of;  // of the pronunciations that stay, in their order
  Lexicon result;
  for (const std::string &word : words) {
    const auto found = lexicon.pronunciations_of.find(word);
    if (found == lexicon.pronunciations_of.end()) continue;
    result.pronunciations_of.insert(*found);
    for (const uint32_t index : found->second) number_of[index] = 0;
  }
  for (auto &[index, number] : number_of) {
    number = static_cast<uint32_t>(result.pronunciations.size());
    result.pronunciations.push_back(lexicon.pronunciations[index]);
  }
  for (auto &[word, pronunciations] : result.pronunciations_of) {
    for (uint32_t &index : pronunciations) index = number_of[index];
  }
  return result;
}

Lexicon read_sphinx_lexicon(const std::string &path, const HmmSet &set, size_t *n_left_out) {
  return parse_sphinx_lexicon(read_file(path), path, set, n_left_out);
}

}  // namespace asr
