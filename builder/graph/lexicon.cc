// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/lexicon.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "builder/g2p/dictionary.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

struct PronouncedAs {
  std::string word;
  float cost = 0;  // -ln of the pronunciation's probability
  std::optional<std::string> output = {};
};
using WordsOf = std::map<std::vector<uint32_t>, std::vector<PronouncedAs>>;  // key: pronunciation

// Sets the cost of the last of a word's n pronunciations; of one that is there twice the least counts.
void set_cost(Lexicon *lexicon, const std::string &word, size_t n, bool is_new, float cost) {
  const auto found = lexicon->costs_of.find(word);
  if (found == lexicon->costs_of.end() && (cost == 0 || !is_new)) return;  // costs of 0 are not kept
  std::vector<float> &costs = lexicon->costs_of[word];
  costs.resize(n, 0);
  costs.back() = is_new ? cost : std::min(costs.back(), cost);
}

// Sets the output of the last of a word's n pronunciations; of one that is there twice the first counts.
void set_output(Lexicon *lexicon, const std::string &word, size_t n, bool is_new, const std::optional<std::string> &output) {
  if (!is_new || (!output && lexicon->outputs_of.count(word) == 0)) return;
  std::vector<std::string> &outputs = lexicon->outputs_of[word];
  outputs.resize(n, word);
  if (output) outputs.back() = *output;
}

// Numbers the pronunciations.
Lexicon numbered(const WordsOf &words_of, const std::string &source) {
  Lexicon lexicon;
  for (const auto &[phones, words] : words_of) {
    const uint32_t index = static_cast<uint32_t>(lexicon.pronunciations.size());
    lexicon.pronunciations.push_back(phones);
    for (const auto &[word, cost, output] : words) {
      std::vector<uint32_t> &of_word = lexicon.pronunciations_of[word];
      const bool is_new = of_word.empty() || of_word.back() != index;
      if (is_new) of_word.push_back(index);
      set_cost(&lexicon, word, of_word.size(), is_new, cost);
      set_output(&lexicon, word, of_word.size(), is_new, output);
      if (of_word.size() > kMaxPronunciations) {
        fail(ASR_BAD_FILE, "%s: '%.40s' has more than %zu pronunciations; leave some out", source.c_str(), word.c_str(),
             kMaxPronunciations);
      }
    }
  }
  return lexicon;
}

void collect(const Lexicon &lexicon, WordsOf *words_of) {
  for (const auto &[word, pronunciations] : lexicon.pronunciations_of) {
    const auto costs = lexicon.costs_of.find(word);
    const auto outputs = lexicon.outputs_of.find(word);
    for (size_t i = 0; i < pronunciations.size(); ++i) {
      PronouncedAs as{word};
      if (costs != lexicon.costs_of.end()) as.cost = costs->second[i];
      if (outputs != lexicon.outputs_of.end()) as.output = outputs->second[i];
      (*words_of)[lexicon.pronunciations[pronunciations[i]]].push_back(std::move(as));
    }
  }
}

// The names by which dictionaries call a model's phones: their own, and those with Kaldi's endings of word positions.
class PhoneNames {
 public:
  struct Named {
    uint32_t phone;
    uint8_t position;  // kAnyPosition: the name tells none
  };

  explicit PhoneNames(const HmmSet &set) {
    for (uint32_t i = 0; i < set.phones.size(); ++i) {
      named_[set.phones[i].name] = {i, kAnyPosition};
      for (uint8_t position = 0; position < 4; ++position) exists_.push_back(set.has_position(i, WordPosition(position)));
    }
    for (const PhoneContexts &contexts : set.phone_contexts) {
      if (contexts.position == kAnyPosition) continue;
      named_.emplace(set.phones[contexts.base].name + kPositionEndings[contexts.position],
                     Named{contexts.base, contexts.position});
    }
  }

  const Named *find(const std::string &name) const {
    const auto found = named_.find(name);
    return found == named_.end() ? nullptr : &found->second;
  }

  bool has(uint32_t phone, WordPosition position) const { return exists_[4 * phone + static_cast<size_t>(position)]; }

 private:
  std::vector<bool> exists_;  // [4 * phone + position]
  std::unordered_map<std::string, Named> named_;
};

