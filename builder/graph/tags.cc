// SPDX-License-Identifier: Apache-2.0
// Attaches tags to words. A word waits until all its tags are known: a state of the result is a state of the automaton with the
// waiting word. Words wait only if a tag can follow, so most states stay unchanged.
#include "builder/graph/tags.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

using Tags = std::vector<uint32_t>;  // symbols

struct TaggedWord {
  uint32_t word = 0;  // symbol; 0: none
  Tags tags;          // its own tags, or without a word the next word's

  bool operator<(const TaggedWord &other) const { return std::tie(word, tags) < std::tie(other.word, other.tags); }
  bool empty() const { return word == 0 && tags.empty(); }
};

class TagAttacher {
 public:
  TagAttacher(const TaggedGrammar &tagged, const std::string &source)
      : tagged_(tagged), from_(tagged.automaton), source_(source), tag_follows_(states_before_tags()) {}

  Grammar attach() {
    result_.start = state({from_.start, {}, {}, false});
    uint32_t end = 0;
    for (uint32_t number = 0; number < result_.n_states(); ++number) {
      const Place at = *place_of_[number];
      if (at.at == kEnd) continue;
      expand(number, at);
      const float final_cost = from_.final_costs[at.at];
      if (final_cost == kNotFinal || at.words_only) continue;
      if (at.waiting.word == 0) {
        result_.final_costs[number] = final_cost;
        continue;
      }
      if (end == 0) result_.final_costs[end = state({kEnd, {}, {}, false})] = 0;
      add_arc(number, symbol(at.waiting), final_cost, end);
    }
    number_symbols();
    return std::move(result_);
  }

 private:
  static constexpr uint32_t kEnd = 0xffffffffu;

  struct Place {
    uint32_t at;         // state of the automaton
    TaggedWord waiting;  // a word whose tags may still follow
    Tags ahead;          // tags of the next word
    bool words_only;     // the waiting word has been emitted, since a word follows

    bool operator<(const Place &other) const {
      return std::tie(at, waiting, ahead, words_only) < std::tie(other.at, other.waiting, other.ahead, other.words_only);
    }
  };

  const TaggedGrammar &tagged_;
  const Grammar &from_;
  const std::string &source_;
  const std::vector<bool> tag_follows_;  // [states]: a tag behind can occur before the next word
  Grammar result_;
  std::map<Place, uint32_t> number_of_;
  std::vector<const Place *> place_of_;
  std::map<TaggedWord, uint32_t> symbol_of_;
  uint64_t n_arcs_ = 0;
  size_t n_label_bytes_ = 0;

  const RuleSymbol &symbol_at(const GrammarArc &arc) const { return tagged_.symbols[arc.word]; }
  bool is_word(const GrammarArc &arc) const { return arc.word != 0 && symbol_at(arc).kind == RuleSymbol::kWord; }
  bool is_of_garbage(const GrammarArc &arc) const {
    return arc.word != 0 && (symbol_at(arc).kind == RuleSymbol::kGarbage || symbol_at(arc).kind == RuleSymbol::kBarrier);
  }
  bool is_tag_behind(const GrammarArc &arc) const { return arc.word != 0 && symbol_at(arc).kind == RuleSymbol::kTagBehind; }

  std::vector<bool> states_before_tags() const {
    std::vector<std::vector<uint32_t>> before(from_.n_states());
    std::vector<bool> found(from_.n_states());
    std::vector<uint32_t> todo;
    for (uint32_t state = 0; state < from_.n_states(); ++state) {
      for (const GrammarArc &arc : from_.arcs[state]) {
        if (!is_word(arc) && !is_of_garbage(arc)) before[arc.next].push_back(state);
        if (!is_tag_behind(arc) || found[state]) continue;
        found[state] = true;
        todo.push_back(state);
      }
    }
    while (!todo.empty()) {
      const uint32_t state = todo.back();
      todo.pop_back();
      for (const uint32_t other : before[state]) {
        if (!found[other]) todo.push_back(other);
        found[other] = true;
      }
    }
    return found;
  }

  [[noreturn]] void too_large() const {
    fail(ASR_UNSUPPORTED, "%s: its rules and tags spell out to more than %u states or %llu arcs; use fewer tags on groups",
         source_.c_str(), kMaxGrammarStates, static_cast<unsigned long long>(kMaxGrammarArcs));
  }

