// SPDX-License-Identifier: Apache-2.0
// Both MFCC kernels find a frame's samples and its jobs by find_lane.
#pragma once

#include <cuda_runtime.h>

#include "plugins/cuda/features/mfcc_launch.h"

namespace asr::gpu {

// Lane has the address of a frame's samples, and the row and the outputs of its cepstra.
struct Lane {
  const float *samples;
  uint32_t row, first_output, n_outputs;  // row: of its jobs' cepstra
  uint32_t first_bank;                    // bank of the first output
};

struct NumberedLane : Lane {
  uint64_t number;  // number of the frame in its utterance
};

__device__ __forceinline__ NumberedLane find_lane(const MfccTables &t, const MfccBatch &batch, uint32_t lane) {
  uint32_t low = 0, high = batch.n_frames_entries;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (batch.frames[middle].first_lane <= lane ? low : high) = middle;
  }
  const MfccFrames frames = batch.frames[low];
  const uint32_t row = lane - frames.first_lane;
  return {{batch.samples + frames.first_sample + size_t{row} * t.shift_samples, row, frames.first_output, frames.n_outputs,
           batch.outputs[frames.first_output].warp},
          frames.number + row};
}

}  // namespace asr::gpu
