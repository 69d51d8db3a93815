// SPDX-License-Identifier: Apache-2.0
// JsonWriter writes JSON texts piece by piece, in the form of nlohmann's dump(). Destroying a nested nlohmann value allocates
// memory, and ends the process if none is left. So nlohmann formats single values only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace asr {

class JsonWriter {
 public:
  // indent: blanks per level, with each element on its own line; 0: everything on one line, without blanks.
  explicit JsonWriter(size_t indent = 0) : indent_(indent) {}

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }
  void key(const std::string &name) {
    separate();
    put(name);
    text_ += indent_ > 0 ? ": " : ":";
    after_key_ = true;
  }
  // Writes a text, a number or a Boolean.
  template <typename Value>
  void value(const Value &value) {
    separate();
    put(value);
  }
  const std::string &text() const { return text_; }

 private:
  const size_t indent_;
  size_t depth_ = 0;
  bool is_first_ = true, after_key_ = false;
  std::string text_;

  template <typename Value>
  void put(const Value &value) {
    const nlohmann::json single = value;
    text_ += single.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  void begin(char bracket) {
    separate();
    text_ += bracket;
    ++depth_;
    is_first_ = true;
  }
  void end(char bracket) {
    --depth_;
    if (!is_first_) new_line();
    text_ += bracket;
    is_first_ = false;
  }
  void separate() {
    if (after_key_) {
      after_key_ = false;
    } else if (depth_ > 0) {
      if (!is_first_) text_ += ',';
      new_line();
    }
    is_first_ = false;
  }
  void new_line() {
    if (indent_ == 0) return;
    text_ += '\n';
    text_.append(indent_ * depth_, ' ');
  }
};

}  // namespace asr
