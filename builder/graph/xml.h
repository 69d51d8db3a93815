// SPDX-License-Identifier: Apache-2.0
// Reads the subset of XML that grammars need, piece by piece: elements, attributes, text, CDATA, comments, the five entities
// and character references. Document types and other entities are refused. Names keep their prefixes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "builder/graph/grammar.h"

namespace asr {

struct XmlPiece {
  enum Kind { kStart, kEnd, kText, kDone } kind = kDone;  // an empty element is a start and an end
  std::string text;                                       // the element's name; or raw text, not decoded
  bool is_cdata = false;                                  // text that needs no decoding
  std::vector<std::pair<std::string, std::string>> attributes;
  TextPlace place;

  const std::string *attribute(const std::string &name) const;  // nullptr if absent
};

class XmlReader {
 public:
  XmlReader(const std::string &text, const std::string &source) : text_(text), source_(source) {}

  // Returns the next piece. Checks that elements are closed in order, that there is one root element, and that nesting is at
  // most kMaxRuleNesting.
  XmlPiece next();

  // Returns text with its entities replaced; `place` is its beginning.
  std::string decode(const std::string &text, TextPlace place) const;

  [[noreturn]] void bad(TextPlace place, const std::string &what) const;

 private:
  const std::string &text_;
  const std::string &source_;
  size_t at_ = 0, line_begin_ = 0;
  uint32_t line_ = 1;
  std::vector<std::string> open_;
  std::string to_close_;  // an empty element, whose end is the next piece
  bool has_root_ = false;

  TextPlace place() const { return {line_, static_cast<uint32_t>(at_ - line_begin_ + 1)}; }
  bool at(const char *mark) const { return text_.compare(at_, std::char_traits<char>::length(mark), mark) == 0; }
  void step(size_t n = 1);
  void skip_blanks();
  void skip_past(const char *end, const char *what);
  std::string take_name(const char *what);
  XmlPiece take_start();
  XmlPiece take_end();
  XmlPiece take_text();
  XmlPiece take_cdata();
  void take_attribute(XmlPiece *element);
  XmlPiece close(TextPlace where);
};

}  // namespace asr
