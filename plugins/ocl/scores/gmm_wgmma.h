// SPDX-License-Identifier: Apache-2.0
// Mixtures of diagonal Gaussians on Hopper's tensor cores, by the kernels that a variant brings as PTX
// (plugins/ocl_nvidia/scores/gmm_diagonal_wgmma.cu). Used by Gmm (gmm.h) in the place of GmmTensor.
#pragma once

#include <optional>
#include <vector>

#include "plugins/gpu/scores/gmm_states.h"
#include "plugins/gpu/scores/gmm_tensor_pack.h"
#include "plugins/ocl/runtime/device.h"
#include "plugins/ocl/scores/gmm_tensor.h"

namespace asr::gpu {

class GmmWgmma {
 public:
  // Returns true if the device has such products, and its driver takes the kernels of a stream of so many features.
  static bool serves(Device &device, asr_covariance covariance, uint32_t n_dims, bool halved);

  // four_tiles: as in TensorLayout.
  GmmWgmma(Device &device, const TensorPacker &packer, uint32_t stream, const StreamPlan &plan,
           std::optional<uint32_t> four_tiles);
  uint32_t four_tiles() const { return four_tiles_; }

  using Job = TensorJob<GmmWgmma>;
  // Puts kernels into the compute queue. Models share launches.
  static void score(Device &device, const std::vector<Job> &jobs);

 private:
  GmmWgmma(Device &device, const TensorPack &pack, const std::vector<TensorDim> &dims);
  static void launch(Device &device, uint32_t n_warpgroups, const Job *jobs, size_t n_jobs);

  const uint32_t n_steps_, four_tiles_;
  const bool halved_;
  Array<TensorDim> dims_;
  Array<uint32_t> fragments_;
  Array<TileInfo> infos_;
  Array<uint32_t> begins_;       // state_begins()
  std::vector<Kernel> kernels_;  // of one warpgroup: for one model, for several; of two: the same
};

}  // namespace asr::gpu
