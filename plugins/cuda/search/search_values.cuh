// SPDX-License-Identifier: Apache-2.0
// A value of each token of a frame, as plugins/gpu/search/search_lattice-inl.h asks for it.
#pragma once

#include "plugins/cuda/search/search_state.cuh"

namespace asr {

__device__ inline uint32_t value_now(uint32_t *const *values, uint32_t token) {
  return *const_cast<const volatile uint32_t *>(*values + token);
}
__device__ inline void set_value(uint32_t *const *values, uint32_t token, uint32_t value) { (*values)[token] = value; }
__device__ inline uint32_t lower_value(uint32_t *const *values, uint32_t token, uint32_t value) {
  return atomicMin(*values + token, value);
}
__device__ inline void swap_values(uint32_t **a, uint32_t **b) {
  uint32_t *const values = *a;
  *a = *b;
  *b = values;
}

}  // namespace asr
