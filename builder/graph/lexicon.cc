// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/lexicon.h"

#include <algorithm>
#include <map>

#include "builder/g2p/dictionary.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"

namespace asr {
namespace {

using WordsOf = std::map<std::vector<uint32_t>, std::vector<std::string>>;  // key: pronunciation

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

void collect(const Lexicon &lexicon, WordsOf *words_of) {
  for (const auto &[word, pronunciations] : lexicon.pronunciations_of) {
    for (const uint32_t index : pronunciations) (*words_of)[lexicon.pronunciations[index]].push_back(word);
  }
}

}  // namespace

Lexicon parse_sphinx_lexicon(const std::string &text, const std::string &source, const HmmSet &set, size_t *n_left_out) {
  std::unordered_map<std::string, uint32_t> phone_ids;
  for (uint32_t i = 0; i < set.phones.size(); ++i) phone_ids[set.phones[i].name] = i;
  WordsOf words_of;
  std::string first_problem;
  *n_left_out = 0;
  read_dictionary_lines(text, source, [&](const DictionaryLine &line) {
    std::vector<uint32_t> phones;
    for (const std::string &name : line.phones) {
      const auto phone = phone_ids.find(name);
      if (phone == phone_ids.end()) {
        ++*n_left_out;
        if (first_problem.empty()) first_problem = format("line %zu: the model has no phone '%s'", line.number, name.c_str());
        return;
      }
      phones.push_back(phone->second);
    }
    words_of[phones].push_back(line.word);
  });
  if (words_of.empty()) {
    fail(ASR_BAD_FILE, "%s: %s; give the dictionary made for this model", source.c_str(),
         first_problem.empty() ? "no words in it" : first_problem.c_str());
  }
  return numbered(words_of, source);
}

Lexicon read_sphinx_lexicon(const std::string &path, const HmmSet &set, size_t *n_left_out) {
  return parse_sphinx_lexicon(read_file(path), path, set, n_left_out);
}

void add_words(Lexicon *lexicon, const std::map<std::string, std::vector<std::vector<uint32_t>>> &words,
               const std::string &source) {
  if (words.empty()) return;
  WordsOf words_of;
  collect(*lexicon, &words_of);
  for (const auto &[word, pronunciations] : words) {
    for (const std::vector<uint32_t> &phones : pronunciations) words_of[phones].push_back(word);
  }
  *lexicon = numbered(words_of, source);
}

Lexicon merge(const Lexicon &first, const Lexicon &second, const std::string &source) {
  WordsOf words_of;
  collect(first, &words_of);
  collect(second, &words_of);
  return numbered(words_of, source);
}

Lexicon restricted(const Lexicon &lexicon, const std::vector<std::string> &words) {
  std::map<uint32_t, uint32_t> number_of;  // new numbers of the remaining pronunciations, in their order
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

LexiconStack LexiconStack::with(Lexicon added, const std::string &source) const {
  std::vector<std::string> words;
  for (const auto &[word, pronunciations] : added.pronunciations_of) words.push_back(word);
  merge(restricted(words), added, source);  // throws if a word has too many pronunciations
  LexiconStack stack = *this;
  auto top = std::make_shared<const Lexicon>(std::move(added));
  while (!stack.lexicons_.empty() && stack.lexicons_.back()->pronunciations_of.size() <= 2 * top->pronunciations_of.size()) {
    top = std::make_shared<const Lexicon>(merge(*stack.lexicons_.back(), *top, source));
    stack.lexicons_.pop_back();
  }
  stack.lexicons_.push_back(std::move(top));
  return stack;
}

bool LexiconStack::contains(const std::string &word) const {
  return std::any_of(lexicons_.begin(), lexicons_.end(), [&](const auto &lexicon) { return lexicon->contains(word); });
}

Lexicon LexiconStack::restricted(const std::vector<std::string> &words) const {
  Lexicon result;
  for (const auto &lexicon : lexicons_) result = merge(result, asr::restricted(*lexicon, words), "the lexicons");
  return result;
}

}  // namespace asr
