// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/srgs.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "builder/graph/grammar_text.h"
#include "builder/graph/xml.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr char kBlanks[] = " \t\r\n";

class SrgsParser {
 public:
  SrgsParser(const std::string &text, const std::string &source, LetterCase letter_case)
      : xml_(text, source), letter_case_(letter_case) {}

  Rules parse() {
    const XmlPiece grammar = xml_.next();
    if (grammar.text != "grammar") bad(grammar, "<grammar> expected, not <" + grammar.text + ">");
    const std::string *const mode = grammar.attribute("mode");
    if (mode != nullptr && *mode != "voice") bad(grammar, "the mode \"" + *mode + "\" is not supported; it must be voice");
    const std::string *const root = grammar.attribute("root");
    for (XmlPiece piece = xml_.next(); piece.kind != XmlPiece::kEnd; piece = xml_.next()) {
      if (piece.kind == XmlPiece::kText) {
        if (piece.text.find_first_not_of(kBlanks) != std::string::npos) bad(piece, "text outside of a rule");
      } else if (piece.text == "rule") {
        add_rule(piece, root);
      } else if (piece.text == "meta" || piece.text == "metadata" || piece.text == "tag") {
        skip_content();
      } else {
        bad(piece, "<" + piece.text + "> is not supported here");
      }
    }
    xml_.next();  // only comments may follow
    if (rules_.rules.empty()) bad(grammar, "no rule is defined");
    if (root != nullptr && rules_.rules.count(*root) == 0) bad(grammar, "the root \"" + *root + "\" is not among the rules");
    return std::move(rules_);
  }

 private:
  XmlReader xml_;
  const LetterCase letter_case_;
  Rules rules_;

  [[noreturn]] void bad(const XmlPiece &piece, const std::string &what) const { xml_.bad(piece.place, what); }

  static RuleNode node_at(const XmlPiece &piece, RuleNode::Kind kind) {
    RuleNode node;
    node.kind = kind;
    node.place = piece.place;
    return node;
  }

  // Skips to the end of the current element.
  void skip_content() {
    for (int depth = 1; depth > 0;) {
      const XmlPiece piece = xml_.next();
      depth += piece.kind == XmlPiece::kStart ? 1 : piece.kind == XmlPiece::kEnd ? -1 : 0;
    }
  }

  // Returns the text of an element without child elements.
  std::string take_text(const XmlPiece &element) {
    std::string text;
    for (XmlPiece piece = xml_.next(); piece.kind != XmlPiece::kEnd; piece = xml_.next()) {
      if (piece.kind != XmlPiece::kText) bad(piece, "<" + element.text + "> has text alone");
      text += piece.is_cdata ? piece.text : xml_.decode(piece.text, piece.place);
    }
    return text;
  }

  void add_rule(const XmlPiece &element, const std::string *root) {
    const std::string *const id = element.attribute("id"), *const scope = element.attribute("scope");
    if (id == nullptr || id->empty()) bad(element, "the rule has no id");
    if (is_special_rule(*id)) bad(element, "the rule " + *id + " cannot be defined");
    if (rules_.rules.count(*id) > 0) bad(element, "the rule " + *id + " is defined twice");
    if (scope != nullptr && *scope != "public" && *scope != "private") bad(element, "the scope is neither public nor private");
    const bool is_public = root != nullptr ? *id == *root : scope != nullptr && *scope == "public";
    rules_.rules.emplace(*id, Rules::Rule{parse_content(element), is_public});
  }

  // Parses the content of a rule or item.
  RuleNode parse_content(const XmlPiece &element) {
    RuleNode node = node_at(element, RuleNode::kSequence);
    for (XmlPiece piece = xml_.next(); piece.kind != XmlPiece::kEnd; piece = xml_.next()) {
      if (piece.kind == XmlPiece::kText) {
        add_words(piece, &node);
      } else if (piece.text == "example") {
        skip_content();
      } else if (piece.text == "tag") {
        RuleNode tag = node_at(piece, RuleNode::kTag);
        tag.name = tag_text(take_text(piece));
        if (!tag.name.empty()) node.parts.push_back(std::move(tag));
      } else {
        node.parts.push_back(parse_part(piece));
      }
    }
    return node;
  }

  RuleNode parse_part(const XmlPiece &element) {
    if (element.text == "item") return parse_item(element);
    if (element.text == "one-of") return parse_one_of(element);
    if (element.text == "ruleref") return parse_reference(element);
    if (element.text == "token") {
      RuleNode word = node_at(element, RuleNode::kWord);
      word.name = word_of(tag_text(take_text(element)), element.place);
      return word;
    }
    bad(element, "<" + element.text + "> is not supported here");
  }

