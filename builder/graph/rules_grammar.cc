// SPDX-License-Identifier: Apache-2.0
// Expands the rules of a grammar to a word automaton, each rule at its uses.
#include <algorithm>
#include <cmath>
#include <set>

#include "builder/graph/acceptor.h"
#include "builder/graph/rules.h"
#include "builder/graph/tags.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

RuleNode reference(const std::string &rule) {
  RuleNode node;
  node.kind = RuleNode::kRule;
  node.name = rule;
  return node;
}

class RuleExpander {
 public:
  RuleExpander(const Rules &rules, const std::string &source) : rules_(rules), source_(source) {}

  Grammar expand(const std::vector<std::string> &roots, const Vocabulary &vocabulary) {
    find_words(roots, vocabulary);
    tagged_.symbols.resize(1);
    grammar_.start = add_state();
    const uint32_t end = add_state();
    grammar_.final_costs[end] = 0;
    const double probability = 1.0 / static_cast<double>(roots.size());
    for (const std::string &root : roots) {
      root_ = root;
      number_words();
      uint32_t from = grammar_.start;
      if (roots.size() > 1) add_epsilon(grammar_.start, from = add_state(), probability);
      add(reference(root), from, end);
    }
    Grammar words = attach_tags(tagged_, source_);
    check_epsilons(words);
    Grammar grammar = optimise(words, source_);
    grammar.max_spelled_arcs = std::max(kBaseSpelledArcs, kMaxSpelledRatio * n_nodes());
    grammar.max_expanded_arcs = std::max(kBaseExpandedArcs, kMaxExpandedRatio * n_nodes());
    return grammar;
  }

 private:
  const Rules &rules_;
  const std::string &source_;
  std::set<std::string> known_words_;
  std::string root_;                         // the public rule being expanded
  std::map<std::string, uint32_t> word_id_;  // symbols of the root's words; words to be dropped have none
  std::map<const RuleNode *, uint32_t> tag_id_;
  uint32_t garbage_ = 0;                      // its symbol, once a rule uses it; the barrier's is the next
  std::map<std::string, bool> may_be_empty_;  // rules; a rule under examination counts as false
  struct Active {
    uint32_t from, to;
  };
  std::map<std::string, Active> active_;  // rules being expanded
  uint32_t depth_ = 0;
  size_t n_symbol_bytes_ = 0;
  TaggedGrammar tagged_;
  Grammar &grammar_ = tagged_.automaton;

  // Returns the number of words, references and groups of all rules, as they are written.
  uint64_t n_nodes() const {
    uint64_t n = 0;
    std::vector<const RuleNode *> left;
    for (const auto &[name, rule] : rules_.rules) left.push_back(&rule.expansion);
    for (; !left.empty(); ++n) {
      const RuleNode &node = *left.back();
      left.pop_back();
      for (const RuleNode &part : node.parts) left.push_back(&part);
    }
    return n;
  }

  const Rules::Rule &rule(const RuleNode &used) const {
    const auto found = rules_.rules.find(used.name);
    if (found != rules_.rules.end()) return found->second;
    const std::string where = used.place.line > 0 ? shown(used.place) + ": " : "";
    fail(ASR_BAD_FILE, "%s: %sthe rule <%s> is not defined; define it or correct its name", source_.c_str(), where.c_str(),
         used.name.c_str());
  }

  // Returns the words that a rule uses, each with its first position.
  std::map<std::string, TextPlace> used_words(const std::vector<std::string> &roots) const {
    std::set<std::string> rules_seen(roots.begin(), roots.end());
    std::map<std::string, TextPlace> words;
    std::vector<const RuleNode *> todo;
    for (const std::string &root : roots) todo.push_back(&rule(reference(root)).expansion);
    while (!todo.empty()) {
      const RuleNode &node = *todo.back();
      todo.pop_back();
      if (node.kind == RuleNode::kWord) words.emplace(node.name, node.place);
      if (node.kind == RuleNode::kRule && !is_special_rule(node.name) && rules_seen.insert(node.name).second) {
        todo.push_back(&rule(node).expansion);
      }
      for (auto part = node.parts.rbegin(); part != node.parts.rend(); ++part) todo.push_back(&*part);
    }
    return words;
  }

