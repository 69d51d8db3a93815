// SPDX-License-Identifier: Apache-2.0
// Parses JSGF: characters to tokens to a tree of RuleNode for each rule.
#include "builder/graph/jsgf.h"

#include "builder/g2p/dictionary.h"
#include "builder/graph/grammar_text.h"
#include "builder/graph/jsgf_imports.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

struct Token {
  enum Kind { kEnd, kMark, kWord, kRule, kWeight, kTag } kind = kEnd;  // kMark: one of ; = | ( ) [ ] * +
  std::string text;
  TextPlace place;
};

class JsgfParser {
 public:
  JsgfParser(const std::string &text, const std::string &source, LetterCase letter_case)
      : text_(text), source_(source), letter_case_(letter_case) {}

  JsgfGrammar parse() {
    read_header();
    next();
    grammar_.source = source_;
    while (token_.kind != Token::kEnd) parse_statement();
    if (grammar_.rules.rules.empty()) bad("no rule is defined");
    return std::move(grammar_);
  }

 private:
  const std::string &text_;
  const std::string &source_;
  const LetterCase letter_case_;
  size_t at_ = 0, line_begin_ = 0;
  uint32_t line_ = 1;
  int depth_ = 0;
  Token token_;
  JsgfGrammar grammar_;

  [[noreturn]] void bad(const std::string &what) const {
    fail(ASR_BAD_FILE, "%s: %s: %s; correct the grammar", source_.c_str(), shown(token_.place).c_str(), what.c_str());
  }

  TextPlace place() const { return {line_, static_cast<uint32_t>(at_ - line_begin_ + 1)}; }

  // Skips a character that may end a line.
  void step() {
    if (text_[at_++] != '\n') return;
    ++line_;
    line_begin_ = at_;
  }

