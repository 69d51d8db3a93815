// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/jsgf_imports.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/error.h"

namespace asr {
namespace {

constexpr size_t kMaxGrammars = 256;

std::string grammar_of(const std::string &rule) {
  const size_t dot = rule.rfind('.');
  return dot == std::string::npos ? "" : rule.substr(0, dot);
}
std::string last_of(const std::string &name) { return name.substr(name.rfind('.') + 1); }  // npos + 1 is 0

[[noreturn]] void bad(const JsgfGrammar &grammar, TextPlace place, const std::string &what) {
  fail(ASR_BAD_FILE, "%s: %s: %s; correct the grammar", grammar.source.c_str(), shown(place).c_str(), what.c_str());
}

class Resolver {
 public:
  Resolver(JsgfGrammar main, const FindJsgf &find) : find_(find), main_(main.name) { grammars_.emplace("", std::move(main)); }

  Rules run() {
    std::vector<std::string> left = {""};
    for (std::set<std::string> done; !left.empty();) {
      const std::string key = left.back();
      left.pop_back();
      if (!done.insert(key).second) continue;
      JsgfGrammar &grammar = grammars_.at(key);
      for (const JsgfGrammar::Import &import : grammar.imports) {
        const std::string imported = load(grammar, grammar_of(import.name), import.place);
        check_import(grammar, import, grammars_.at(imported));
        left.push_back(imported);
      }
      for (auto &[name, rule] : grammar.rules.rules) resolve(key, grammar, &rule.expansion, &left);
      for (auto &[name, rule] : grammar.rules.rules) {
        all_.rules.emplace(prefix(key) + name, Rules::Rule{std::move(rule.expansion), rule.is_public && key.empty()});
      }
    }
    all_.grammar = main_;
    return std::move(all_);
  }

 private:
  const FindJsgf &find_;
  const std::string main_;
  std::map<std::string, JsgfGrammar> grammars_;  // by name; the main one under ""
  Rules all_;

  static std::string prefix(const std::string &key) { return key.empty() ? "" : key + "."; }

  // Returns the key of a grammar, which is read if it was not.
  std::string load(const JsgfGrammar &from, const std::string &name, TextPlace place) {
    if (name.empty()) bad(from, place, "an import names a grammar and a rule, as <grammar.rule> or <grammar.*>");
    if (name == main_) return "";
    if (grammars_.count(name) > 0) return name;
    if (!find_) bad(from, place, "a grammar in memory cannot import others; copy their rules into it, or give a file");
    if (grammars_.size() == kMaxGrammars) bad(from, place, format("more than %zu grammars are imported", kMaxGrammars));
    try {
      grammars_.emplace(name, find_(name));
    } catch (const Error &error) {
      fail(error.code(), "%s: %s: %s", from.source.c_str(), shown(place).c_str(), error.what());
    }
    return name;
  }

  void check_import(const JsgfGrammar &from, const JsgfGrammar::Import &import, const JsgfGrammar &grammar) const {
    const std::string rule = last_of(import.name);
    if (rule == "*") return;
    const auto found = grammar.rules.rules.find(rule);
    if (found == grammar.rules.rules.end()) bad(from, import.place, grammar.source + " has no rule <" + rule + ">");
    if (!found->second.is_public) bad(from, import.place, "<" + rule + "> of " + grammar.source + " is not public");
  }

  // Gives the references below a node their full names. Places of other files would be taken for those of the main one.
  void resolve(const std::string &key, const JsgfGrammar &grammar, RuleNode *node, std::vector<std::string> *left) {
    if (node->kind == RuleNode::kRule && !is_special_rule(node->name)) {
      node->name = full_name(key, grammar, *node, left);
    }
    if (!key.empty()) node->place = {};
    for (RuleNode &part : node->parts) resolve(key, grammar, &part, left);
  }

  std::string full_name(const std::string &key, const JsgfGrammar &grammar, const RuleNode &reference,
                        std::vector<std::string> *left) {
    const std::string &name = reference.name, of = grammar_of(name), rule = last_of(name);
    if (grammar.rules.rules.count(name) > 0) return prefix(key) + name;
    const bool is_own = !of.empty() && (of == grammar.name || of == last_of(grammar.name));
    if (is_own && grammar.rules.rules.count(rule) > 0) return prefix(key) + rule;
    std::set<std::string> found;
    for (const JsgfGrammar::Import &import : grammar.imports) {
      const std::string from = grammar_of(import.name), imported = last_of(import.name);
      if ((imported != "*" && imported != rule) || (!of.empty() && of != from && of != last_of(from))) continue;
      if (is_public(from == main_ ? "" : from, rule)) found.insert((from == main_ ? "" : prefix(from)) + rule);
    }
    if (found.size() > 1)
      bad(grammar, reference.place, "<" + name + "> is a rule of several imported grammars; name it in full");
    if (!found.empty()) return *found.begin();
    if (find_ && !of.empty() && of != grammar.name) {  // named in full, which needs no import
      const std::string other = load(grammar, of, reference.place);
      if (!is_public(other, rule)) bad(grammar, reference.place, "<" + name + "> is no public rule of " + of);
      left->push_back(other);
      return prefix(other) + rule;
    }
    if (!key.empty()) bad(grammar, reference.place, "the rule <" + name + "> is not defined");
    return name;  // the use of the rules refuses it
  }

  bool is_public(const std::string &key, const std::string &rule) const {
    const Rules &rules = grammars_.at(key).rules;
    const auto found = rules.rules.find(rule);
    return found != rules.rules.end() && found->second.is_public;
  }
};

}  // namespace

Rules resolve_jsgf(JsgfGrammar main, const FindJsgf &find) { return Resolver(std::move(main), find).run(); }

std::string find_jsgf_file(const std::string &path, const std::string &grammar) {
  namespace fs = std::filesystem;
  if (grammar.find('/') != std::string::npos || grammar.find("..") != std::string::npos) return "";
  std::string folders = grammar;
  std::replace(folders.begin(), folders.end(), '.', '/');
  for (const std::string &name : {folders, grammar, last_of(grammar)}) {
    for (const char *extension : {".gram", ".jsgf"}) {
      const fs::path file = fs::path(path).parent_path() / (name + extension);
      std::error_code error;
      if (fs::is_regular_file(file, error)) return file.string();
    }
  }
  return "";
}

}  // namespace asr