  void find_words(const std::vector<std::string> &roots, const Vocabulary &vocabulary) {
    std::vector<std::string> words;
    std::vector<TextPlace> places;
    for (const auto &[word, place] : used_words(roots)) {
      words.push_back(word);
      places.push_back(place);
    }
    const std::vector<bool> unknown = find_unknown(words, vocabulary, source_, places);
    for (size_t i = 0; i < words.size(); ++i) {
      if (!unknown[i]) known_words_.insert(words[i]);
    }
  }

  void number_words() {
    word_id_.clear();
    for (const auto &[word, place] : used_words({root_})) {
      if (known_words_.count(word) == 0) continue;
      word_id_[word] = static_cast<uint32_t>(tagged_.symbols.size());
      tagged_.symbols.push_back({RuleSymbol::kWord, word, root_, place});
      n_symbol_bytes_ += sizeof(RuleSymbol) + word.size() + root_.size();
      if (n_symbol_bytes_ > kMaxSymbolBytes) fail_symbols(source_);
    }
  }

  uint32_t add_state() {
    if (grammar_.n_states() >= kMaxGrammarStates) {
      fail(ASR_UNSUPPORTED, "%s: its rules spell out to more than %u states; use fewer nested rules", source_.c_str(),
           kMaxGrammarStates);
    }
    return grammar_.add_state();
  }
  // Keeps costs finite: omits epsilons of probability 0.
  void add_epsilon(uint32_t from, uint32_t to, double probability) {
    if (probability > 0) grammar_.arcs[from].push_back({0, static_cast<float>(-std::log(probability)), to});
  }

  void add(const RuleNode &node, uint32_t from, uint32_t to) {
    enter();
    add_part(node, from, to);
    --depth_;
  }

  // Counts the nesting of parts and rules, since each level uses stack.
  void enter() {
    if (++depth_ <= kMaxRuleDepth) return;
    fail(ASR_UNSUPPORTED, "%s: its rules and parts lie in each other more than %u deep; use fewer nested rules",
         source_.c_str(), kMaxRuleDepth);
  }

  void add_part(const RuleNode &node, uint32_t from, uint32_t to) {
    switch (node.kind) {
      case RuleNode::kWord: {
        const auto id = word_id_.find(node.name);
        if (id != word_id_.end()) grammar_.arcs[from].push_back({id->second, 0, to});
        return;
      }
      case RuleNode::kTag:
        grammar_.arcs[from].push_back({tag(node, RuleSymbol::kTagBehind), 0, to});
        return;
      case RuleNode::kRule:
        return add_rule(node, from, to);
      case RuleNode::kSequence:
        return add_sequence(node, from, to);
      case RuleNode::kAlternatives:
        return add_alternatives(node, from, to);
      case RuleNode::kRepeat:
        return add_repeat(node, from, to);
    }
  }

  uint32_t tag(const RuleNode &node, RuleSymbol::Kind kind) {
    const auto [found, is_new] = tag_id_.emplace(&node, static_cast<uint32_t>(tagged_.symbols.size()));
    if (is_new) tagged_.symbols.push_back({kind, node.name, "", node.place});
    return found->second;
  }

  // Leading tags belong to the next word if the rest of the sequence cannot be empty.
  void add_sequence(const RuleNode &node, uint32_t from, uint32_t to) {
    if (node.parts.empty()) return add_epsilon(from, to, 1);
    size_t n_ahead = 0;
    while (n_ahead < node.parts.size() && node.parts[n_ahead].kind == RuleNode::kTag) ++n_ahead;
    if (n_ahead > 0 && may_be_empty(node)) n_ahead = 0;
    for (size_t i = 0; i < node.parts.size(); ++i) {
      const uint32_t next = i + 1 == node.parts.size() ? to : add_state();
      if (i < n_ahead) {
        grammar_.arcs[from].push_back({tag(node.parts[i], RuleSymbol::kTagAhead), 0, next});
      } else {
        add(node.parts[i], from, next);
      }
      from = next;
    }
  }

