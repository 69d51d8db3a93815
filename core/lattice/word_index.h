// SPDX-License-Identifier: Apache-2.0
// WordIndex finds the words of a graph by their text, which callers may have written in another case or normal form than the
// graph: for phrases that are boosted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace asr {

class WordIndex {
 public:
  // words: by id; word 0 is none. The list must outlive this. Takes 16 bytes a word.
  explicit WordIndex(const std::vector<std::string> &words);

  // Returns the word as the graph spells it: this text if the graph has it, else that of the first word which differs in its
  // normal form alone, else that of the first which differs in case. nullptr: there is no such word. Several words may have one
  // text, with tags of their own.
  const std::string *find(const std::string &word) const;

 private:
  const std::vector<std::string> &words_;
  std::vector<std::pair<uint64_t, uint32_t>> entries_;  // hash of the form without case, and id; sorted
};

}  // namespace asr
