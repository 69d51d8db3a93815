// SPDX-License-Identifier: Apache-2.0
// The kernels of the CUDA back end's gmm_diagonal_wgmma.cu for OpenCL. NVIDIA's compiler of OpenCL C does not know wgmma, but
// a program's binary is PTX, so nvcc compiles these for the driver (cmake/SenoneKernels.cmake).
//
// OpenCL gives a work-group 48 KiB of local memory, which hold two stages of 8 tiles. So a multiprocessor has four
// work-groups of one warpgroup, or two of two warpgroups that share a ring, where CUDA has one of four. Two warpgroups
// share because filling a ring costs local memory's bandwidth, too: 64 rows read what is filled 1.5 times.
//   -D STEPS=4, 9 or 10: steps of 8 values of k, HALVED=0 or 1: models without lo
#include "plugins/cuda/scores/diagonal_wgmma.cuh"

namespace {

using namespace asr;
using namespace asr::gpu;

constexpr uint32_t kResident = 4;  // warpgroups of a multiprocessor
constexpr uint32_t kLocalBytes = 48 << 10;

template <uint32_t kGroups, bool kFours>
using LocalRing = Ring<STEPS, HALVED != 0, kFours, kFewProductTiles, kGroups, kLocalBytes>;

static_assert(kDiagonalModels == 12);  // as listed below

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
  using Plain = LocalRing<kGroups, false>;
  using Fours = LocalRing<kGroups, true>;
  static_assert(Plain::kSharedBytes == Fours::kSharedBytes && Plain::kSharedBytes <= kLocalBytes);
  __shared__ __align__(128) unsigned char memory[Plain::kSharedBytes];
  const GmmRows rows = {arrays.features, arrays.scores, part.n_rows, part.n_features, part.n_states, part.add != 0};
  const Part whole = {arrays.fragments, arrays.infos, arrays.dims, arrays.begins,    part.n_dims,   STEPS,
                      part.n_tiles,     rows,         gridDim.y,   part.first_group, part.n_groups, part.four_tiles};
  if (part.four_tiles > 0) {
    score_part<Fours>(whole, part.passes != 0, memory);
  } else {
    score_part<Plain>(whole, part.passes != 0, memory);
  }
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
#define ALL_PARTS PART(0), PART(1), PART(2), PART(3), PART(4), PART(5), PART(6), PART(7), PART(8), PART(9), PART(10), PART(11)
#define ALL_ARRAYS                                                                                                          \
  ARRAYS(0), ARRAYS(1), ARRAYS(2), ARRAYS(3), ARRAYS(4), ARRAYS(5), ARRAYS(6), ARRAYS(7), ARRAYS(8), ARRAYS(9), ARRAYS(10), \
      ARRAYS(11)
// clang-format off
#define CHOOSE_OTHERS \
  CHOOSE(1) CHOOSE(2) CHOOSE(3) CHOOSE(4) CHOOSE(5) CHOOSE(6) CHOOSE(7) CHOOSE(8) CHOOSE(9) CHOOSE(10) CHOOSE(11)
// clang-format on

// The kernels of one model and of several.
#define KERNELS(name, groups)                                                                                        \
  extern "C" __global__ void __launch_bounds__(groups *kGroupThreads, kResident / groups) name(PART(0), ARRAYS(0)) { \
    score<groups>(part0, {fragments0, infos0, begins0, dims0, features0, scores0});                                  \
  }                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(groups *kGroupThreads, kResident / groups)                            \
      name##_models(ALL_PARTS, ALL_ARRAYS) {                                                                         \
    DiagonalPart part = part0;                                                                                       \
    Arrays arrays = {fragments0, infos0, begins0, dims0, features0, scores0};                                        \
    CHOOSE_OTHERS                                                                                                    \
    score<groups>(part, arrays);                                                                                     \
  }

KERNELS(gmm_diagonal_wgmma_1, 1)  // up to 64 rows
KERNELS(gmm_diagonal_wgmma_2, 2)
