// SPDX-License-Identifier: Apache-2.0
// BegunOptions remembers the options with which a channel of a graph began without error. Back ends that search on a device
// start the first channel at once, and later ones lazily, with their first advance.
#pragma once

#include <optional>
#include <utility>

#include "core/backend/asr_backend.h"

namespace asr {

class BegunOptions {
 public:
  // Returns true if a channel with these options has begun without error; then others will, too.
  bool has(const asr_search_options &options) const { return key_ == key(options); }
  void note(const asr_search_options &options) { key_ = key(options); }

 private:
  using Key = std::pair<float, float>;  // the options that errors depend on
  static Key key(const asr_search_options &options) { return {options.beam, options.word_insertion_cost}; }

  std::optional<Key> key_;
};

}  // namespace asr
