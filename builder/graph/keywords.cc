// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/keywords.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "builder/graph/grammar_text.h"
#include "builder/graph/phrases.h"
#include "core/base/error.h"

namespace asr {
namespace {

constexpr char kBlankSigns[] = " \t\r\f\v";

// Thresholds below are not meant as probabilities.
constexpr double kMinThreshold = 1e-3;

// Takes "/0.7/" off the end of a line, which is left with blanks in its place. Comments have none.
double take_threshold(std::string *line, uint32_t number, const std::string &source) {
  const size_t begin = line->find_first_not_of(kBlankSigns);
  if (begin == std::string::npos || (*line)[begin] == '#') return kKeywordThreshold;
  const size_t last = line->find_last_not_of(kBlankSigns);
  if ((*line)[last] != '/' || last == 0) return kKeywordThreshold;
  const size_t first = line->rfind('/', last - 1);
  if (first == std::string::npos) return kKeywordThreshold;
  const std::string text = line->substr(first + 1, last - first - 1);
  const std::optional<double> threshold = parse_weight(text);
  if (!threshold || *threshold < kMinThreshold || *threshold > 1) {
    fail(ASR_BAD_FILE,
         "%s: line %u, column %zu: /%s/ is not a threshold, which is a confidence of %g to 1; those of PocketSphinx are ratios "
         "of likelihoods and mean something else: leave it out, or choose one by docs/keywords.md",
         source.c_str(), number, first + 1, text.c_str(), kMinThreshold);
  }
  if (first == begin) fail(ASR_BAD_FILE, "%s: line %u: no words; put a keyword before its threshold", source.c_str(), number);
  line->replace(first, last + 1 - first, last + 1 - first, ' ');
  return *threshold;
}

// A word like "/0.7/" is a threshold in the wrong place.
void check_no_threshold(const RuleNode &part, const std::string &source) {
  const std::string &text = part.name;
  if (part.kind != RuleNode::kWord || text.size() < 3 || text.front() != '/' || text.back() != '/') return;
  if (!parse_weight(text.substr(1, text.size() - 2))) return;
  fail(ASR_BAD_FILE, "%s: %s: %s is no word; a keyword has one threshold, at the end of its line, behind its tags",
       source.c_str(), shown(part.place).c_str(), text.c_str());
}

std::string name_of(const RuleNode &phrase) {
  std::string name;
  for (const RuleNode &part : phrase.parts) {
    if (part.kind == RuleNode::kWord) name += (name.empty() ? "" : " ") + part.name;
  }
  return name;
}

std::string tags_of(const RuleNode &phrase) {
  std::string tags;
  for (const RuleNode &part : phrase.parts) {
    if (part.kind == RuleNode::kTag) tags += (tags.empty() ? "" : "\n") + part.name;
  }
  return tags;
}

}  // namespace

std::map<std::string, double> Keywords::threshold_of() const {
  std::map<std::string, double> all;
  for (size_t i = 0; i < names.size(); ++i) all[names[i]] = thresholds[i];
  return all;
}

Keywords parse_keywords(const std::string &text, const std::string &source, LetterCase letter_case) {
  std::map<uint32_t, double> threshold_of_line;
  std::string phrases;
  uint32_t number = 0;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    threshold_of_line[number + 1] = take_threshold(&line, number + 1, source);
    phrases += line + "\n";
  }
  Keywords keywords;
  keywords.phrases = phrase_alternatives(phrases, source, letter_case);
  std::map<std::string, uint32_t> line_of;
  for (const RuleNode &phrase : keywords.phrases.parts) {
    const uint32_t line = phrase.parts[0].place.line;
    const std::string name = name_of(phrase);
    for (const RuleNode &part : phrase.parts) check_no_threshold(part, source);
    const auto [first, is_new] = line_of.emplace(name, line);
    if (!is_new) {
      fail(ASR_BAD_FILE, "%s: line %u: \"%s\" is in line %u already; list it once", source.c_str(), line, name.c_str(),
           first->second);
    }
    keywords.names.push_back(name);
    keywords.thresholds.push_back(threshold_of_line[line]);
  }
  if (keywords.names.empty()) fail(ASR_BAD_FILE, "%s: no keywords in it; put one on each line", source.c_str());
  return keywords;
}

Grammar keyword_grammar(const Keywords &keywords, const Vocabulary &vocabulary, const std::string &source) {
  std::vector<std::string> words;
  std::vector<TextPlace> places;
  std::map<std::string, TextPlace> place_of;
  for (const RuleNode &phrase : keywords.phrases.parts) {
    for (const RuleNode &part : phrase.parts) {
      if (part.kind == RuleNode::kWord) place_of.emplace(part.name, part.place);
    }
  }
  for (const auto &[word, place] : place_of) {
    words.push_back(word);
    places.push_back(place);
  }
  std::map<std::string, bool> is_unknown;
  const std::vector<bool> unknown = find_unknown(words, vocabulary, source, places);
  for (size_t i = 0; i < words.size(); ++i) is_unknown[words[i]] = unknown[i];

  Grammar grammar;
  grammar.words = {"<eps>", "<GARBAGE>"};
  grammar.labels.resize(2);
  grammar.garbage = 1;
  grammar.keywords = keywords.threshold_of();
  std::map<std::tuple<std::string, std::string, std::string>, uint32_t> symbols;  // word, name, tags
  const auto symbol = [&](const std::string &word, const std::string &name, const std::string &tags) {
    const auto [found, is_new] = symbols.emplace(std::tuple(word, name, tags), static_cast<uint32_t>(grammar.words.size()));
    if (is_new) {
      grammar.words.push_back(word);
      grammar.labels.push_back({name, tags});
    }
    return found->second;
  };
  const uint32_t hub = grammar.start = grammar.add_state();
  grammar.final_costs[hub] = 0;
  grammar.arcs[hub].push_back({grammar.garbage, kGarbageCost, hub});
  bool has_keywords = false;
  for (size_t i = 0; i < keywords.names.size(); ++i) {
    std::vector<std::string> spoken;
    for (const RuleNode &part : keywords.phrases.parts[i].parts) {
      if (part.kind == RuleNode::kWord) spoken.push_back(part.name);
    }
    if (std::any_of(spoken.begin(), spoken.end(), [&](const std::string &word) { return is_unknown[word]; })) continue;
    has_keywords = true;
    uint32_t from = hub;
    for (size_t k = 0; k < spoken.size(); ++k) {
      const bool is_last = k + 1 == spoken.size();
      const uint32_t to = is_last ? hub : grammar.add_state();
      const std::string tags = is_last ? tags_of(keywords.phrases.parts[i]) : "";
      const uint32_t word = symbol(spoken[k], keywords.names[i], tags);
      grammar.arcs[from].push_back({word, 0, to});
      from = to;
    }
  }
  if (!has_keywords) fail(ASR_BAD_FILE, "%s: no keyword is left; list at least one of the dictionary's words", source.c_str());
  return grammar;
}

}  // namespace asr
