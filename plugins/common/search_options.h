// SPDX-License-Identifier: Apache-2.0
// Checks of search options that every back end makes.
#pragma once

#include <cmath>

#include "core/backend/asr_backend.h"
#include "core/base/error.h"

namespace asr {

// Throws if a channel makes no lattices.
inline void check_makes_lattices(float lattice_beam, bool has_epsilon_ranks) {
  if (!(lattice_beam > 0)) fail(ASR_INVALID_ARGUMENT, "lattice: the channel began with lattice_beam 0");
  if (!has_epsilon_ranks) fail(ASR_UNSUPPORTED, "lattice: the graph has a cycle of epsilon arcs; remove it to get lattices");
}

inline const asr_search_options &checked(const asr_search_options &options) {
  const auto is_positive = [](float x) { return x > 0 && std::isfinite(x); };
  if (!is_positive(options.beam)) fail(ASR_INVALID_ARGUMENT, "beam %g is not above 0", double{options.beam});
  if (options.acoustic_scale != 0 && !is_positive(options.acoustic_scale)) {
    fail(ASR_INVALID_ARGUMENT, "acoustic_scale %g is negative or not finite", double{options.acoustic_scale});
  }
  if (!std::isfinite(options.word_insertion_cost)) fail(ASR_INVALID_ARGUMENT, "word_insertion_cost is not finite");
  if (options.lattice_beam != 0 && !is_positive(options.lattice_beam)) {
    fail(ASR_INVALID_ARGUMENT, "lattice_beam %g is negative or not finite", double{options.lattice_beam});
  }
  if (options.max_active == 0) fail(ASR_INVALID_ARGUMENT, "max_active is 0; give at least 1");
  return options;
}

}  // namespace asr
