// SPDX-License-Identifier: Apache-2.0
// The interface between mfcc.cc and mfcc.cu, mfcc_512.cu, mfcc_512_sums.cu and mfcc_plp.cu. It has the tables of a
// front end and a batch of frames, as they lie in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "plugins/common/mfcc_plp-inl.h"
#include "plugins/gpu/features/mfcc_sums_types.h"

namespace asr::gpu {

constexpr uint32_t kUsualPoints = 256;  // n_points of windows of 257 to 512 samples, such as 25 ms at 16 kHz

// A triangle of a filter bank in fours of bins; weights beyond its end are zero.
struct MfccBand {
  uint32_t first_bin, n_fours, first_four;
};

// MfccOutput has the offset of a job's cepstra and the number of its filter bank.
struct MfccOutput {
  uint64_t first_value;  // in the batch's cepstra
  uint32_t warp;
};

struct MfccTables {
  uint32_t window_samples, shift_samples, n_points;  // n_points: complex numbers of the transform, fft_samples / 2
  uint32_t n_mel, n_ceps;
  uint32_t n_mel_padded;        // to a multiple of 4, with zeros in dct
  uint32_t block_frames;        // frames of a block, a power of two up to 32
  const float *window;          // [window_samples]
  const float2 *twiddles;       // [pass][j][16], roots of the radix-16 passes
  const float2 *real_twiddles;  // [n_points / 2 + 1], exp(-i pi k / n_points)
  const uint32_t *position;     // [n_points] offset of frequency k in the transform's output
  const MfccBand *bands;        // [n_warps][n_mel]
  const float4 *weights;
  const uint4 *banks;          // [n_warps][bank_fours], plugins/gpu/features/mfcc_tiles.h
  const uint4 *dct_fragments;  // for tensor cores, there too
  uint32_t n_warps, bank_fours;
  const float4 *dct;  // [n_ceps][n_mel_padded / 4]
  float preemphasis, log_add, log_floor, dither;
  uint32_t preemphasis_in_frame, dc_removal, magnitude, energy_windowed, dither_seed;
  int32_t energy_row;
};

struct MfccBatch {
  uint32_t n_lanes, n_frames_entries;
  const float *samples;
  const MfccFrames *frames;  // [n_frames_entries], by first_lane
  const MfccOutput *outputs;
  float *cepstra;
};

// Returns the dynamic shared memory of a block, in bytes; static shared memory takes at most kMfccFixedBytes besides.
size_t mfcc_shared_bytes(const MfccTables &tables);
constexpr size_t kMfccFixedBytes = 2048;
// Allows launches with up to shared_bytes of dynamic shared memory.
cudaError_t mfcc_prepare(size_t shared_bytes);
void launch_mfcc(const MfccTables &tables, const MfccBatch &batch, cudaStream_t stream);

// mfcc_512 serves 256 points if frames begin at even samples and nothing is dithered; block_frames is unused. It may read one
// sample behind a frame.
size_t mfcc_512_shared_bytes(const MfccTables &tables);
constexpr size_t kMfcc512FixedBytes = 2560;
constexpr uint32_t kMfcc512HeadFours = 32;  // at most: of a bank before its weights
cudaError_t mfcc_512_prepare(size_t shared_bytes);
void launch_mfcc_512(const MfccTables &tables, const MfccBatch &batch, uint32_t n_multiprocessors, cudaStream_t stream);

// mfcc_512_sums serves the same frames with as many banks as are wanted, by running sums in double
// (plugins/gpu/features/mfcc_sums.h).
struct MfccSumsTables {
  const double *positions;
  const MfccEdges *edges;
  const float *gains;  // NULL if all are 1
  const uint4 *dct;
  uint32_t n_steps, first_bin;
};
// Sets *n_blocks to the number of blocks that share a multiprocessor.
cudaError_t mfcc_512_sums_blocks(const MfccTables &tables, const MfccSumsTables &sums, uint32_t *n_blocks);
// n_at_once: blocks that run side by side.
void launch_mfcc_512_sums(const MfccTables &tables, const MfccSumsTables &sums, const MfccBatch &batch, uint32_t n_at_once,
                          cudaStream_t stream);

// PLP: launch_mfcc makes levels at level_outputs, from which launch_plp makes cepstra at outputs. Rows follow each other as the
// outputs do, n_rows in all.
struct PlpBatch {
  PlpNumbers numbers;
  uint32_t n_rows, n_outputs;
  const float *loudness, *autocorrelation, *weights;
  const MfccOutput *outputs;  // [n_outputs], first_value in the cepstra
  MfccOutput *level_outputs;  // [n_outputs], first_value in the levels
  float *levels, *cepstra;    // [n_rows][n_levels], [n_rows][n_ceps]
};
void launch_plp_outputs(const PlpBatch &batch, cudaStream_t stream);  // makes level_outputs
void launch_plp(const PlpBatch &batch, cudaStream_t stream);

}  // namespace asr::gpu