  void read_header() {
    if (text_.compare(at_, 5, "#JSGF") != 0)
      fail(ASR_BAD_FILE,
           "%s: line 1, column 1: a JSGF grammar begins with #JSGF V1.0; grammars of other kinds have to be written as "
           "such a one",
           source_.c_str());
    const size_t end = text_.find(';', at_);
    if (end == std::string::npos) bad("';' expected after the header");
    while (at_ <= end) step();
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        step();
      } else if (text_.compare(at_, 2, "//") == 0) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.compare(at_, 2, "/*") == 0) {
        token_.place = place();
        take_past("*/", "a comment", 2);
      } else {
        return;
      }
    }
  }

  // Returns the text between a mark of `n_mark` characters and `end`, which may be on a later line.
  std::string take_past(const std::string &end, const char *what, size_t n_mark) {
    const size_t begin = at_ + n_mark, found = text_.find(end, begin);
    if (found == std::string::npos) bad(std::string(what) + " does not end");
    while (at_ < found + end.size()) step();
    return text_.substr(begin, found - begin);
  }

  std::string take_until(char end, const char *what) {
    const size_t found = text_.find_first_of(std::string{end, '\n'}, at_ + 1);
    if (found == std::string::npos || text_[found] == '\n') bad(std::string(what) + " does not end");
    std::string inside = text_.substr(at_ + 1, found - at_ - 1);
    at_ = found + 1;
    return inside;
  }

  void next() {
    skip_blanks();
    token_ = {Token::kEnd, "", place()};
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (std::string(";=|()[]*+").find(c) != std::string::npos) {
      set_token(Token::kMark, std::string(1, c));
      ++at_;
    } else if (c == '<') {
      set_token(Token::kRule, take_until('>', "a rule name"));
    } else if (c == '"') {
      set_token(Token::kWord, take_until('"', "a quoted word"));
    } else if (c == '/') {
      set_token(Token::kWeight, take_until('/', "a weight"));
    } else if (c == '{') {
      set_token(Token::kTag, take_past("}", "a tag", 1));
    } else {
      const size_t end = std::min(text_.find_first_of(" \t\r\n;=|()[]*+<>{}\"/", at_), text_.size());
      if (end == at_) bad(std::string("'") + c + "' cannot stand here");
      set_token(Token::kWord, text_.substr(at_, end - at_));
      at_ = end;
    }
  }

  // Sets the token, with the position of its beginning.
  void set_token(Token::Kind kind, std::string text) {
    token_.kind = kind;
    token_.text = std::move(text);
  }

  bool at_mark(char mark) const { return token_.kind == Token::kMark && token_.text[0] == mark; }
  void take_mark(char mark) {
    if (!at_mark(mark)) bad(std::string("'") + mark + "' expected");
    next();
  }

  void parse_statement() {
    Rules *const rules = &grammar_.rules;
    if (token_.kind == Token::kWord && token_.text == "grammar") {
      next();
      if (token_.kind != Token::kWord) bad("the grammar's name expected");
      grammar_.name = token_.text;
      next();
      return take_mark(';');
    }
    if (token_.kind == Token::kWord && token_.text == "import") {
      next();
      if (token_.kind != Token::kRule) bad("the imported rule, <grammar.rule> or <grammar.*>, expected");
      grammar_.imports.push_back({tag_text(token_.text), token_.place});
      next();
      return take_mark(';');
    }
    const bool is_public = token_.kind == Token::kWord && token_.text == "public";
    if (is_public) next();
    if (token_.kind != Token::kRule) bad("a rule, <name> = ...;, expected");
    const std::string name = token_.text;
    if (is_special_rule(name)) bad("<" + name + "> cannot be defined");
    if (rules->rules.count(name) > 0) bad("<" + name + "> is defined twice");
    next();
    take_mark('=');
    RuleNode expansion = parse_alternatives();
    if (!at_mark(';')) bad("';' expected at the end of <" + name + ">");
    rules->rules.emplace(name, Rules::Rule{std::move(expansion), is_public});
    next();
  }

  RuleNode parse_alternatives() {
    if (++depth_ > kMaxRuleNesting) bad(format("parts are nested too deeply, more than %d in each other", kMaxRuleNesting));
    RuleNode node = node_here(RuleNode::kAlternatives);
    size_t n_weights = 0;
    for (;;) {
      double weight = 1;
      if (token_.kind == Token::kWeight) {
        const std::optional<double> told = parse_weight(without_suffix(tag_text(token_.text)));
        if (!told) bad("/" + token_.text + "/ is not a weight");
        weight = *told;
        ++n_weights;
        next();
      }
      node.weights.push_back(weight);
      node.parts.push_back(parse_sequence());
      if (!at_mark('|')) break;
      next();
    }
    if (n_weights != 0 && n_weights != node.parts.size()) bad("either all alternatives have weights or none");
    --depth_;
    return node;
  }

  // Weights are Java's floating-point literals: 8, 8.5, .5, 1e3, and with a suffix, 8f.
  static std::string without_suffix(std::string number) {
    if (number.size() > 1 && std::string("fFdD").find(number.back()) != std::string::npos) number.pop_back();
    return number;
  }

  RuleNode node_here(RuleNode::Kind kind) const {
    RuleNode node;
    node.kind = kind;
    node.place = token_.place;
    return node;
  }

  static RuleNode repeated(RuleNode part, uint32_t least, uint32_t most) {
    RuleNode node;
    node.kind = RuleNode::kRepeat;
    node.place = part.place;
    node.least = least;
    node.most = most;
    node.parts.push_back(std::move(part));
    return node;
  }

  RuleNode parse_sequence() {
    RuleNode node = node_here(RuleNode::kSequence);
    bool has_parts = false;
    for (;;) {
      RuleNode part;
      if (token_.kind == Token::kTag) {
        part = node_here(RuleNode::kTag);
        part.name = tag_text(token_.text);
        next();
        if (!part.name.empty()) node.parts.push_back(std::move(part));
        continue;
      }
      if (token_.kind == Token::kWord || token_.kind == Token::kRule) {
        part = node_here(token_.kind == Token::kWord ? RuleNode::kWord : RuleNode::kRule);
        part.name = part.kind == RuleNode::kWord ? fold_case(token_.text, letter_case_) : token_.text;
        next();
      } else if (at_mark('(') || at_mark('[')) {
        const bool optional = at_mark('[');
        next();
        part = parse_alternatives();
        take_mark(optional ? ']' : ')');
        if (optional) part = repeated(std::move(part), 0, 1);
      } else {
        break;
      }
      for (int n_marks = 1; at_mark('*') || at_mark('+'); ++n_marks) {
        if (n_marks > kMaxJsgfMarks) bad(format("more than %d marks * or + follow each other", kMaxJsgfMarks));
        part = repeated(std::move(part), at_mark('*') ? 0 : 1, RuleNode::kNoLimit);
        next();
      }
      node.parts.push_back(std::move(part));
      has_parts = true;
    }
    if (!has_parts) bad("a word, a rule or a part in brackets expected");
    return node;
  }
};

}  // namespace

Rules parse_jsgf(const std::string &text, const std::string &source, LetterCase letter_case) {
  return resolve_jsgf(JsgfParser(text, source, letter_case).parse(), nullptr);
}

Rules read_jsgf(const std::string &path, LetterCase letter_case) {
  const auto read = [&](const std::string &file) {
    return JsgfParser(read_text(file, {"a grammar in JSGF", {Format::kJsgf}}), file, letter_case).parse();
  };
  const FindJsgf find = [&](const std::string &grammar) {
    const std::string file = find_jsgf_file(path, grammar);
    if (file.empty()) {
      fail(ASR_NOT_FOUND, "there is no file of the grammar %s, such as %s.gram, beside this one; put it there", grammar.c_str(),
           grammar.c_str());
    }
    return read(file);
  };
  return resolve_jsgf(read(path), find);
}

}  // namespace asr
