// SPDX-License-Identifier: Apache-2.0
// The interface between forced.cc and its kernel has the arrays of a launch (plugins/gpu/forced/forced_types.h).
#pragma once

#include <cuda_runtime_api.h>

#include "plugins/gpu/forced/forced_types.h"

namespace asr::gpu {

struct ForcedArrays {
  const ForcedCodebook *codebooks;
  const ForcedMixture *mixtures;
  const uint32_t *dims;
  const float *parameters, *weights, *rows;
  const uint32_t *states;
  float *loglikes;
  uint32_t n_streams, n_dims, n_rows;
};
void launch_forced(const ForcedArrays &arrays, cudaStream_t stream);

}  // namespace asr::gpu
