// SPDX-License-Identifier: Apache-2.0
// The times of a transcript's words and phones, read off the path that ForcedAligner found.
#pragma once

#include <cstdint>
#include <vector>

#include "builder/train/forced_aligner.h"

namespace asr {

struct AlignedPhone {
  uint32_t phone;         // base phone
  uint32_t begin, end;    // frames [begin, end)
  double log_likelihood;  // mean of its frames
};

struct AlignedWord {
  uint32_t number;                   // of the text's words; kForeign: speech that the text does not have
  std::vector<AlignedPhone> phones;  // at least one

  uint32_t begin() const { return phones.front().begin; }
  uint32_t end() const { return phones.back().end; }
  bool is_foreign() const;
};

constexpr uint32_t kForeign = 0xffffffffu;

inline bool AlignedWord::is_foreign() const { return number == kForeign; }

// Returns the words of a path through a graph of TextGraphs in the order of their times; none if the job has no path. Silence
// and fillers between words belong to no word.
std::vector<AlignedWord> aligned_words(const train::AlignmentJob &job, const HmmSet &set);

}  // namespace asr
