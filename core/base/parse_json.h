// SPDX-License-Identifier: Apache-2.0
// JsonText parses JSON texts of files. Two habits of nlohmann's values are dangerous with damaged files or little
// memory. Copying and printing recurse as deep as the value, and destroying a nested value allocates memory. So texts
// are parsed into values of limited depth and destroyed level by level. The readers of bundles, front ends and
// recognised words use it.
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
  // Throws nlohmann's exceptions; with throws = false it leaves a discarded root() instead. Throws asr::Error naming `source`
  // if the text is nested too deeply.
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
  ~JsonText() { empty(&root_); }  // NOLINT(bugprone-exception-escape): see empty()
  JsonText(const JsonText &) = delete;
  JsonText &operator=(const JsonText &) = delete;

  const nlohmann::json &root() const { return root_; }

 private:
  using Json = nlohmann::json;

  // Takes *value apart, so that its destruction allocates nothing. nlohmann's accessors throw only for another type.
  static void empty(Json *value) noexcept {  // NOLINT(bugprone-exception-escape): the types are tested
    if (value->is_structured()) {
      for (Json &child : *value) empty(&child);
    }
    if (value->is_array()) value->get_ref<Json::array_t &>().clear();
    if (value->is_object()) value->get_ref<Json::object_t &>().clear();
  }

  // Builder inserts the values that the parser reports.
  class Builder : public nlohmann::json_sax<Json> {
   public:
    Builder(Json *root, const std::string &source, bool throws) : root_(root), source_(source), throws_(throws) {}

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(Json::number_integer_t value) override { return put(value); }
    bool number_unsigned(Json::number_unsigned_t value) override { return put(value); }
    bool number_float(Json::number_float_t value, const std::string &) override { return put(value); }
    bool string(std::string &value) override { return put(std::move(value)); }
    bool binary(Json::binary_t &) override { return false; }  // JSON texts contain no binary values
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
      if (open_.size() >= size_t{kMaxJsonDepth}) {
        fail(ASR_BAD_FILE, "%s: its JSON is nested more than %d deep; the file is damaged", source_.c_str(), kMaxJsonDepth);
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
    // Returns the slot of the next value, cleared if the text contains its key twice.
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
    std::vector<Json *> open_;  // path from the root to the container being read
    std::string key_;
  };

  Json root_;
};

}  // namespace asr
