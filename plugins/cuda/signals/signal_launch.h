// SPDX-License-Identifier: Apache-2.0
// The interface between signal.cc and signal.cu has the tables of the steps from cepstra to rows, in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "plugins/gpu/signals/signal_types.h"

namespace asr::gpu {

struct SignalTables {
  DynamicsNumbers n;
  const float *noise_dct, *prior_mean, *slope;
  const uint32_t *tap_begin;
  const SignalTap *taps;
  const float *transform;  // [transform_cols][n_dims]
};

struct SignalBatch {
  const SignalJob *jobs;
  uint32_t n_jobs, max_rows;  // jobs, and the rows of the longest
  float *cepstra;             // [frames][row_values]; noise removal makes its cepstra in place
  double *states;             // [slots][n_state_doubles]
  float *rows, *plain;        // [rows][n_dims]; plain: rows without the signals' own transforms, if wanted
  const float *given;         // the input of the step, which has new transforms
  float *transforms;          // [slots][n_dims + 1][n_dims]
  float *wholes;              // [slots][n_whole][n_levels * n_ceps]
};

constexpr size_t kMaxSignalSharedBytes = 48 << 10;
size_t signal_frames_shared_bytes(const DynamicsNumbers &n);
size_t signal_rows_shared_bytes(const DynamicsNumbers &n);
void launch_signal_frames(const SignalTables &tables, const SignalBatch &batch, cudaStream_t stream);
void launch_signal_rows(const SignalTables &tables, const SignalBatch &batch, cudaStream_t stream);

}  // namespace asr::gpu