// Throws if the name of a phone says another position than the phone has in the word.
void check_position(const PhoneNames::Named &named, size_t i, const DictionaryLine &line, const std::string &source) {
  const auto position = static_cast<uint8_t>(position_in_word(i, line.phones.size()));
  if (named.position == kAnyPosition || named.position == position) return;
  const std::string &name = line.phones[i];
  fail(ASR_BAD_FILE,
       "%s: line %zu: '%.40s' has %s as phone %zu of %zu, where it must be %s; first phones end in _B, last in _E, those "
       "between "
       "in _I, single ones in _S, or none has an ending",
       source.c_str(), line.number, line.word.c_str(), name.c_str(), i + 1, line.phones.size(),
       (name.substr(0, name.size() - 2) + kPositionEndings[position]).c_str());
}

float cost_of(const DictionaryLine &line) { return static_cast<float>(-std::log(line.probability) + 0.0); }

struct LinesRead {
  std::map<std::string, LeftOut> left_out;
  size_t n_left_out = 0, n_with_silence = 0;
};

// Calls `add` for each pronunciation whose phones the model has. Throws if there is none.
LinesRead read_pronunciations(const std::string &text, const std::string &source, const HmmSet &set,
                              const std::function<void(const DictionaryLine &, const std::vector<uint32_t> &phones)> &add) {
  const PhoneNames names(set);
  LinesRead read;
  const LeftOut *first = nullptr;
  bool is_empty = true;
  std::vector<uint32_t> phones;
  read_dictionary_lines(
      text, source,
      [&](const DictionaryLine &line) {
        phones.clear();
        const auto leave_out = [&](const std::string &phone) {
          ++read.n_left_out;
          const auto added = read.left_out.emplace(line.word, LeftOut{line.number, phone}).first;
          if (first == nullptr) first = &added->second;
        };
        for (size_t i = 0; i < line.phones.size(); ++i) {
          const PhoneNames::Named *const named = names.find(line.phones[i]);
          if (named == nullptr) return leave_out(line.phones[i]);
          check_position(*named, i, line, source);
          const WordPosition position = position_in_word(i, line.phones.size());
          if (!names.has(named->phone, position)) {
            return leave_out(set.phones[named->phone].name + kPositionEndings[static_cast<size_t>(position)]);
          }
          phones.push_back(named->phone);
        }
        add(line, phones);
        is_empty = false;
        read.n_with_silence += line.has_silence;
      },
      [&](const std::string &name) { return names.find(name) != nullptr; });
  if (is_empty) {
    fail(ASR_BAD_FILE, "%s: %s; give the dictionary made for this model", source.c_str(),
         first == nullptr ? "no words in it" : first->why().c_str());
  }
  return read;
}

}  // namespace

std::string LeftOut::why() const { return format("line %zu has the phone '%s', which the model lacks", line, phone.c_str()); }

Lexicon parse_sphinx_lexicon(const std::string &text, const std::string &source, const HmmSet &set, size_t *n_left_out) {
  WordsOf words_of;
  LinesRead read = read_pronunciations(text, source, set, [&](const DictionaryLine &line, const std::vector<uint32_t> &phones) {
    words_of[phones].push_back({line.word, cost_of(line), line.output});
  });
  *n_left_out = read.n_left_out;
  Lexicon lexicon = numbered(words_of, source);
  lexicon.left_out = std::move(read.left_out);
  if (read.n_with_silence > 0) {
    lexicon.notes.push_back(
        format("%s: the probabilities of silence at %zu pronunciations are not used; the graph has one for all words",
               source.c_str(), read.n_with_silence));
  }
  return lexicon;
}

PackedLexicon::PackedLexicon(const std::string &text, const std::string &source, const HmmSet &set) : source_(source) {
  LinesRead read = read_pronunciations(text, source, set, [&](const DictionaryLine &line, const std::vector<uint32_t> &phones) {
    const auto first = static_cast<uint32_t>(phones_.size());
    pronunciations_.push_back(
        {static_cast<uint32_t>(words_.size()), first, static_cast<uint32_t>(phones.size()), cost_of(line)});
    words_.append(line.word.c_str(), line.word.size() + 1);
    phones_.insert(phones_.end(), phones.begin(), phones.end());
    if (line.output) outputs_[first] = *line.output;
  });
  left_out_ = std::move(read.left_out);
  words_.shrink_to_fit();
  phones_.shrink_to_fit();
  pronunciations_.shrink_to_fit();
  const auto is_before = [this](const Pronunciation &a, const Pronunciation &b) { return strcmp(word_of(a), word_of(b)) < 0; };
  if (std::is_sorted(pronunciations_.begin(), pronunciations_.end(), is_before)) return;
  std::stable_sort(pronunciations_.begin(), pronunciations_.end(), is_before);
}

PackedLexicon::Iterator PackedLexicon::begin_of(const std::string &word) const {
  return std::lower_bound(pronunciations_.begin(), pronunciations_.end(), word,
                          [this](const Pronunciation &a, const std::string &b) { return word_of(a) < b; });
}

