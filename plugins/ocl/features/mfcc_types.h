// SPDX-License-Identifier: Apache-2.0
// A front end and a batch of frames as they lie in device memory, for host and kernel.
#ifndef SENONE_OCL_MFCC_TYPES_H
#define SENONE_OCL_MFCC_TYPES_H
#include "plugins/common/types.h"
#ifdef __cplusplus
namespace asr::gpu {
#endif

// MfccPair describes samples n and n + 1 of a frame, for even n: their window, and the offsets of sample n and of the sample
// before it. Offsets are in local memory, from the frame's sample 0.
typedef struct MfccPair {
  float window[2];
  int32_t at, before;
} KERNEL_ALIGNED(16) MfccPair;

// A triangle of a filter bank in fours of bins; weights beyond its end are zero.
typedef struct MfccBand {
  uint32_t first_bin, n_fours, first_four, unused;
} KERNEL_ALIGNED(16) MfccBand;

// MfccTileHead is a tile in the head of a bank for mfcc_512.cl (plugins/gpu/features/mfcc_tiles.h).
typedef struct MfccTileHead {
  uint16_t first_chunk, n_chunks;
  uint32_t first_four;
} MfccTileHead;

// MfccSegment is successive frames that a work-group computes, from lane `first_lane` on.
typedef struct MfccSegment {
  uint64_t first_sample;  // offset of the first frame in the batch, whose samples include the one before
  uint64_t number;        // first frame's number in its utterance
  uint32_t first_lane, n_frames;
  uint32_t first_local;  // offset in local memory of the sample before the first
  uint32_t row;          // row of its jobs' cepstra
  uint32_t first_output, n_outputs;
  uint64_t unused;
} KERNEL_ALIGNED(16) MfccSegment;

// MfccOutput has the offset of a job's cepstra and the number of its filter bank.
typedef struct MfccOutput {
  uint64_t first_value;  // in the batch's cepstra
  uint32_t warp, unused;
} KERNEL_ALIGNED(16) MfccOutput;

typedef struct MfccGroup {
  uint32_t first_segment, n_segments, n_lanes, n_outputs;  // n_outputs: most of a segment
  uint32_t first_run, n_runs, unused[2];
} KERNEL_ALIGNED(16) MfccGroup;

// MfccRun is successive lanes whose outputs are under the same filter banks.
typedef struct MfccRun {
  uint32_t first_lane, n_lanes, first_output, n_outputs;  // outputs: of the first lane
} KERNEL_ALIGNED(16) MfccRun;

typedef struct MfccOptions {
  uint32_t window_samples, shift_samples;
  uint32_t padding;  // after each shift_samples in local memory, so that the frames' samples are in different banks
  uint32_t n_mel, n_mel_padded, n_ceps;
  uint32_t bank_fours;  // fours of a filter bank for mfcc_512.cl
  float preemphasis, log_add, log_floor, dither;
  uint32_t preemphasis_in_frame, dc_removal, magnitude, dither_seed;
  uint32_t energy;  // 0 none, 1 before the window, 2 after it
  int32_t energy_row;
} MfccOptions;

#ifdef __cplusplus
}  // namespace asr::gpu
#endif
#endif  // SENONE_OCL_MFCC_TYPES_H
