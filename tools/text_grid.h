// SPDX-License-Identifier: Apache-2.0
// TextGrids of Praat: intervals with labels on tiers (Praat manual, "TextGrid file formats").
#pragma once

#include <string>
#include <vector>

namespace asr::tool {

// An interval of a tier; those without a label lie between the others.
struct LabelledInterval {
  double begin_s, end_s;
  std::string label;
};

struct IntervalTier {
  std::string name;
  std::vector<LabelledInterval> intervals;
};

struct TextGrid {
  std::vector<IntervalTier> tiers;
  std::vector<std::string> point_tiers;  // their names; nothing else of them is kept
};

// Reads the long or the short text format in the bytes of a file: UTF-8, or UTF-16 with its mark, as Praat writes it.
// `source` names the file in errors.
TextGrid parse_text_grid(std::string bytes, const std::string &source);

// Returns a TextGrid in the long text format. What the intervals of a tier leave out becomes intervals without a label, because
// Praat requires that they cover the recording.
std::string text_grid(const std::vector<IntervalTier> &tiers, double duration_s);

}  // namespace asr::tool
