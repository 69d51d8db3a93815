// SPDX-License-Identifier: Apache-2.0
// States of a feature stream on the tensor cores of NVIDIA's GPUs (kernels/gmm_diagonal_tensor.cl, gmm_expanded_tensor.cl) or
// the matrix cores of AMD's CDNA (gmm_expanded_mfma.cl). Used by Gmm (gmm.h), which gives everything else to the FP32 kernels.
#pragma once

#include <optional>
#include <vector>

#include "plugins/common/gmm_tensor_pack.h"
#include "plugins/common/ocl/device.h"

namespace asr::ocl {

// Whose products: mma of 32 lanes in PTX, or MFMA of 64; and both in plain OpenCL C, where a work-group is one warp.
enum class TensorKind { kMma, kMfma, kPlainMma, kPlainMfma };
struct TensorTarget {
  TensorKind kind;
  uint32_t group_warps;
};

// Nothing if the variant or the model has no use for them, the GPU none, or its driver does not compile the products.
std::optional<TensorTarget> tensor_target(Device &device, asr_covariance covariance);

// Returns true if a device's MFMA holds rows, columns and sums in the lanes that the kernel expects, by one small product. No
// AMD GPU was at hand to find that out for all.
bool mfma_is_as_expected(Device &device, const TensorTarget &target);

class GmmTensor {
 public:
  // The most features of a stream that the kernels take.
  static constexpr uint32_t kMaxDims = 190;

  GmmTensor(Device &device, const TensorTarget &target, const asr_acoustic_view &view, const TensorPacker &packer,
            uint32_t stream, const std::vector<uint32_t> &states, const std::vector<TensorDim> &dims);

  // Puts kernels into the compute queue: features[n_rows][n_features] -> scores[n_rows][n_states], of the packed states; `add`
  // as in put_score() of kernels/mixture.h.
  void score(const DeviceArray<float> &features, uint32_t n_rows, uint32_t n_features, const DeviceArray<float> &scores,
             uint32_t n_states, uint32_t add);

 private:
  GmmTensor(Device &device, const TensorTarget &target, bool diagonal, const TensorPack &pack,
            const std::vector<TensorDim> &dims);
  void expand(const DeviceArray<float> &features, uint32_t n_rows, uint32_t n_features);

  Device &device_;
  const TensorTarget target_;
  const bool diagonal_;
  const uint32_t n_dims_, n_steps_;
  DeviceArray<TensorDim> dims_;
  DeviceArray<uint32_t> fragments_, monomials_;
  DeviceArray<TileInfo> tiles_;
  std::vector<DeviceArray<uint32_t>> stretches_;  // by how many warps share one: 1, 2, 4, 8, as far as a group has them
  std::vector<Kernel> kernels_;                   // by tiles of 16 rows of a warp: 1, 2
  std::optional<Kernel> expand_;
  DeviceArray<uint32_t> row_fragments_;
  DeviceArray<float> inverse_scale_;
};

}  // namespace asr::ocl