  uint32_t state(const Place &place) {
    const auto [found, is_new] = number_of_.emplace(place, result_.n_states());
    if (!is_new) return found->second;
    if (result_.n_states() >= kMaxGrammarStates) too_large();
    place_of_.push_back(&found->first);
    return result_.add_state();
  }

  uint32_t symbol(const TaggedWord &word) {
    return symbol_of_.emplace(word, static_cast<uint32_t>(symbol_of_.size() + 1)).first->second;
  }

  void add_arc(uint32_t from, uint32_t word, float cost, uint32_t to) {
    if (++n_arcs_ > kMaxGrammarArcs) too_large();
    result_.arcs[from].push_back({word, cost, to});
  }

  // Reaches a state of the result; a waiting word without possible tags is emitted now.
  void arrive(uint32_t from, float cost, Place place) {
    uint32_t word = 0;
    if (place.waiting.word != 0 && !tag_follows_[place.at]) {
      word = symbol(place.waiting);
      place.waiting = {};
    }
    add_arc(from, word, cost, state(place));
  }

  void add_tag(Tags *tags, uint32_t tag) const {
    tags->push_back(tag);
    if (tags->size() <= kMaxWordTags) return;
    const RuleSymbol &last = tagged_.symbols[tag];
    fail(ASR_UNSUPPORTED,
         "%s: %s: with {%.40s} a word has more than %zu tags; use fewer, and none in a repetition without words",
         source_.c_str(), shown(last.place).c_str(), last.text.c_str(), kMaxWordTags);
  }

  void expand(uint32_t number, const Place &at) {
    bool word_follows = false;
    for (const GrammarArc &arc : from_.arcs[at.at]) {
      if (is_word(arc)) {
        word_follows = true;
        if (at.waiting.word == 0) arrive(number, arc.cost, {arc.next, {arc.word, at.ahead}, {}, false});
      } else if (is_of_garbage(arc)) {  // a word waits no longer, as its tags cannot follow
        word_follows = true;
        const bool is_phone = symbol_at(arc).kind == RuleSymbol::kGarbage;
        if (at.waiting.word == 0)
          add_arc(number, is_phone ? symbol({arc.word, {}}) : 0, arc.cost, state({arc.next, {}, at.ahead, false}));
      } else if (!at.words_only) {
        Place next = {arc.next, at.waiting, at.ahead, false};
        if (arc.word != 0) add_tag(is_tag_behind(arc) && at.waiting.word != 0 ? &next.waiting.tags : &next.ahead, arc.word);
        arrive(number, arc.cost, std::move(next));
      }
    }
    if (word_follows && at.waiting.word != 0) add_arc(number, symbol(at.waiting), 0, state({at.at, {}, at.ahead, true}));
  }

  std::string joined(const Tags &tags) {
    std::string text;
    for (const uint32_t tag : tags) n_label_bytes_ += tagged_.symbols[tag].text.size() + 1;
    if (n_label_bytes_ > kMaxSymbolBytes) fail_symbols(source_);
    for (const uint32_t tag : tags) text += (text.empty() ? "" : "\n") + tagged_.symbols[tag].text;
    return text;
  }

  // Numbers words in the order of the automaton's symbols, then of their tags.
  void number_symbols() {
    std::vector<uint32_t> number(symbol_of_.size() + 1, 0);
    result_.words = {"<eps>"};
    result_.labels = {{}};
    for (const auto &[word, old_number] : symbol_of_) {
      number[old_number] = static_cast<uint32_t>(result_.words.size());
      const RuleSymbol &symbol = tagged_.symbols[word.word];
      n_label_bytes_ += sizeof(WordLabel) + symbol.text.size() + symbol.rule.size();
      if (symbol.kind == RuleSymbol::kGarbage) result_.garbage = number[old_number];
      result_.words.push_back(symbol.text);
      result_.labels.push_back({symbol.rule, joined(word.tags)});
    }
    for (std::vector<GrammarArc> &arcs : result_.arcs) {
      for (GrammarArc &arc : arcs) arc.word = number[arc.word];
    }
  }
};

}  // namespace

void fail_symbols(const std::string &source) {
  fail(ASR_UNSUPPORTED, "%s: its words, each with its rule and tags, come to more than %zu MiB; shorten tags and rule names",
       source.c_str(), kMaxSymbolBytes >> 20);
}

Grammar attach_tags(const TaggedGrammar &tagged, const std::string &source) { return TagAttacher(tagged, source).attach(); }

}  // namespace asr