  bool may_be_empty(const RuleNode &node) {
    enter();
    const bool is_empty = find_whether_empty(node);
    --depth_;
    return is_empty;
  }

  bool find_whether_empty(const RuleNode &node) {
    const auto part_may_be_empty = [&](const RuleNode &part) { return may_be_empty(part); };
    switch (node.kind) {
      case RuleNode::kWord:
        return false;
      case RuleNode::kTag:
        return true;
      case RuleNode::kRule: {
        if (is_special_rule(node.name)) return node.name != kVoidRule;
        const auto [known, is_new] = may_be_empty_.emplace(node.name, false);
        if (is_new) known->second = may_be_empty(rule(node).expansion);
        return known->second;
      }
      case RuleNode::kSequence:
        return std::all_of(node.parts.begin(), node.parts.end(), part_may_be_empty);
      case RuleNode::kAlternatives:
        return std::any_of(node.parts.begin(), node.parts.end(), part_may_be_empty);
      case RuleNode::kRepeat:
        return node.least == 0 || may_be_empty(node.parts[0]);
    }
    return false;
  }

  void add_repeat(const RuleNode &node, uint32_t from, uint32_t to) {
    const RuleNode &part = node.parts[0];
    const bool endless = node.most == RuleNode::kNoLimit;
    if (node.most == 0) return add_epsilon(from, to, 1);
    const uint32_t n_sure = endless && node.least > 0 ? node.least - 1 : node.least;  // the last one begins the loop
    for (uint32_t i = 0; i < n_sure; ++i) {
      const uint32_t next = i + 1 == node.most ? to : add_state();
      add(part, from, next);
      from = next;
    }
    if (endless) return add_loop(node, from, to);
    for (uint32_t i = node.least; i < node.most; ++i) {
      const uint32_t taken = add_state(), next = i + 1 == node.most ? to : add_state();
      add_epsilon(from, taken, node.again);
      add_epsilon(from, to, 1 - node.again);
      add(part, taken, next);
      from = next;
    }
  }

  void add_loop(const RuleNode &node, uint32_t from, uint32_t to) {
    const uint32_t before = add_state(), after = add_state();
    add_epsilon(from, before, node.least == 0 ? node.again : 1.0);
    if (node.least == 0) add_epsilon(from, to, 1 - node.again);
    add(node.parts[0], before, after);
    add_epsilon(after, before, node.again);
    add_epsilon(after, to, 1 - node.again);
  }

  void add_alternatives(const RuleNode &node, uint32_t from, uint32_t to) {
    double sum = 0;
    for (double weight : node.weights) sum += weight;
    for (size_t i = 0; i < node.parts.size(); ++i) {
      if (node.weights[i] == 0) continue;
      if (node.parts.size() == 1) {
        add(node.parts[i], from, to);
        continue;
      }
      const uint32_t chosen = add_state();
      add_epsilon(from, chosen, node.weights[i] / sum);
      add(node.parts[i], chosen, to);
    }
  }

  void add_garbage(uint32_t from, uint32_t to) {
    if (garbage_ == 0) {
      garbage_ = static_cast<uint32_t>(tagged_.symbols.size());
      tagged_.symbols.push_back({RuleSymbol::kGarbage, "<GARBAGE>", "", {}});
      tagged_.symbols.push_back({RuleSymbol::kBarrier, "", "", {}});
    }
    const uint32_t loop = add_state();
    grammar_.arcs[from].push_back({garbage_ + 1, 0, loop});
    grammar_.arcs[loop].push_back({garbage_, kGarbageCost, loop});
    add_epsilon(loop, to, 1);
  }

