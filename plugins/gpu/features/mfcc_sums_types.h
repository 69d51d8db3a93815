// SPDX-License-Identifier: Apache-2.0
// Filter banks as differences of running sums: the tables of plugins/cuda/features/mfcc_512_sums.cuh, for frames under many
// banks (F5 of docs/equations.md). plugins/gpu/features/mfcc_sums.h makes them.
//
// Bin k lies at x_k on the scale on which triangles are linear. With S(e) = sum of P[k] and T(e) = sum of x_k P[k] over the
// bins below e, the function G(e) = e S(e) - T(e) has slopes whose differences are the bands: a band with the edges l < c < r
// has the energy (G(r) - G(c)) / (r - c) - (G(c) - G(l)) / (c - l). So a band costs one more value of G, however many bins it
// has. S and T are in double: a band may have 10^-10 of what lies below it.
//
// A bank is cut in quarters of as many bands. A quarter walks over its edges; each from the third on completes a band.
#pragma once

#include <cstdint>

namespace asr {

constexpr uint32_t kSumsFrames = 8;  // frames of a block
constexpr uint32_t kSumsQuarters = 4;
constexpr uint32_t kSumsStep = 2;       // bands of a quarter that enter the cosine transform together
constexpr uint32_t kSumsMostSteps = 5;  // of a quarter
constexpr uint32_t kSumsCepstra = 16;   // at most
constexpr uint32_t kSumsOffsetBits = 12;

// MfccEdge is an edge of a quarter: its position, and 1 / (its distance from the edge before it). The lowest kSumsOffsetBits of
// the position's bits are the offset of the sums below it, in units of 16 bytes from those below bin 0. So the edge is moved by
// 2^-41 of its position at most, for all that it belongs to.
struct alignas(16) MfccEdge {
  double at, inverse;
};

// MfccEdges has the edges of one number in all quarters of a bank.
struct MfccEdges {
  MfccEdge edge[kSumsQuarters];
};

// MfccFrames is successive frames and the jobs that want them.
struct MfccFrames {
  uint64_t first_sample;  // offset of the first frame in the batch, whose samples include the one before
  uint64_t number;        // first frame's number in its utterance
  uint32_t first_lane;    // frames before it in the batch
  uint32_t first_output, n_outputs;
};

// MfccSumsOptions has the numbers of a front end and of a batch for kernels in OpenCL (plugins/ocl_nvidia/features).
struct MfccSumsOptions {
  uint32_t window_samples, shift_samples, n_ceps;
  float preemphasis, log_add, log_floor;
  uint32_t preemphasis_in_frame, dc_removal, magnitude, energy_windowed;
  int32_t energy_row;
  uint32_t first_bin;
  uint32_t n_lanes, n_frames_entries;
};

}  // namespace asr
