// SPDX-License-Identifier: Apache-2.0
// Multiplies split fp16 numbers on tensor cores of NVIDIA's GPUs of capability 8.0 and more, in PTX. With TENSOR_PTX=0 plain
// OpenCL C does the same for tests on other devices. A work-group is then one warp, whose lanes stay together and
// exchange values through local memory. Scores end in the log sums of a warp's rows as mma spreads them: four lanes a
// row, two columns a lane.
//   -D TILES=1 or 2: of 16 rows, of a warp
#include "plugins/common/kernels/gmm_tensor_types.h"
#include "plugins/common/ocl/kernels/mixture.h"
#include "plugins/common/ocl/kernels/tensor_halves.h"

#define WARP 32u

static inline uint warp_lane(void) { return get_local_id(0) % WARP; }

#if TENSOR_PTX

#define UNROLL _Pragma("unroll")
typedef uint Shown;  // nothing
#define DECLARE_SHOWN(name) const Shown name = 0

static inline float lane_xor(Shown shown, float v, uint mask) {
  float other;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(other) : "f"(v), "r"(mask));
  return other;
}

// d += a b, a 16 x 16 by rows, b 16 x 8 by columns, as mma.m16n8k16 spreads them over a warp.
static inline void multiply(Shown shown, float *d, const uint *a, uint b0, uint b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// a 16 x 8, b 8 x 8.
static inline void multiply_half(Shown shown, float *d, const uint *a, uint b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}

#else

#define UNROLL
typedef __local uint *Shown;  // [6][WARP]
#define DECLARE_SHOWN(name) __local uint name[6 * WARP]

static inline float lane_xor(Shown shown, float v, uint mask) {
  shown[warp_lane()] = as_uint(v);
  barrier(CLK_LOCAL_MEM_FENCE);
  const float other = as_float(shown[warp_lane() ^ mask]);
  barrier(CLK_LOCAL_MEM_FENCE);
  return other;
}

static inline void multiply(Shown shown, float *d, const uint *a, uint b0, uint b1) {
  const uint lane = warp_lane();
  for (uint i = 0; i < 4; ++i) shown[i * WARP + lane] = a[i];
  shown[4 * WARP + lane] = b0;
  shown[5 * WARP + lane] = b1;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = 0; i < 4; ++i) {
    const uint row = lane / 4 + i / 2 * 8, column = 2 * (lane % 4) + i % 2;
    for (uint k = 0; k < 16; ++k) {
      const uint of_a = shown[(k / 8 * 2 + row / 8) * WARP + row % 8 * 4 + k % 8 / 2];
      const uint of_b = shown[(4 + k / 8) * WARP + column * 4 + k % 8 / 2];
      d[i] += half_value(of_a >> 16 * (k % 2) & 0xffff) * half_value(of_b >> 16 * (k % 2) & 0xffff);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
static inline void multiply_half(Shown shown, float *d, const uint *a, uint b) {
  const uint of_a[4] = {a[0], a[1], 0, 0};
  multiply(shown, d, of_a, b, 0);
}

#endif

// [tile of 16 rows][rows lane / 4 and + 8]
typedef struct RowLogSums {
  LogSum of[TILES][2];
} RowLogSums;

static inline void clear_rows(RowLogSums *sums) {
  UNROLL for (uint i = 0; i < 2 * TILES; ++i) log_sum_clear(&sums->of[i / 2][i % 2]);
}

// Adds the next 8 Gaussians: d as mma leaves it, [TILES][4].
static inline void add_scores(RowLogSums *sums, const float *d, const float *inverse_scale, float2 constants) {
  UNROLL for (uint i = 0; i < 2 * TILES; ++i) {
    LogSum *const sum = &sums->of[i / 2][i % 2];
    const float2 v = fma((float2)(d[2 * i], d[2 * i + 1]), inverse_scale[i], constants);
    log_sum_refer(sum, fmax(v.x, v.y));
    const float2 terms = native_exp2(v - sum->reference);
    sum->sum += terms.x + terms.y;
  }
}

// Ends a state, or, if state is -1, none: merges the lanes of a row; lane q of four stores the q-th of their rows. Without PTX
// all lanes merge in either case: PoCL does not compile barriers well that only some tiles reach.
static inline void store_scores(Shown shown, RowLogSums *sums, int state, uint first_row, uint n_rows, __global float *scores,
                                uint n_states, uint add) {
  if (TENSOR_PTX && state < 0) return;
  const uint lane = warp_lane(), q = lane % 4;
  float score = 0;
  UNROLL for (uint i = 0; i < 2 * TILES; ++i) {
    LogSum sum = sums->of[i / 2][i % 2];
    float top = fmax(sum.reference, lane_xor(shown, sum.reference, 1));
    top = fmax(top, lane_xor(shown, top, 2));
    sum.sum *= native_exp2(sum.reference - top);
    sum.sum += lane_xor(shown, sum.sum, 1);
    sum.sum += lane_xor(shown, sum.sum, 2);
    sum.reference = top;
    const float natural = log_sum_natural(sum);
    score = q == i ? natural : score;
  }
  if (state < 0) return;
  clear_rows(sums);
  const uint row = first_row + 8 * q + lane / 4;
  if (q < 2 * TILES && row < n_rows) put_score(scores + (size_t)row * n_states + state, score, add);
}