PackedLexicon::Iterator PackedLexicon::end_of(const std::string &word) const {
  return std::upper_bound(pronunciations_.begin(), pronunciations_.end(), word,
                          [this](const std::string &a, const Pronunciation &b) { return a < word_of(b); });
}

const LeftOut *PackedLexicon::left_out(const std::string &word) const {
  const auto found = left_out_.find(word);
  return found == left_out_.end() ? nullptr : &found->second;
}

Lexicon PackedLexicon::restricted(const std::vector<std::string> &words) const {
  WordsOf words_of;
  const std::set<std::string> distinct(words.begin(), words.end());
  for (const std::string &word : distinct) {
    for (Iterator at = begin_of(word), end = end_of(word); at != end; ++at) {
      PronouncedAs as{word, at->cost};
      const auto output = outputs_.find(at->first);
      if (output != outputs_.end()) as.output = output->second;
      const auto first = phones_.begin() + at->first;
      words_of[{first, first + at->n}].push_back(std::move(as));
    }
  }
  return numbered(words_of, source_);
}

Lexicon read_sphinx_lexicon(const std::string &path, const HmmSet &set, size_t *n_left_out) {
  return parse_sphinx_lexicon(read_text(path, {"a dictionary"}), path, set, n_left_out);
}

std::string list_left_out(const Lexicon &lexicon, size_t n_left_out, const std::string &source) {
  constexpr size_t kMaxListed = 5;
  std::vector<std::pair<size_t, std::string>> listed;  // by line
  for (const auto &[word, left_out] : lexicon.left_out) listed.emplace_back(left_out.line, word);
  std::sort(listed.begin(), listed.end());
  std::string list;
  for (size_t i = 0; i < std::min(listed.size(), kMaxListed); ++i) {
    const std::string &word = listed[i].second;
    list += format("%s'%.40s' (%s)", i > 0 ? ", " : "", word.c_str(), lexicon.left_out.at(word).why().c_str());
  }
  if (listed.size() > kMaxListed) list += ", ...";
  return format("%zu pronunciations of %s were left out: %s", n_left_out, source.c_str(), list.c_str());
}

void add_words(Lexicon *lexicon, const std::map<std::string, std::vector<std::vector<uint32_t>>> &words,
               const std::string &source) {
  if (words.empty()) return;
  WordsOf words_of;
  collect(*lexicon, &words_of);
  for (const auto &[word, pronunciations] : words) {
    for (const std::vector<uint32_t> &phones : pronunciations) words_of[phones].push_back({word});
  }
  Lexicon all = numbered(words_of, source);
  all.left_out = std::move(lexicon->left_out);
  all.notes = std::move(lexicon->notes);
  *lexicon = std::move(all);
}

Lexicon merge(const Lexicon &first, const Lexicon &second, const std::string &source) {
  WordsOf words_of;
  collect(first, &words_of);
  collect(second, &words_of);
  Lexicon merged = numbered(words_of, source);
  merged.left_out = first.left_out;
  merged.left_out.insert(second.left_out.begin(), second.left_out.end());
  merged.notes = first.notes;
  merged.notes.insert(merged.notes.end(), second.notes.begin(), second.notes.end());
  return merged;
}

Lexicon restricted(const Lexicon &lexicon, const std::vector<std::string> &words) {
  std::map<uint32_t, uint32_t> number_of;  // new numbers of the remaining pronunciations, in their order
  Lexicon result;
  for (const std::string &word : words) {
    const auto found = lexicon.pronunciations_of.find(word);
    if (found == lexicon.pronunciations_of.end()) continue;
    result.pronunciations_of.insert(*found);
    const auto costs = lexicon.costs_of.find(word);
    if (costs != lexicon.costs_of.end()) result.costs_of.insert(*costs);
    const auto outputs = lexicon.outputs_of.find(word);
    if (outputs != lexicon.outputs_of.end()) result.outputs_of.insert(*outputs);
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

const LeftOut *LexiconStack::left_out(const std::string &word) const {
  for (const auto &lexicon : lexicons_) {
    const auto found = lexicon->left_out.find(word);
    if (found != lexicon->left_out.end()) return &found->second;
  }
  return nullptr;
}

Lexicon LexiconStack::restricted(const std::vector<std::string> &words) const {
  Lexicon result;
  for (const auto &lexicon : lexicons_) result = merge(result, asr::restricted(*lexicon, words), "the lexicons");
  return result;
}

}  // namespace asr