  // Expands a recursive use of a rule as a jump to its beginning, which is correct only if nothing follows it.
  void add_rule(const RuleNode &used, uint32_t from, uint32_t to) {
    const std::string &name = used.name;
    if (name == kNullRule) return add_epsilon(from, to, 1);
    if (name == kVoidRule) return;
    if (name == kGarbageRule) return add_garbage(from, to);
    const auto [active, is_new] = active_.try_emplace(name, Active{from, to});
    if (!is_new) {
      if (active->second.to == to) return add_epsilon(from, active->second.from, 1);
      fail(ASR_UNSUPPORTED,
           "%s: %s: the rule <%s> contains itself before its end; rewrite it with * or with <%s> as its last part",
           source_.c_str(), shown(used.place).c_str(), name.c_str(), name.c_str());
    }
    add(rule(used).expansion, from, to);
    active_.erase(active);
  }

  // Bounds the arcs after epsilon removal. Every target state of a word gets the arcs of all states reachable by epsilons. With
  // consecutive optional parts their number grows as the square.
  void check_epsilons(const Grammar &grammar) const {
    const uint32_t n = grammar.n_states();
    std::vector<bool> entered(n);
    entered[grammar.start] = true;
    for (const std::vector<GrammarArc> &arcs : grammar.arcs) {
      for (const GrammarArc &arc : arcs) {
        if (arc.word != 0) entered[arc.next] = true;
      }
    }
    std::vector<uint32_t> reached_by(n, n), todo;
    uint64_t n_arcs = 0;
    for (uint32_t state = 0; state < n; ++state) {
      if (!entered[state]) continue;
      todo = {state};
      reached_by[state] = state;
      while (!todo.empty()) {
        const std::vector<GrammarArc> &arcs = grammar.arcs[todo.back()];
        todo.pop_back();
        n_arcs += arcs.size();
        if (n_arcs > kMaxGrammarArcs) {
          fail(ASR_UNSUPPORTED, "%s: its rules spell out to more than %llu arcs; use fewer optional parts in a row",
               source_.c_str(), static_cast<unsigned long long>(kMaxGrammarArcs));
        }
        for (const GrammarArc &arc : arcs) {
          if (arc.word != 0 || reached_by[arc.next] == state) continue;
          reached_by[arc.next] = state;
          todo.push_back(arc.next);
        }
      }
    }
  }
};

// Returns the name of the rule in `rules` that the user calls <name>, or its full name.
std::string root_name(const Rules &rules, const std::string &named, const std::string &source) {
  const bool has_brackets = named.front() == '<' && named.back() == '>';
  const std::string name = has_brackets ? named.substr(1, named.size() - 2) : named;
  if (rules.rules.count(name) > 0) return name;
  const size_t dot = name.rfind('.');
  if (dot != std::string::npos) {
    const std::string grammar = name.substr(0, dot), rule = name.substr(dot + 1);
    const bool is_own = grammar == rules.grammar || grammar == rules.grammar.substr(rules.grammar.rfind('.') + 1);
    if (is_own && rules.rules.count(rule) > 0) return rule;
  }
  constexpr size_t kMaxListed = 10;
  std::string list;
  size_t n = 0;
  for (const auto &[other, definition] : rules.rules) {
    if (definition.is_public && ++n <= kMaxListed) list += (list.empty() ? "<" : ", <") + other + ">";
  }
  if (n > kMaxListed) list += ", ...";
  fail(ASR_BAD_FILE, "%s: the rule <%s> is not defined; %s%s", source.c_str(), name.c_str(),
       n == 0 ? "define it or correct its name" : "its public rules are ", list.c_str());
}

}  // namespace

Grammar rules_grammar(const Rules &rules, const std::string &rule, const Vocabulary &vocabulary, const std::string &source) {
  std::vector<std::string> roots;
  if (!rule.empty()) {
    roots.push_back(root_name(rules, rule, source));
  } else {
    for (const auto &[name, definition] : rules.rules) {
      if (definition.is_public) roots.push_back(name);
    }
    if (roots.empty())
      fail(ASR_BAD_FILE, "%s: no rule is public; mark one as public, or name the rule to recognise", source.c_str());
  }
  return RuleExpander(rules, source).expand(roots, vocabulary);
}

}  // namespace asr
