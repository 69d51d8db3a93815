// SPDX-License-Identifier: Apache-2.0
// What a stream of the stress program has found, and how it differs from what another device found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/asr.h"

namespace asr::stress {

struct Found {
  uint32_t flags = 0;
  std::string words;  // with their times
  double graph_cost = 0, acoustic_cost = 0;
  std::vector<float> confidences;
  struct Alternative {
    std::string text;
    double above_best;  // cost less that of the best
  };
  std::vector<Alternative> alternatives;  // where there is a lattice
  double lattice_beam = 0;                // of the lattice
  uint32_t most_alternatives = 0;         // that were asked for
  uint64_t digest = 0;                    // of all that the event holds, lattice included, bit for bit
};

// Of a FINAL event.
Found found_in(const asr_event *event, uint32_t most_alternatives);

// A sentence, or "" if there is no difference but that of scores whose last bits differ: equal words and times, costs within
// 1e-4, and the same alternatives, those near the edge of the lattice not counted.
std::string difference(const Found &expected, const Found &found);

}  // namespace asr::stress
