// SPDX-License-Identifier: Apache-2.0
// The parser: characters to tokens to a tree of JsgfNode for each rule.
#include "core/graph/build/jsgf.h"

#include <cmath>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"

namespace asr {
namespace {

struct Token {
  enum Kind { kEnd, kMark, kWord, kRule, kWeight } kind = kEnd;  // kMark: one of ; = | ( ) [ ] * +
  std::string text;
  size_t line = 1;
};

class JsgfParser {
 public:
  JsgfParser(const std::string &text, const std::string &source, LetterCase letter_case)
      : text_(text), source_(source), letter_case_(letter_case) {}

  Jsgf parse() {
    read_header();
    next();
    Jsgf jsgf;
    while (token_.kind != Token::kEnd) parse_statement(&jsgf);
    if (jsgf.rules.empty()) bad("no rule is defined");
    return jsgf;
  }

 private:
  const std::string &text_;
  const std::string &source_;
  const LetterCase letter_case_;
  size_t at_ = 0, line_ = 1;
  int depth_ = 0;
  Token token_;

  [[noreturn]] void bad(const std::string &what) const {
    fail(ASR_BAD_FILE, "%s: line %zu: %s; correct the grammar", source_.c_str(), token_.line, what.c_str());
  }

  void read_header() {
    if (text_.compare(0, 3, "\xef\xbb\xbf") == 0) at_ = 3;
    if (text_.compare(at_, 5, "#JSGF") != 0)
      fail(ASR_BAD_FILE, "%s: line 1: a JSGF grammar begins with #JSGF V1.0;", source_.c_str());
    at_ = text_.find(';', at_);
    if (at_ == std::string::npos) bad("';' expected after the header");
    ++at_;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') ++line_;
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (text_.compare(at_, 2, "//") == 0) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.compare(at_, 2, "/*") == 0) {
        skip_past("*/", "a comment");
      } else if (text_[at_] == '{') {
        skip_past("}", "a tag");
      } else {
        return;
      }
    }
  }

  void skip_past(const char *end, const char *what) {
    const size_t found = text_.find(end, at_ + 1);
    if (found == std::string::npos) bad(std::string(what) + " does not end");
    for (; at_ < found; ++at_) line_ += text_[at_] == '\n';
    at_ += std::string(end).size();
  }

  std::string take_until(char end, const char *what) {
    const size_t found = text_.find(end, at_ + 1);
    if (found == std::string::npos || text_.find('\n', at_) < found) bad(std::string(what) + " does not end");
    const std::string inside = text_.substr(at_ + 1, found - at_ - 1);
    at_ = found + 1;
    return inside;
  }

  void next() {
    skip_blanks();
    token_ = {Token::kEnd, "", line_};
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (std::string(";=|()[]*+").find(c) != std::string::npos) {
      token_ = {Token::kMark, std::string(1, c), line_};
      ++at_;
    } else if (c == '<') {
      token_ = {Token::kRule, take_until('>', "a rule name"), line_};
    } else if (c == '"') {
      token_ = {Token::kWord, take_until('"', "a quoted word"), line_};
    } else if (c == '/') {
      token_ = {Token::kWeight, take_until('/', "a weight"), line_};
    } else {
      const size_t end = std::min(text_.find_first_of(" \t\r\n;=|()[]*+<>{}\"/", at_), text_.size());
      if (end == at_) bad(std::string("'") + c + "' cannot stand here");
      token_ = {Token::kWord, text_.substr(at_, end - at_), line_};
      at_ = end;
    }
  }

  bool at_mark(char mark) const { return token_.kind == Token::kMark && token_.text[0] == mark; }
  void take_mark(char mark) {
    if (!at_mark(mark)) bad(std::string("'") + mark + "' expected");
    next();
  }

  void parse_statement(Jsgf *jsgf) {
    if (token_.kind == Token::kWord && token_.text == "grammar") {
      next();
      if (token_.kind != Token::kWord) bad("the grammar's name expected");
      next();
      return take_mark(';');
    }
    if (token_.kind == Token::kWord && token_.text == "import") bad("imports are not supported; copy the rules into one file");
    const bool is_public = token_.kind == Token::kWord && token_.text == "public";
    if (is_public) next();
    if (token_.kind != Token::kRule) bad("a rule, <name> = ...;, expected");
    const std::string name = token_.text;
    next();
    take_mark('=');
    JsgfNode expansion = parse_alternatives();
    if (!at_mark(';')) bad("';' expected at the end of <" + name + ">");
    if (name == "NULL" || name == "VOID") bad("<" + name + "> cannot be defined");
    if (!jsgf->rules.emplace(name, Jsgf::Rule{std::move(expansion), is_public}).second) bad("<" + name + "> is defined twice");
    next();
  }

  JsgfNode parse_alternatives() {
    if (++depth_ > kMostJsgfNesting) bad(format("parts are nested too deeply, more than %d in each other", kMostJsgfNesting));
    JsgfNode node{JsgfNode::kAlternatives, "", {}, {}};
    size_t n_weights = 0;
    for (;;) {
      double weight = 1;
      if (token_.kind == Token::kWeight) {
        char *end = nullptr;
        weight = std::strtod(token_.text.c_str(), &end);
        if (end == token_.text.c_str() || *end != 0 || !(weight >= 0) || !std::isfinite(weight))
          bad("/" + token_.text + "/ is not a weight");
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

  static JsgfNode wrap(JsgfNode::Kind kind, JsgfNode part) {
    JsgfNode node{kind, "", {}, {}};
    node.parts.push_back(std::move(part));
    return node;
  }

  JsgfNode parse_sequence() {
    JsgfNode node{JsgfNode::kSequence, "", {}, {}};
    for (;;) {
      JsgfNode part{JsgfNode::kWord, "", {}, {}};
      if (token_.kind == Token::kWord || token_.kind == Token::kRule) {
        part.kind = token_.kind == Token::kWord ? JsgfNode::kWord : JsgfNode::kRule;
        part.name = part.kind == JsgfNode::kWord ? fold_case(token_.text, letter_case_) : token_.text;
        next();
      } else if (at_mark('(') || at_mark('[')) {
        const bool optional = at_mark('[');
        next();
        part = parse_alternatives();
        take_mark(optional ? ']' : ')');
        if (optional) part = wrap(JsgfNode::kOptional, std::move(part));
      } else {
        break;
      }
      for (int n_marks = 1; at_mark('*') || at_mark('+'); ++n_marks) {
        if (n_marks > kMostJsgfMarks) bad(format("more than %d marks * or + follow each other", kMostJsgfMarks));
        part = wrap(at_mark('*') ? JsgfNode::kRepeat : JsgfNode::kRepeatOnce, std::move(part));
        next();
      }
      node.parts.push_back(std::move(part));
    }
    if (node.parts.empty()) bad("a word, a rule or a part in brackets expected");
    return node;
  }
};

}  // namespace

Jsgf parse_jsgf(const std::string &text, const std::string &source, LetterCase letter_case) {
  return JsgfParser(text, source, letter_case).parse();
}

Jsgf read_jsgf(const std::string &path, LetterCase letter_case) { return parse_jsgf(read_file(path), path, letter_case); }

}  // namespace asr
