// SPDX-License-Identifier: Apache-2.0
// Between mfcc.cc and kernels/mfcc.cu: the tables of a front end and a batch of frames, as they lie in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace asr::cuda {

// A triangle of a filter bank in fours of bins; weights beyond its end are zero.
struct MfccBand {
  uint32_t first_bin, n_fours, first_four;
};

// A bank, a filter bank in one piece, as mfcc_512.cu takes it: slopes, [n_mel + 1]; then where warps' bands begin; then
// weights, four for two bins. Slope i is the falling side of band i - 1 and the rising side of band i, which lie over the same
// bins; two weights a bin, falling and rising. Warp w makes bands first_band[w] ... first_band[w + 1] - 1; those without any
// come last.
struct MfccSlope {
  uint16_t first_bin, n_twos;
  uint32_t first_two;  // in the bank's fours
};
constexpr uint32_t kMfccParts = 8;
struct MfccParts {
  uint16_t first_band[2 * kMfccParts];
};

// Where a job's cepstra go.
struct MfccOutput {
  uint64_t first_value;  // in the batch's cepstra
  uint32_t warp;
};

// Frames in a row, and the jobs that want them.
struct MfccFrames {
  uint64_t first_sample;  // of the first frame, in the batch's samples; the sample before it is there too
  uint64_t number;        // of the first frame in its utterance
  uint32_t first_lane;    // frames before it in the batch
  uint32_t first_output, n_outputs;
};

struct MfccTables {
  uint32_t window_samples, shift_samples, n_points;  // n_points: complex numbers of the transform, fft_samples / 2
  uint32_t n_mel, n_ceps;
  uint32_t n_mel_padded;        // to a multiple of 4, with zeros in dct
  uint32_t block_frames;        // frames of a block, a power of two up to 32
  const float *window;          // [window_samples]
  const float2 *twiddles;       // [pass][j][16], roots of the radix-16 passes
  const float2 *real_twiddles;  // [n_points / 2 + 1], exp(-i pi k / n_points)
  const uint32_t *position;     // [n_points] where the transform leaves frequency k
  const MfccBand *bands;        // [n_warps][n_mel]
  const float4 *weights;
  const float4 *banks;         // [n_warps][bank_fours]
  const uint4 *dct_fragments;  // for base-2 logarithms: [cepstra / 8][mel / 16][32], halves as mma wants them: hi, hi, lo, lo
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

// Shared memory of a block: what it asks for, and what the kernel always has.
size_t mfcc_shared_bytes(const MfccTables &tables);
constexpr size_t kMfccFixedBytes = 2048;
// Lets the kernel be launched with up to so many bytes.
cudaError_t mfcc_prepare(size_t shared_bytes);
void launch_mfcc(const MfccTables &tables, const MfccBatch &batch, cudaStream_t stream);

// The same for 256 points, where frames begin at even samples and nothing is dithered; block_frames unused. It may read a
// sample more than a frame has.
size_t mfcc_512_shared_bytes(const MfccTables &tables);
constexpr size_t kMfcc512FixedBytes = 5120;
cudaError_t mfcc_512_prepare(size_t shared_bytes);
void launch_mfcc_512(const MfccTables &tables, const MfccBatch &batch, uint32_t n_multiprocessors, cudaStream_t stream);

}  // namespace asr::cuda
