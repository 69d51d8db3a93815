// SPDX-License-Identifier: Apache-2.0
// Goodness of pronunciation: how well the audio of a phone fits it, compared with all phones (Witt and Young 2000, equation 4).
#pragma once

#include <vector>

#include "builder/align/aligned_words.h"

namespace asr {

struct PhoneGoodness {
  double goodness;     // (log p(rows | phone) - log p(rows | best phones)) / frames; about 0 if it fits, lower if others do
  uint32_t likeliest;  // the phone that the best phones have in most of these frames
};

// Rates the phones of a word. free_path: the job of the same rows with a graph of any phones in any order
// (make_phone_loop), which has a path.
std::vector<PhoneGoodness> rate(const AlignedWord &word, const train::AlignmentJob &free_path);

}  // namespace asr
