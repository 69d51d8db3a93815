// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/xml.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "builder/g2p/dictionary.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr char kBlanks[] = " \t\r\n";
constexpr size_t kMaxAttributes = 64;

bool is_blank(char c) { return c != '\0' && strchr(kBlanks, c) != nullptr; }

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == ':' || (c & 0x80) != 0;
}

// Returns false if there is no such character.
bool add_character(uint32_t code, std::string *out) {
  const auto add = [out](uint32_t byte) { *out += static_cast<char>(byte); };
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
  return true;
}

bool add_entity(const std::string &name, std::string *out) {
  constexpr std::pair<const char *, char> kEntities[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto &[known, character] : kEntities) {
    if (name != known) continue;
    *out += character;
    return true;
  }
  if (name.size() < 2 || name[0] != '#') return false;
  const bool is_hex = name[1] == 'x';
  const char *const begin = name.data() + (is_hex ? 2 : 1), *const end = name.data() + name.size();
  uint32_t code = 0;
  const auto [stop, error] = std::from_chars(begin, end, code, is_hex ? 16 : 10);
  return error == std::errc() && stop == end && add_character(code, out);
}

}  // namespace

const std::string *XmlPiece::attribute(const std::string &name) const {
  for (const auto &[known, value] : attributes) {
    if (known == name) return &value;
  }
  return nullptr;
}

void XmlReader::bad(TextPlace where, const std::string &what) const {
  fail(ASR_BAD_FILE, "%s: %s: %s; correct the grammar", source_.c_str(), shown(where).c_str(), what.c_str());
}

void XmlReader::step(size_t n) {
  for (; n > 0; --n) {
    if (text_[at_++] != '\n') continue;
    ++line_;
    line_begin_ = at_;
  }
}

void XmlReader::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) step();
}

void XmlReader::skip_past(const char *end, const char *what) {
  const size_t found = text_.find(end, at_);
  if (found == std::string::npos) bad(place(), std::string(what) + " does not end");
  step(found + strlen(end) - at_);
}

std::string XmlReader::take_name(const char *what) {
  const size_t begin = at_;
  while (at_ < text_.size() && is_name(text_[at_])) ++at_;
  if (at_ == begin) bad(place(), std::string(what) + " expected");
  return text_.substr(begin, at_ - begin);
}

std::string XmlReader::decode(const std::string &text, TextPlace where) const {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '&') {
      out += text[i];
      continue;
    }
    const size_t end = text.find(';', i);
    const std::string name = end == std::string::npos ? "" : text.substr(i + 1, end - i - 1);
    if (!add_entity(name, &out))
      bad(where, "'&' begins &amp;, &lt;, &gt;, &quot;, &apos; or the number of a character; other entities are not read");
    i = end;
  }
  return out;
}

XmlPiece XmlReader::next() {
  if (!to_close_.empty()) {
    to_close_.clear();
    return close(place());
  }
  while (at_ < text_.size()) {
    if (at("<!--")) {
      skip_past("-->", "a comment");
    } else if (at("<?")) {
      skip_past("?>", "a processing instruction");
    } else if (at("<![CDATA[")) {
      return take_cdata();
    } else if (at("<!")) {
      bad(place(), "document types are not read; leave <!...> out");
    } else if (at("</")) {
      return take_end();
    } else if (at("<")) {
      return take_start();
    } else {
      XmlPiece text = take_text();
      if (!open_.empty()) return text;
      if (text.text.find_first_not_of(kBlanks) != std::string::npos) bad(text.place, "text outside of the outermost element");
    }
  }
  XmlPiece done;
  done.place = place();
  if (!open_.empty()) bad(done.place, "<" + open_.back() + "> is not closed");
  if (!has_root_) bad(done.place, "no element in it");
  return done;
}

XmlPiece XmlReader::take_text() {
  XmlPiece piece;
  piece.kind = XmlPiece::kText;
  piece.place = place();
  const size_t begin = at_, end = std::min(text_.find('<', at_), text_.size());
  step(end - begin);
  piece.text = text_.substr(begin, end - begin);
  return piece;
}

XmlPiece XmlReader::take_cdata() {
  constexpr char kMark[] = "<![CDATA[";
  XmlPiece piece;
  piece.kind = XmlPiece::kText;
  piece.is_cdata = true;
  piece.place = place();
  if (open_.empty()) bad(piece.place, "text outside of the outermost element");
  const size_t begin = at_ + sizeof(kMark) - 1;
  skip_past("]]>", "a CDATA section");
  piece.text = text_.substr(begin, at_ - 3 - begin);
  return piece;
}

void XmlReader::take_attribute(XmlPiece *element) {
  const TextPlace where = place();
  std::string name = take_name("the name of an attribute, or '>'");
  skip_blanks();
  if (!at("=")) bad(place(), "'=' expected after " + name);
  step();
  skip_blanks();
  const char quote = at_ < text_.size() ? text_[at_] : '\0';
  if (quote != '"' && quote != '\'') bad(place(), "a value in quotes expected");
  const size_t begin = at_ + 1, end = text_.find(quote, begin);
  if (end == std::string::npos) bad(place(), "the value of " + name + " does not end");
  if (element->attribute(name) != nullptr) bad(where, name + " is given twice");
  if (element->attributes.size() >= kMaxAttributes) bad(where, "an element has more than 64 attributes");
  std::string value = decode(text_.substr(begin, end - begin), place());
  step(end + 1 - at_);
  element->attributes.emplace_back(std::move(name), std::move(value));
}

XmlPiece XmlReader::take_start() {
  XmlPiece piece;
  piece.kind = XmlPiece::kStart;
  piece.place = place();
  if (open_.empty() && has_root_) bad(piece.place, "a second outermost element");
  if (open_.size() >= size_t{kMaxRuleNesting})
    bad(piece.place, format("elements are nested too deeply, more than %d in each other", kMaxRuleNesting));
  step();
  piece.text = take_name("the name of an element");
  for (;;) {
    skip_blanks();
    const bool is_empty = at("/>");
    if (is_empty || at(">")) {
      step(is_empty ? 2 : 1);
      if (is_empty) to_close_ = piece.text;
      open_.push_back(piece.text);
      has_root_ = true;
      return piece;
    }
    take_attribute(&piece);
  }
}

XmlPiece XmlReader::take_end() {
  const TextPlace where = place();
  step(2);
  const std::string name = take_name("the name of an element");
  skip_blanks();
  if (!at(">")) bad(place(), "'>' expected");
  step();
  if (open_.empty() || open_.back() != name)
    bad(where, "</" + name + "> closes nothing" + (open_.empty() ? "" : "; <" + open_.back() + "> is open"));
  return close(where);
}

XmlPiece XmlReader::close(TextPlace where) {
  XmlPiece piece;
  piece.kind = XmlPiece::kEnd;
  piece.text = open_.back();
  piece.place = where;
  open_.pop_back();
  return piece;
}

}  // namespace asr
