// SPDX-License-Identifier: Apache-2.0
// Data that kernels of the fused step read (plugins/gpu/signals/signal_plan.h), for host, CUDA and OpenCL.
#ifndef SENONE_SIGNAL_TYPES_H
#define SENONE_SIGNAL_TYPES_H
#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

// The numbers of an asr_dynamics_view, and of a signal's memory: n_state_doubles doubles, which are
//   live normalisation: mean[n_ceps] sum[n_ceps] count[n_ceps]
//   noise removal, if any: power[n_mel] noise[n_mel] floor[n_mel] peak[n_mel]
//   floats: levels[n_ring][n_levels * n_ceps], frame t in row t % n_ring
// A signal that is normalised as a whole has its levels [n_whole][n_levels * n_ceps] in other memory.
typedef struct DynamicsNumbers {
  double prior_frames, window_frames;
  float log_add, log_floor;
  uint32_t n_ceps, n_mel;
  uint32_t row_values;  // MFCC values of a frame: n_ceps, or n_mel with noise removal
  uint32_t removes_noise;
  int32_t counted_cepstrum;
  uint32_t n_levels, n_slope, n_values, n_dims, transform_cols, has_transform;
  uint32_t lookahead, n_ring, n_state_doubles;
  uint32_t max_waiting;              // most frames of which no row is made
  uint32_t whole_variance, n_whole;  // n_whole: most frames of a signal that is normalised as a whole
} DynamicsNumbers;

typedef struct SignalTap {
  int32_t offset;
  uint32_t column;
  float weight;
  uint32_t unused;
} KERNEL_ALIGNED(16) SignalTap;

FIXED uint32_t kNowhere = 0xffffffffu;  // instead of an offset

// A signal's part of a step. Frames and rows are counted from the signal's first.
typedef struct SignalJob {
  uint32_t slot;          // slot of the signal's memory
  uint32_t begins, live;  // begins: it had no frames before; live: its cepstra are normalised
  uint32_t first_frame, n_frames;
  uint32_t ends, ended;  // now; before
  uint32_t first_value;  // offset of its first frame in the cepstra of the step
  uint32_t first_row, n_rows;
  uint32_t to_row;             // in the score buffer
  uint32_t transforms;         // the signal has a transform of its own
  uint32_t new_transform;      // offset of its first value in the input of the step, or kNowhere
  uint32_t to_plain;           // offset of its first row in the rows without this transform, or kNowhere
  uint32_t whole, whole_slot;  // it is normalised as a whole, and has this slot for all its frames
} KERNEL_ALIGNED(16) SignalJob;

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_SIGNAL_TYPES_H
