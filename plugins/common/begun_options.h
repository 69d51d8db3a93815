// SPDX-License-Identifier: Apache-2.0
// With which options channels of a graph can begin: back ends that search on a device try the first one at once and let others
// begin with their first advance.
#pragma once

#include <optional>
#include <utility>

#include "core/backend/asr_backend.h"

namespace asr {

class BegunOptions {
 public:
  // Whether a channel with these options has begun without an error: then others will.
  bool has(const asr_search_options &options) const { return key_ == key(options); }
  void note(const asr_search_options &options) { key_ = key(options); }

 private:
  using Key = std::pair<float, float>;  // what errors depend on
  static Key key(const asr_search_options &options) { return {options.beam, options.word_insertion_cost}; }

  std::optional<Key> key_;
};

}  // namespace asr
