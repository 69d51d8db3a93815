// SPDX-License-Identifier: Apache-2.0
// States that mix the Gaussians of a codebook that they share, as hosts pack them (plugins/gpu/scores/gmm_states.h) and
// kernels read them.
#ifndef SENONE_KERNELS_SHARED_STATES_H
#define SENONE_KERNELS_SHARED_STATES_H

#include "plugins/common/types.h"
#ifdef __cplusplus
namespace asr {
#endif

// SharedStates is up to four states of one codebook.
typedef struct SharedStates {
  uint32_t first_gaussian, n_gaussians;  // among the stream's shared ones
  uint32_t first_weight;                 // [n_gaussians] of float4, a value a state, base-2 logarithms
  uint32_t n_states, states[4];
} SharedStates;

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SHARED_STATES_H
