// SPDX-License-Identifier: Apache-2.0
// An acoustic model in the tables of plugins/gpu/forced/forced_types.h. Used by forced.h.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/gpu/forced/forced_types.h"

namespace asr {

struct ForcedPack {
  // Throws ASR_UNSUPPORTED for full covariances, and for models whose parameters 32 bits cannot count.
  explicit ForcedPack(const asr_acoustic_view &view);

  std::vector<ForcedCodebook> codebooks;
  std::vector<ForcedMixture> mixtures;
  std::vector<uint32_t> dims;
  std::vector<float> parameters, weights;
};

// Throws if a row's state is not the model's.
void check_forced_states(const uint32_t *states, size_t n_rows, uint32_t n_states);

}  // namespace asr
