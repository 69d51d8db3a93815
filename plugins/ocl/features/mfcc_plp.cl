// SPDX-License-Identifier: Apache-2.0
// F11 behind mfcc.cl: a work item turns the levels of a row, [n_levels], into its cepstra, [n_ceps]. Rows follow each other as
// the outputs do; first_value of an output counts levels. Tolerance 1e-3 of a cepstrum before lifter and scale.
#include "plugins/common/mfcc_plp-inl.h"
#include "plugins/ocl/features/mfcc_types.h"

__kernel void mfcc_plp(__constant PlpNumbers *numbers, uint n_rows, uint n_outputs, __global const MfccOutput *restrict outputs,
                       __global const float *restrict loudness, __global const float *restrict autocorrelation,
                       __global const float *restrict weights, __global float *restrict levels,
                       __global float *restrict cepstra) {
  const uint row = get_global_id(0);
  if (row >= n_rows) return;
  const PlpNumbers n = *numbers;
  const ulong first_level = (ulong)row * n.n_levels;
  uint low = 0, high = n_outputs;  // the last output that begins at the row or before it
  while (high - low > 1) {
    const uint middle = (low + high) / 2;
    if (outputs[middle].first_value <= first_level) {
      low = middle;
    } else {
      high = middle;
    }
  }
  plp_frame(&n, loudness + outputs[low].warp * n.n_mel, autocorrelation, weights, levels + first_level,
            cepstra + (ulong)row * n.n_ceps);
}
