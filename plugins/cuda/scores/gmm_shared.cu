// SPDX-License-Identifier: Apache-2.0
// Mixtures over codebooks that many states share (G3). The Gaussians' scores have been computed, [gaussian][row] in base 2, and
// every state takes ln sum_k 2^(log_weight_k + score_k). A warp owns four states of one codebook and 32 rows, a row a lane.
// Each load of a score serves four exponentials, which bound the kernel: one for each state, Gaussian and row.
#include "plugins/cuda/scores/gmm_launch.h"
#include "plugins/cuda/scores/mixture.cuh"

namespace asr::gpu {
namespace {

constexpr uint32_t kWarp = 32, kWarps = 8, kChunk = 4;  // Gaussians that enter the sums together

__global__ void __launch_bounds__(kWarps *kWarp)
    mix_shared_kernel(const SharedStates *items, uint32_t n_items, const float4 *log_weights, const float *gaussian_scores,
                      GmmRows rows) {
  const uint32_t number = blockIdx.x * kWarps + threadIdx.x / kWarp, row = blockIdx.y * kWarp + threadIdx.x % kWarp;
  if (number >= n_items || row >= rows.n_rows) return;
  const SharedStates item = items[number];
  const float *const scores = gaussian_scores + size_t{item.first_gaussian} * rows.n_rows + row;
  const float4 *const weights = log_weights + item.first_weight;
  LogSum mixture[4];
  for (LogSum &sum : mixture) log_sum_clear(&sum);
  for (uint32_t k = 0; k < item.n_gaussians; k += kChunk) {
    float v[4][kChunk];  // [state][Gaussian]
#pragma unroll
    for (uint32_t i = 0; i < kChunk; ++i) {
      const bool there = k + i < item.n_gaussians;
      const float score = there ? scores[size_t{k + i} * rows.n_rows] : kLogZero;
      const float4 w = there ? weights[k + i] : float4{0, 0, 0, 0};
      v[0][i] = score + w.x, v[1][i] = score + w.y, v[2][i] = score + w.z, v[3][i] = score + w.w;
    }
#pragma unroll
    for (uint32_t s = 0; s < 4; ++s) log_sum_add(&mixture[s], v[s]);
  }
#pragma unroll
  for (uint32_t s = 0; s < 4; ++s) {
    if (s < item.n_states) put(rows, row, item.states[s], log_sum_natural(mixture[s]));
  }
}

}  // namespace

void launch_mix_shared(const SharedStates *states, uint32_t n_items, const float4 *log_weights, const float *gaussian_scores,
                       const GmmRows &rows, cudaStream_t stream) {
  const dim3 grid((n_items + kWarps - 1) / kWarps, (rows.n_rows + kWarp - 1) / kWarp);
  mix_shared_kernel<<<grid, kWarps * kWarp, 0, stream>>>(states, n_items, log_weights, gaussian_scores, rows);
}

}  // namespace asr::gpu
