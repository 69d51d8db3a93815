// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/gmm_tensor.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/common/ocl/kernels.h"

namespace asr::ocl {
namespace {

constexpr uint32_t kWarp = 32, kLeastCapability = 8;
constexpr uint32_t kDiagonalWarps = 16, kExpandedWarps = 8;  // of a compute unit at once
constexpr uint32_t kRowStepWords = 256;                      // of 16 rows and 16 values of k

uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

std::string options_of(const TensorTarget &target, uint32_t tiles) {
  return format("-DTENSOR_PTX=%d -DGROUP_SIZE=%u -DTILES=%u -cl-denorms-are-zero%s", target.ptx ? 1 : 0,
                kWarp * target.group_warps, tiles, target.ptx ? "" : " -cl-opt-disable");
}

const Program &diagonal_program(Device &device, const TensorTarget &target, uint32_t n_steps, uint32_t tiles) {
  return device.program(kernel_gmm_diagonal_tensor, options_of(target, tiles) + format(" -DSTEPS=%u", n_steps));
}

const Program &expanded_program(Device &device, const TensorTarget &target, uint32_t n_dims, uint32_t tiles) {
  const uint32_t local_dims = n_dims <= kMaxDiagonalDims ? kMaxDiagonalDims + 2 : GmmTensor::kMaxDims + 2;  // two sizes
  return device.program(kernel_gmm_expanded_tensor, options_of(target, tiles) + format(" -DLOCAL_DIMS=%u", local_dims));
}

}  // namespace

std::optional<TensorTarget> tensor_target(Device &device) {
  const TensorTarget target = {true, kTensorWarps};
  if (!device.variant().tensor_cores || device.facts().nvidia_capability < kLeastCapability) return std::nullopt;
  try {
    diagonal_program(device, target, diagonal_steps(1), 1);
  } catch (const Error &) {  // a driver without such PTX
    return std::nullopt;
  }
  return target;
}

GmmTensor::GmmTensor(Device &device, const TensorTarget &target, const asr_acoustic_view &view, const TensorPacker &packer,
                     uint32_t stream, const std::vector<uint32_t> &states, const std::vector<TensorDim> &dims)
    : GmmTensor(device, target, uses_diagonal_kernel(view.covariance, static_cast<uint32_t>(dims.size())),
                packer.pack(stream, states, dims, {}), dims) {}

GmmTensor::GmmTensor(Device &device, const TensorTarget &target, bool diagonal, const TensorPack &pack,
                     const std::vector<TensorDim> &dims)
    : device_(device),
      target_(target),
      diagonal_(diagonal),
      n_dims_(static_cast<uint32_t>(dims.size())),
      n_steps_(pack.n_steps),
      dims_(device.context(), dims),
      fragments_(device.context(), pack.fragments),
      monomials_(device.context(), pack.monomials),
      tiles_(device.context(), pack.tiles),
      row_fragments_(device.context()),
      inverse_scale_(device.context()) {
  const uint32_t n_warps = device.facts().n_compute_units * (diagonal ? kDiagonalWarps : kExpandedWarps);
  for (uint32_t shared = 1; shared <= target.group_warps; shared *= 2) {
    stretches_.emplace_back(device.context(), cut_stretches(pack.starts, n_warps / shared));
  }
  for (const uint32_t tiles : {1, 2}) {
    kernels_.push_back(diagonal ? diagonal_program(device, target, n_steps_, tiles).kernel("gmm_diagonal_tensor")
                                : expanded_program(device, target, n_dims_, tiles).kernel("gmm_expanded_tensor"));
  }
  if (!diagonal) expand_.emplace(expanded_program(device, target, n_dims_, 1).kernel("gmm_expand"));
}

void GmmTensor::expand(const DeviceArray<float> &features, uint32_t n_rows, uint32_t n_features) {
  const uint32_t n_row_tiles = ceil_div(n_rows, 16);
  row_fragments_.reserve(size_t{n_row_tiles} * n_steps_ * kRowStepWords);
  inverse_scale_.reserve(size_t{n_row_tiles} * 16);
  expand_->set(features, n_rows, n_features, dims_, n_dims_, monomials_, n_steps_, row_fragments_, inverse_scale_);
  device_.launch(*expand_, {n_row_tiles, ceil_div(n_steps_, target_.group_warps)}, {kWarp * target_.group_warps});
}

void GmmTensor::score(const DeviceArray<float> &features, uint32_t n_rows, uint32_t n_features,
                      const DeviceArray<float> &scores, uint32_t n_states, uint32_t add) {
  const TensorShape shape = tensor_shape(n_rows);
  const uint32_t n_warps = std::min(shape.warps, target_.group_warps), tiles = shape.tiles_of_16_rows;
  const DeviceArray<uint32_t> &stretches = stretches_[shape_index({n_warps, tiles})];
  const Kernel &kernel = kernels_[tiles - 1];
  if (diagonal_) {
    kernel.set(fragments_, stretches, n_warps, features, n_rows, n_features, dims_, n_dims_, scores, n_states, add);
  } else {
    expand(features, n_rows, n_features);
    kernel.set(fragments_, tiles_, n_steps_, stretches, n_warps, row_fragments_, inverse_scale_, n_rows, scores, n_states, add);
  }
  const size_t n_groups = (stretches.size() - 1) / (target_.group_warps / n_warps);
  device_.launch(kernel, {n_groups, ceil_div(n_rows, n_warps * tiles * 16)}, {kWarp * target_.group_warps});
}

}  // namespace asr::ocl
