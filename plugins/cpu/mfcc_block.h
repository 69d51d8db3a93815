// SPDX-License-Identifier: Apache-2.0
// The interface between mfcc.cc, which cuts extract jobs into blocks of frames, and mfcc_block.cc, which computes a block with
// vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr::cpu {

// An asr_features_view that owns its arrays, and the tables of the Fourier transform.
struct MfccTables {
  explicit MfccTables(const asr_features_view &features);

  asr_features_view view;  // points to the arrays below
  std::vector<float> window, mel_weights, dct, loudness, autocorrelation;
  std::vector<asr_mel_band> mel_bands;
  uint32_t first_bin, end_bin;       // bins with a weight in some band: first_bin ... end_bin - 1; at most fft_samples / 2 + 1
  std::vector<float> twiddles;       // roots of the complex transform, pass after pass in the order of use
  std::vector<uint32_t> position;    // [fft_samples / 2] index of frequency k in the output of the complex transform
  std::vector<float> real_twiddles;  // [fft_samples / 4 + 1][2] cos, -sin of 2 pi k / fft_samples
};

// A frame to compute with the warp of each of its jobs, which are in ascending order of warps.
struct MfccLane {
  const float *samples;
  uint64_t frame;  // number in the utterance
  const asr_extract_job *jobs;
  size_t n_jobs;
  uint32_t row;  // row in the jobs' cepstra
};

size_t mfcc_block_lanes();                                  // most lanes of a block; at most 16
size_t mfcc_scratch_floats(const asr_features_view &view);  // size of a block's scratch memory, which is 64-byte aligned

// Computes and stores n_lanes frames (1 ... mfcc_block_lanes()) and consumes their jobs. A frame's bits do not depend on the
// other lanes.
void mfcc_block(const MfccTables &tables, MfccLane *lanes, size_t n_lanes, float *scratch);

}  // namespace asr::cpu
