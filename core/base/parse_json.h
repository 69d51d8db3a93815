// SPDX-License-Identifier: Apache-2.0
// JSON texts of files. nlohmann's values have two habits that must not meet a damaged file or a lack of memory: copying and
// printing nest as deep as the value does, and destroying a value allocates memory where it holds others. So texts are parsed
// into a value that is not too deep, and taken apart level by level. Used by the readers of bundles, front ends and recognised
// words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {

class JsonText {
 public:
  // Throws nlohmann's exceptions, or, if it is told not to, leaves a root() that is no value; asr::Error naming `source` where
  // the text is nested too deeply.
  JsonText(const std::string &text, const std::string &source, bool throws = true) {
    Builder builder(&root_, source, throws);
    try {
      if (!nlohmann::json::sax_parse(text, &builder)) {
        empty(&root_);
        root_ = nlohmann::json(nlohmann::json::value_t::discarded);
      }
    } catch (...) {
      empty(&root_);
      throw;
    }
  }
  ~JsonText() { empty(&root_); }
  JsonText(const JsonText &) = delete;
  JsonText &operator=(const JsonText &) = delete;

  const nlohmann::json &root() const { return root_; }

 private:
  using Json = nlohmann::json;

  // Afterwards destroying *value allocates nothing.
  static void empty(Json *value) noexcept {
    if (value->is_structured()) {
      for (Json &child : *value) empty(&child);
    }
    if (value->is_array()) value->get_ref<Json::array_t &>().clear();
    if (value->is_object()) value->get_ref<Json::object_t &>().clear();
  }

  // Puts what the parser meets where it belongs.
  class Builder : public nlohmann::json_sax<Json> {
   public:
    Builder(Json *root, const std::string &source, bool throws) : root_(root), source_(source), throws_(throws) {}

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(Json::number_integer_t value) override { return put(value); }
    bool number_unsigned(Json::number_unsigned_t value) override { return put(value); }
    bool number_float(Json::number_float_t value, const std::string &) override { return put(value); }
    bool string(std::string &value) override { return put(std::move(value)); }
    bool binary(Json::binary_t &) override { return false; }  // no such thing in a text
    bool start_object(size_t) override { return open(Json::value_t::object); }
    bool start_array(size_t) override { return open(Json::value_t::array); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(std::string &value) override {
      key_ = std::move(value);
      return true;
    }
    bool parse_error(size_t, const std::string &, const nlohmann::detail::exception &error) override {
      if (throws_) throw nlohmann::json::exception(error);
      return false;
    }

   private:
    bool put(Json value) {
      place() = std::move(value);
      return true;
    }
    bool open(Json::value_t type) {
      if (open_.size() >= size_t{kMostJsonDepth}) {
        fail(ASR_BAD_FILE, "%s: its JSON is nested more than %d deep; the file is damaged", source_.c_str(), kMostJsonDepth);
      }
      Json &value = place();
      value = Json(type);
      open_.push_back(&value);
      return true;
    }
    bool close() {
      open_.pop_back();
      return true;
    }
    // The place of the next value, emptied if the text has two for it.
    Json &place() {
      if (open_.empty()) return *root_;
      Json &parent = *open_.back();
      if (parent.is_array()) return parent.get_ref<Json::array_t &>().emplace_back();
      Json &value = parent.get_ref<Json::object_t &>()[key_];
      empty(&value);
      return value;
    }

    Json *const root_;
    const std::string &source_;
    const bool throws_;
    std::vector<Json *> open_;  // from the root to the value whose parts come now
    std::string key_;
  };

  Json root_;
};

}  // namespace asr
