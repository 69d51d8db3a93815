// SPDX-License-Identifier: Apache-2.0
// The interface between given.cc and its kernel has the arrays of a launch (plugins/gpu/given/given_types.h).
#pragma once

#include <cuda_runtime_api.h>

#include "plugins/gpu/given/given_types.h"

namespace asr::gpu {

struct GivenArrays {
  const GivenJob *jobs;
  const uint32_t *begins, *columns;
  const float *offsets;
  float *scores;
  uint32_t *faults;
  uint32_t n_columns, n_states, is_one_to_one;
};
// max_rows: of a job.
void launch_given(const GivenArrays &arrays, uint32_t n_jobs, uint32_t max_rows, cudaStream_t stream);

}  // namespace asr::gpu
