// SPDX-License-Identifier: Apache-2.0
// From the rules of a JSGF grammar to a word automaton, each rule spelled out where it is used.
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/graph/build/acceptor.h"
#include "core/graph/build/jsgf.h"

namespace asr {
namespace {

class JsgfExpander {
 public:
  JsgfExpander(const Jsgf &jsgf, const std::string &source) : jsgf_(jsgf), source_(source) {}

  Grammar expand(const std::vector<std::string> &roots, const Vocabulary &vocabulary) {
    number_words(roots, vocabulary);
    grammar_.start = grammar_.add_state();
    const uint32_t end = grammar_.add_state();
    grammar_.final_costs[end] = 0;
    JsgfNode all{JsgfNode::kAlternatives, "", {}, std::vector<double>(roots.size(), 1.0)};
    for (const std::string &rule : roots) all.parts.push_back({JsgfNode::kRule, rule, {}, {}});
    add(all, grammar_.start, end);
    check_epsilons();
    return optimise(grammar_, source_);
  }

 private:
  const Jsgf &jsgf_;
  const std::string &source_;
  std::map<std::string, uint32_t> word_id_;  // 0: to be left out
  struct Active {
    uint32_t from, to;
  };
  std::map<std::string, Active> active_;  // rules being spelled out
  uint32_t depth_ = 0;
  Grammar grammar_;

  const Jsgf::Rule &rule(const std::string &name) const {
    const auto found = jsgf_.rules.find(name);
    if (found == jsgf_.rules.end())
      fail(ASR_BAD_FILE, "%s: the rule <%s> is not defined; define it or correct its name", source_.c_str(), name.c_str());
    return found->second;
  }

  std::set<std::string> used_words(const std::vector<std::string> &roots) const {
    std::set<std::string> rules_seen(roots.begin(), roots.end()), words;
    std::vector<const JsgfNode *> todo;
    for (const std::string &root : roots) todo.push_back(&rule(root).expansion);
    while (!todo.empty()) {
      const JsgfNode &node = *todo.back();
      todo.pop_back();
      if (node.kind == JsgfNode::kWord) words.insert(node.name);
      if (node.kind == JsgfNode::kRule && node.name != "NULL" && node.name != "VOID" && rules_seen.insert(node.name).second) {
        todo.push_back(&rule(node.name).expansion);
      }
      for (const JsgfNode &part : node.parts) todo.push_back(&part);
    }
    return words;
  }

  void number_words(const std::vector<std::string> &roots, const Vocabulary &vocabulary) {
    const std::set<std::string> used = used_words(roots);
    const std::vector<std::string> words(used.begin(), used.end());
    const std::vector<bool> unknown = find_unknown(words, vocabulary, source_);
    grammar_.words = {"<eps>"};
    for (size_t i = 0; i < words.size(); ++i) {
      word_id_[words[i]] = unknown[i] ? 0 : static_cast<uint32_t>(grammar_.words.size());
      if (!unknown[i]) grammar_.words.push_back(words[i]);
    }
  }

  uint32_t add_state() {
    if (grammar_.n_states() >= kMostGrammarStates) {
      fail(ASR_UNSUPPORTED, "%s: its rules spell out to more than %u states; use fewer nested rules", source_.c_str(),
           kMostGrammarStates);
    }
    return grammar_.add_state();
  }
  void add_epsilon(uint32_t from, uint32_t to, double probability) {
    grammar_.arcs[from].push_back({0, static_cast<float>(-std::log(probability)), to});
  }

  void add(const JsgfNode &node, uint32_t from, uint32_t to) {
    if (++depth_ > kMostJsgfDepth) {
      fail(ASR_UNSUPPORTED, "%s: its rules and parts lie in each other more than %u deep; use fewer nested rules",
           source_.c_str(), kMostJsgfDepth);
    }
    add_part(node, from, to);
    --depth_;
  }

  void add_part(const JsgfNode &node, uint32_t from, uint32_t to) {
    switch (node.kind) {
      case JsgfNode::kWord:
        if (word_id_[node.name] != 0) grammar_.arcs[from].push_back({word_id_[node.name], 0, to});
        return;
      case JsgfNode::kRule:
        return add_rule(node.name, from, to);
      case JsgfNode::kSequence:
        for (size_t i = 0; i < node.parts.size(); ++i) {
          const uint32_t next = i + 1 == node.parts.size() ? to : add_state();
          add(node.parts[i], from, next);
          from = next;
        }
        return;
      case JsgfNode::kAlternatives:
        return add_alternatives(node, from, to);
      case JsgfNode::kOptional: {
        const uint32_t taken = add_state();
        add_epsilon(from, taken, 0.5);
        add_epsilon(from, to, 0.5);
        return add(node.parts[0], taken, to);
      }
      case JsgfNode::kRepeat:
      case JsgfNode::kRepeatOnce: {
        const uint32_t before = add_state(), after = add_state();
        add_epsilon(from, before, node.kind == JsgfNode::kRepeat ? 0.5 : 1.0);
        if (node.kind == JsgfNode::kRepeat) add_epsilon(from, to, 0.5);
        add(node.parts[0], before, after);
        add_epsilon(after, before, 0.5);
        return add_epsilon(after, to, 0.5);
      }
    }
  }

  void add_alternatives(const JsgfNode &node, uint32_t from, uint32_t to) {
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

  // A rule within itself is a jump back to its beginning, which is right only if nothing comes after it there.
  void add_rule(const std::string &name, uint32_t from, uint32_t to) {
    if (name == "NULL") return add_epsilon(from, to, 1);
    if (name == "VOID") return;
    const auto [active, is_new] = active_.try_emplace(name, Active{from, to});
    if (!is_new) {
      if (active->second.to == to) return add_epsilon(from, active->second.from, 1);
      fail(ASR_UNSUPPORTED, "%s: the rule <%s> contains itself before its end; rewrite it with * or with <%s> as its last part",
           source_.c_str(), name.c_str(), name.c_str());
    }
    add(rule(name).expansion, from, to);
    active_.erase(active);
  }

  // Taking epsilons out gives every state that a word leads to the arcs of all states that it reaches by epsilons: the square
  // of the optional parts in a row.
  void check_epsilons() const {
    const uint32_t n = grammar_.n_states();
    std::vector<bool> entered(n);
    entered[grammar_.start] = true;
    for (const std::vector<GrammarArc> &arcs : grammar_.arcs) {
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
        const std::vector<GrammarArc> &arcs = grammar_.arcs[todo.back()];
        todo.pop_back();
        n_arcs += arcs.size();
        if (n_arcs > kMostGrammarArcs) {
          fail(ASR_UNSUPPORTED, "%s: its rules spell out to more than %llu arcs; use fewer optional parts in a row",
               source_.c_str(), static_cast<unsigned long long>(kMostGrammarArcs));
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

}  // namespace

Grammar jsgf_grammar(const Jsgf &jsgf, const std::string &rule, const Vocabulary &vocabulary, const std::string &source) {
  std::vector<std::string> roots;
  if (!rule.empty()) {
    roots.push_back(rule.front() == '<' && rule.back() == '>' ? rule.substr(1, rule.size() - 2) : rule);
  } else {
    for (const auto &[name, definition] : jsgf.rules) {
      if (definition.is_public) roots.push_back(name);
    }
    if (roots.empty()) fail(ASR_BAD_FILE, "%s: no rule is public; mark one as public or name it with --rule", source.c_str());
  }
  return JsgfExpander(jsgf, source).expand(roots, vocabulary);
}

}  // namespace asr
