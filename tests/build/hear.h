// SPDX-License-Identifier: Apache-2.0
// Recognises with a graph compiled in the process.
#pragma once

#include <string>
#include <vector>

namespace asr::test {

// The FINAL of a recording with a graph, and its tags.
struct Heard {
  std::string text, rule, tags;
  std::vector<std::string> words;  // "text[rule|tags]"
};

// Synthesises the words (tests/api/tone_bundle.h) and recognises them with the graph.
Heard hear(const std::string &archive, const std::string &words);

}  // namespace asr::test
