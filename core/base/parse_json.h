// SPDX-License-Identifier: Apache-2.0
// JSON texts of files. Copying and printing a value nests as deep as the value does, so that a deep one would overflow the
// stack: the depth is checked while parsing. Used by the readers of bundles, front ends and recognised words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {

// As nlohmann's parse, with or without its exceptions; asr::Error naming `source` where the text is nested too deeply.
inline nlohmann::json parse_json(const std::string &text, const std::string &source, bool throws = true) {
  const auto check_depth = [&source](int depth, nlohmann::json::parse_event_t, const nlohmann::json &) {
    if (depth > kMostJsonDepth) {
      fail(ASR_BAD_FILE, "%s: its JSON is nested more than %d deep; the file is damaged", source.c_str(), kMostJsonDepth);
    }
    return true;
  };
  return nlohmann::json::parse(text, check_depth, throws);
}

}  // namespace asr