  std::string word_of(const std::string &text, TextPlace place) const {
    if (text.empty() || text.find_first_of(std::string(" \t\r\n\f\v\0", 7)) != std::string::npos) {
      xml_.bad(place, "'" + text + "' is not one word");
    }
    return fold_case(text, letter_case_);
  }

  // Quotes may group words, but each is a word of its own.
  void add_words(const XmlPiece &piece, RuleNode *node) const {
    const std::string separators = std::string(kBlanks) + "\"";
    TextPlace place = piece.place;
    if (piece.is_cdata) place.column += 9;
    for (size_t at = 0; at < piece.text.size();) {
      const size_t end = std::min(piece.text.find_first_of(separators, at), piece.text.size());
      if (end > at) {
        RuleNode word;
        word.kind = RuleNode::kWord;
        word.place = place;
        const std::string text = piece.text.substr(at, end - at);
        word.name = word_of(piece.is_cdata ? text : xml_.decode(text, place), place);
        node->parts.push_back(std::move(word));
      }
      place.column += static_cast<uint32_t>(end + 1 - at);
      if (end < piece.text.size() && piece.text[end] == '\n') place = {place.line + 1, 1};
      at = end + 1;
    }
  }

  RuleNode parse_reference(const XmlPiece &element) {
    RuleNode node = node_at(element, RuleNode::kRule);
    const std::string *const uri = element.attribute("uri"), *const special = element.attribute("special");
    if ((uri == nullptr) == (special == nullptr)) bad(element, "a ruleref has either uri or special");
    if (special != nullptr) {
      if (!is_special_rule(*special)) bad(element, "the special rule " + *special + " is not supported");
      node.name = *special;
    } else {
      if (uri->size() < 2 || (*uri)[0] != '#') bad(element, "\"" + *uri + "\" is not \"#\" and a rule of this grammar");
      node.name = uri->substr(1);
    }
    if (!tag_text(take_text(element)).empty()) bad(element, "a ruleref is empty");
    return node;
  }

  RuleNode parse_one_of(const XmlPiece &element) {
    RuleNode node = node_at(element, RuleNode::kAlternatives);
    for (XmlPiece piece = xml_.next(); piece.kind != XmlPiece::kEnd; piece = xml_.next()) {
      if (piece.kind == XmlPiece::kText && piece.text.find_first_not_of(kBlanks) == std::string::npos) continue;
      if (piece.kind == XmlPiece::kText || piece.text != "item") bad(piece, "<item> expected in <one-of>");
      node.weights.push_back(number(piece, "weight", 1, std::numeric_limits<float>::max()));
      node.parts.push_back(parse_item(piece));
    }
    if (node.parts.empty()) bad(element, "<one-of> has no items");
    return node;
  }

  RuleNode parse_item(const XmlPiece &element) {
    const std::string *const repeat = element.attribute("repeat");
    if (repeat == nullptr) return parse_content(element);
    RuleNode node = node_at(element, RuleNode::kRepeat);
    parse_repeat(element, *repeat, &node);
    node.again = number(element, "repeat-prob", 0.5, 1);
    if (node.most == RuleNode::kNoLimit && node.again == 1) bad(element, "with a repeat-prob of 1 it never ends");
    node.parts.push_back(parse_content(element));
    return node;
  }

  // Returns the value of a numeric attribute from 0 to `most`.
  double number(const XmlPiece &element, const char *name, double value, double most) const {
    const std::string *const text = element.attribute(name);
    if (text == nullptr) return value;
    const std::optional<double> told = parse_weight(*text);
    if (!told || *told > most) bad(element, "\"" + *text + "\" is not a " + name);
    return *told;
  }

  // Parses "3", "0-1", "2-".
  void parse_repeat(const XmlPiece &element, const std::string &text, RuleNode *node) const {
    const auto parse = [&](std::string_view digits, uint32_t *value) {
      const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
      return error == std::errc() && stop == digits.data() + digits.size() && *value <= kMaxRuleRepeats;
    };
    const size_t dash = std::min(text.find('-'), text.size());
    const std::string_view least = std::string_view(text).substr(0, dash), most = std::string_view(text).substr(dash);
    bool good = parse(least, &node->least);
    node->most = node->least;
    if (most == "-") node->most = RuleNode::kNoLimit;
    if (most.size() > 1) good &= parse(most.substr(1), &node->most) && node->most >= node->least;
    if (!good) {
      bad(element,
          "\"" + text + format("\" is not a repeat, such as \"0-1\", \"3\" or \"1-\", up to %u times", kMaxRuleRepeats));
    }
  }
};

}  // namespace

Rules parse_srgs(const std::string &text, const std::string &source, LetterCase letter_case) {
  return SrgsParser(text, source, letter_case).parse();
}

}  // namespace asr
