// SPDX-License-Identifier: Apache-2.0
// The result of a stream of the stress program, and its difference from another device's result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/asr.h"

namespace asr::stress {

struct Found {
  uint32_t flags = 0;
  std::string words;  // including their times
  double graph_cost = 0, acoustic_cost = 0;
  std::vector<float> confidences;
  struct Alternative {
    std::string text;
    double above_best;  // cost minus the best cost
  };
  std::vector<Alternative> alternatives;  // only with a lattice
  double lattice_beam = 0;                // beam of the lattice
  uint32_t max_alternatives = 0;          // requested number
  uint64_t digest = 0;                    // checksum of everything in the event, including the lattice, bit for bit
};

// Extracts the result of a FINAL event.
Found found_in(const asr_event *event, uint32_t max_alternatives);

// Returns a message, or "" if the difference can come from scores whose last bits differ. Such results have equal words and
// times, costs within 1e-4, and the same alternatives except near the edge of the lattice.
std::string difference(const Found &expected, const Found &found);

}  // namespace asr::stress
