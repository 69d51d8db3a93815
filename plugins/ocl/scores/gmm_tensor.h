// SPDX-License-Identifier: Apache-2.0
// States of a feature stream on the tensor cores of NVIDIA's GPUs (gmm_diagonal_tensor.cl, gmm_expanded_tensor.cl) or
// the matrix cores of AMD's CDNA (gmm_expanded_mfma.cl). Used by Gmm (gmm.h), which gives everything else to the FP32 kernels.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "plugins/gpu/scores/gmm_states.h"
#include "plugins/gpu/scores/gmm_tensor_pack.h"
#include "plugins/ocl/runtime/device.h"

namespace asr::gpu {

// TensorKind names the products: mma of 32 lanes in PTX, MFMA of 64 lanes, or either in plain OpenCL C, where a work-group is
// one warp.
enum class TensorKind { kMma, kMfma, kPlainMma, kPlainMfma };
struct TensorTarget {
  TensorKind kind;
  uint32_t group_warps;
};

// Returns no target if the variant or the model has no use for tensor cores. The same holds if the GPU has none, or its
// driver does not compile the products.
std::optional<TensorTarget> tensor_target(Device &device, asr_covariance covariance);

// Returns true if a device's MFMA holds rows, columns and sums in the lanes that the kernel expects. One small product shows
// it, because MFMA was never run on the GPUs that have it.
bool mfma_is_as_expected(Device &device, const TensorTarget &target);

// TensorJob scores features[n_rows][n_features] into scores[n_rows][n_states], of the packed states; `add` as in put_score() of
// plugins/gpu/scores/log_sum-inl.h.
template <typename Model>
struct TensorJob {
  Model *model;
  const Array<float> *features;
  uint32_t n_rows, n_features;
  const Array<float> *scores;
  uint32_t n_states, add;
};

class GmmTensor {
 public:
  // The most features of a stream that the kernels take.
  static constexpr uint32_t kMaxDims = 190;

  GmmTensor(Device &device, const TensorTarget &target, const asr_acoustic_view &view, const TensorPacker &packer,
            uint32_t stream, const StreamStates &states, const std::vector<TensorDim> &dims);

  using Job = TensorJob<GmmTensor>;
  // Puts kernels into the compute queue. Models of the diagonal kernel share launches.
  static void score(Device &device, const std::vector<Job> &jobs);

 private:
  GmmTensor(Device &device, const TensorTarget &target, bool diagonal, const TensorPack &pack,
            const std::vector<TensorDim> &dims);
  TensorShape shape_of(uint32_t n_rows) const;
  const Kernel &kernel_of(uint32_t tiles_of_16_rows);
  static void score_diagonal(Device &device, const Job *jobs, size_t n_jobs);
  static void launch_diagonal(Device &device, const Kernel &kernel, const Job *jobs, size_t n_jobs);
  void score_expanded(const Job &job);
  void expand(const Array<float> &features, uint32_t n_rows, uint32_t n_features);

  Device &device_;
  const TensorTarget target_;
  const bool diagonal_, halved_;
  const uint32_t n_dims_, n_steps_, n_tiles_;
  Array<TensorDim> dims_;
  Array<uint32_t> fragments_, monomials_;
  Array<TileInfo> tiles_;
  Array<uint32_t> begins_;                  // state_begins() of the diagonal kernel
  std::vector<Array<uint32_t>> stretches_;  // by how many warps share one: 1, 2, 4, 8
  std::map<uint32_t, Kernel> kernels_;      // by tiles of 16 rows of a warp; for this model alone
  std::optional<Kernel> expand_;
  Array<uint32_t> row_fragments_;
  Array<float> inverse_scale_;
};

}  // namespace asr::gpu
