// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/grammar.h"

#include <cmath>
#include <set>
#include <sstream>

#include "builder/g2p/dictionary.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace asr {

uint64_t Grammar::n_arcs() const {
  uint64_t n = 0;
  for (const auto &of_state : arcs) n += of_state.size();
  return n;
}

namespace {

std::vector<bool> reachable(const std::vector<std::vector<uint32_t>> &next, std::vector<uint32_t> todo) {
  std::vector<bool> seen(next.size());
  for (uint32_t state : todo) seen[state] = true;
  while (!todo.empty()) {
    const uint32_t state = todo.back();
    todo.pop_back();
    for (uint32_t to : next[state]) {
      if (!seen[to]) todo.push_back(to);
      seen[to] = true;
    }
  }
  return seen;
}

}  // namespace

Grammar connect(const Grammar &grammar, const std::string &source) {
  const uint32_t n = grammar.n_states();
  std::vector<std::vector<uint32_t>> forward(n), backward(n);
  std::vector<uint32_t> finals;
  for (uint32_t state = 0; state < n; ++state) {
    if (grammar.final_costs[state] != kNotFinal) finals.push_back(state);
    for (const GrammarArc &arc : grammar.arcs[state]) {
      forward[state].push_back(arc.next);
      backward[arc.next].push_back(state);
    }
  }
  const std::vector<bool> from_start = reachable(forward, {grammar.start}), to_final = reachable(backward, finals);
  if (!to_final[grammar.start])
    fail(ASR_BAD_FILE, "%s: no sentence can be said with it; check its words and rules", source.c_str());
  Grammar out;
  out.words = grammar.words;
  out.labels = grammar.labels;
  out.garbage = grammar.garbage;
  std::vector<uint32_t> number(n, 0);
  for (uint32_t state = 0; state < n; ++state) {
    if (from_start[state] && to_final[state]) number[state] = out.add_state();
  }
  for (uint32_t state = 0; state < n; ++state) {
    if (!from_start[state] || !to_final[state]) continue;
    out.final_costs[number[state]] = grammar.final_costs[state];
    for (const GrammarArc &arc : grammar.arcs[state]) {
      if (to_final[arc.next]) out.arcs[number[state]].push_back({arc.word, arc.cost, number[arc.next]});
    }
  }
  out.start = number[grammar.start];
  return out;
}

std::string shown(TextPlace place) { return format("line %u, column %u", place.line, place.column); }

std::string tag_text(const std::string &text) {
  const char *const kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return "";
  std::string tag = text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
  for (char &c : tag) {
    if (c == '\n' || c == '\r' || c == '\0') c = ' ';
  }
  return tag;
}

std::vector<bool> find_unknown(const std::vector<std::string> &words, const Vocabulary &vocabulary, const std::string &source,
                               const std::vector<TextPlace> &places) {
  constexpr size_t kMaxListed = 20;
  std::vector<bool> unknown(words.size());
  std::string list;
  size_t n_unknown = 0;
  bool has_left_out = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (vocabulary.pronounced(words[i])) continue;
    unknown[i] = true;
    if (vocabulary.dropped != nullptr) vocabulary.dropped->push_back(words[i]);
    if (++n_unknown > kMaxListed) continue;
    list += (n_unknown > 1 ? ", " : "") + words[i];
    if (!places.empty()) list += " (" + shown(places[i]) + ")";
    const std::string why = vocabulary.why_left_out ? vocabulary.why_left_out(words[i]) : "";
    if (why.empty()) continue;
    list += " (" + why + ")";
    has_left_out = true;
  }
  if (n_unknown == 0 || vocabulary.drop_unknown) return unknown;
  if (n_unknown > kMaxListed) list += format(" and %zu more", n_unknown - kMaxListed);
  fail(ASR_INVALID_ARGUMENT, "%s: %zu of %zu words have no %spronunciation in %s: %s; %s", source.c_str(), n_unknown,
       words.size(), has_left_out ? "usable " : "", vocabulary.dictionary.c_str(), list.c_str(), vocabulary.remedy.c_str());
}

Grammar word_list_grammar(const std::vector<std::string> &words, bool single, const Vocabulary &vocabulary,
                          const std::string &source) {
  const std::vector<bool> unknown = find_unknown(words, vocabulary, source);
  Grammar grammar;
  grammar.words = {"<eps>"};
  for (size_t i = 0; i < words.size(); ++i) {
    if (!unknown[i]) grammar.words.push_back(words[i]);
  }
  const uint32_t n_words = static_cast<uint32_t>(grammar.words.size()) - 1;
  grammar.start = grammar.add_state();
  const uint32_t end = single ? grammar.add_state() : grammar.start;
  const float cost = std::log(static_cast<float>(single ? n_words : n_words + 1));
  for (uint32_t word = 1; word <= n_words; ++word) grammar.arcs[grammar.start].push_back({word, cost, end});
  grammar.final_costs[end] = single ? 0 : cost;
  if (n_words == 0)
    fail(ASR_BAD_FILE, "%s: no word to recognise is left; list at least one word of the dictionary", source.c_str());
  return grammar;
}

std::vector<std::string> read_word_list(const std::string &path) {
  return parse_word_list(read_text(path, {"a list of words"}), path);
}

std::vector<std::string> parse_word_list(const std::string &text, const std::string &source) {
  std::istringstream lines(text);
  std::vector<std::string> words;
  std::set<std::string> seen;
  std::string line;
  for (size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream fields(line);
    std::string word, more;
    if (!(fields >> word) || word[0] == '#') continue;
    if (fields >> more) {
      for (std::string next; fields >> next;) more = next;
      const bool is_threshold = more.size() > 2 && more.front() == '/' && more.back() == '/';
      fail(ASR_BAD_FILE, "%s: line %zu: %s", source.c_str(), number,
           is_threshold ? "has a threshold; a list of keywords is given with --keywords, one of words has no thresholds"
                        : "more than one word; put each on its own line, and phrases into a grammar");
    }
    if (seen.insert(word).second) words.push_back(word);
  }
  if (words.empty()) fail(ASR_BAD_FILE, "%s: no words in it; put one on each line", source.c_str());
  return words;
}

}  // namespace asr
