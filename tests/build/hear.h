// SPDX-License-Identifier: Apache-2.0
// What an engine hears with a graph that was compiled in the process.
#pragma once

#include <string>
#include <vector>

namespace asr::test {

// The FINAL of a recording with a graph, and its tags.
struct Heard {
  std::string text, rule, tags;
  std::vector<std::string> words;  // "text[rule|tags]"
};

// Speaks the words (tests/api/tone_bundle.h) to an engine with the graph.
Heard hear(const std::string &archive, const std::string &words);

}  // namespace asr::test
