// SPDX-License-Identifier: Apache-2.0
// Computes phi of rows for the kernels of any quadratic form on tensor cores: the features and their products, scaled and
// split. They are stored as the fragments of mma.m16n8k16, [16 rows][step of 16 values of k][hi, lo][32 lanes][4 pairs]. A
// group makes its part of the steps of 16 rows, whose features lie in local memory.
//   -D GROUP_SIZE=..., TENSOR_PTX=..., LOCAL_DIMS=...: at least n_dims + 2
#include "plugins/gpu/scores/gmm_tensor_types.h"
#include "plugins/ocl/runtime/tensor_halves.clh"

#define WARP 32u

// Group x: the x-th 16 rows; y: a part of the steps. phi_k = x_i x_j for monomials[k] = i | j << 16.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_expand(
    __global const float *restrict features, uint n_rows, uint n_features, __global const TensorDim *restrict dims, uint n_dims,
    __global const uint *restrict monomials, uint n_steps, __global uint *restrict fragments,
    __global float *restrict inverse_scale) {
  __local float x[16 * LOCAL_DIMS];  // features, 1, 0
  __local uint largest[16];
  const uint stride = n_dims + 2;
  if (get_local_id(0) < 16) largest[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 16 * stride; i += GROUP_SIZE) {
    const uint row = min((uint)get_group_id(0) * 16 + i / stride, n_rows - 1), d = i % stride;
    float value = d == n_dims ? 1 : 0;
    if (d < n_dims) value = (features[(size_t)row * n_features + dims[d].dim] - dims[d].centre) * dims[d].scale;
    x[i] = value;
    atomic_max(&largest[i / stride], as_uint(fabs(value)));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_group_id(1) == 0 && get_local_id(0) < 16) {
    inverse_scale[get_group_id(0) * 16 + get_local_id(0)] = 1 / row_scale(as_float(largest[get_local_id(0)]));
  }
  const uint lane = get_local_id(0) % WARP, n_warps = GROUP_SIZE / WARP;
  for (uint step = get_group_id(1) * n_warps + get_local_id(0) / WARP; step < n_steps; step += get_num_groups(1) * n_warps) {
    uint hi[4], lo[4];
    for (uint i = 0; i < 4; ++i) {  // rows lane / 4, + 8; k, k + 8
      const uint r = lane / 4 + i % 2 * 8, k = step * 16 + i / 2 * 8 + 2 * (lane % 4);
      const float scale = row_scale(as_float(largest[r]));
      float phi[2];
      for (uint j = 0; j < 2; ++j) {
        const uint pair = monomials[k + j];
        phi[j] = x[r * stride + (pair & 0xffff)] * x[r * stride + (pair >> 16)] * scale;
      }
      split((float2)(phi[0], phi[1]), &hi[i], &lo[i]);
    }
    __global uint4 *const out = (__global uint4 *)(fragments + ((size_t)get_group_id(0) * n_steps + step) * kRowStepWords);
    out[lane] = (uint4)(hi[0], hi[1], hi[2], hi[3]);
    out[32 + lane] = (uint4)(lo[0], lo[1], lo[2], lo[3]);
  }
}
