// SPDX-License-Identifier: Apache-2.0
// The kernels of the CUDA back end's gmm_diagonal_wgmma.cu for OpenCL. NVIDIA's compiler of OpenCL C does not know wgmma, but
// a program's binary is PTX, so nvcc compiles these for the driver (cmake/SenoneKernels.cmake).
//
// OpenCL gives a work-group 48 KiB of local memory, which hold two stages of 8 tiles. So a multiprocessor has four
// work-groups of one warpgroup, or two of two warpgroups that share a ring, where CUDA has one of four. Two warpgroups
// share because filling a ring costs local memory's bandwidth, too: 64 rows read what is filled 1.5 times. Warps take no
// turns: with four rings a multiprocessor, up to 32 rows are faster without.
//   -D STEPS=4, 9 or 10: steps of 8 values of k
#include "plugins/cuda/kernels/diagonal_wgmma.cuh"

namespace {

using namespace asr;
using namespace asr::cuda;

constexpr uint32_t kResident = 4;           // warpgroups of a multiprocessor
constexpr uint32_t kLocalBytes = 47 << 10;  // barriers have the rest

template <uint32_t kGroups>
using LocalRing = Ring<STEPS, false, kFewProductTiles, BlockShape<kGroups, kGroups, false, kLocalBytes>>;

// Arrays has those of a model.
struct Arrays {
  const uint4 *fragments;
  const TileInfo *infos;
  const uint32_t *begins;
  const GmmDim *dims;
  const float *features;
  float *scores;
};

template <uint32_t kGroups>
__device__ __forceinline__ void score(const DiagonalPart &part, const Arrays &arrays) {
  using R = LocalRing<kGroups>;
  __shared__ __align__(128) unsigned char memory[R::kSharedBytes];
  if (blockIdx.y >= part.n_row_blocks) return;
  const GmmRows rows = {arrays.features, arrays.scores, part.n_rows, part.n_features, part.n_states, part.add != 0};
  const Part whole = {arrays.fragments,  arrays.infos,
                      arrays.dims,       arrays.begins,
                      part.n_dims,       STEPS,
                      part.n_tiles,      rows,
                      kGroups,           1,
                      part.n_row_blocks, part.first_group,
                      part.n_groups,     0};
  score_part<R>(whole, part.passes != 0, memory);
}

}  // namespace

#define PART(m) DiagonalPart part##m
#define ARRAYS(m)                                                                                        \
  const uint4 *fragments##m, const TileInfo *infos##m, const uint32_t *begins##m, const GmmDim *dims##m, \
      const float *features##m, float *scores##m
#define CHOOSE(m)                                                                                  \
  if (blockIdx.x >= part##m.first_group) {                                                         \
    part = part##m, arrays = {fragments##m, infos##m, begins##m, dims##m, features##m, scores##m}; \
  }
#define KERNEL(name, groups)                                                                                                 \
  extern "C" __global__ void __launch_bounds__(groups *kGroupThreads, kResident / groups) name(PART(0), ARRAYS(0)) {         \
    score<groups>(part0, {fragments0, infos0, begins0, dims0, features0, scores0});                                          \
  }                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(groups *kGroupThreads, kResident / groups)                                    \
      name##_models(PART(0), PART(1), PART(2), PART(3), PART(4), PART(5), PART(6), PART(7), PART(8), PART(9), PART(10),      \
                    PART(11), ARRAYS(0), ARRAYS(1), ARRAYS(2), ARRAYS(3), ARRAYS(4), ARRAYS(5), ARRAYS(6), ARRAYS(7),        \
                    ARRAYS(8), ARRAYS(9), ARRAYS(10), ARRAYS(11)) {                                                          \
    DiagonalPart part = part0;                                                                                               \
    Arrays arrays = {fragments0, infos0, begins0, dims0, features0, scores0};                                                \
    CHOOSE(1)                                                                                                                \
    CHOOSE(2)                                                                                                                \
    CHOOSE(3) CHOOSE(4) CHOOSE(5) CHOOSE(6) CHOOSE(7) CHOOSE(8) CHOOSE(9) CHOOSE(10) CHOOSE(11) score<groups>(part, arrays); \
  }

KERNEL(gmm_diagonal_wgmma_1, 1)  // up to 64 rows
KERNEL(gmm_diagonal_wgmma_2, 2)
