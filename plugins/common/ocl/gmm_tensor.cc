// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/gmm_tensor.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/common/ocl/kernels.h"

namespace asr::ocl {
namespace {

uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

constexpr uint32_t kLeastCapability = 8;
constexpr uint32_t kDiagonalWarps = 16, kExpandedWarps = 8;  // warps of a compute unit at once
constexpr uint32_t kRowStepWords = 256;                      // words of 16 rows and 16 values of k
constexpr uint32_t kExpandWarps = 8, kExpandGroup = 256;     // shape of kernels/gmm_expand.cl, warps of 32

bool is_mma(const TensorTarget &target) { return target.kind == TensorKind::kMma || target.kind == TensorKind::kPlainMma; }
bool is_plain(const TensorTarget &target) {
  return target.kind == TensorKind::kPlainMma || target.kind == TensorKind::kPlainMfma;
}
uint32_t group_size(const TensorTarget &target) { return target.group_warps * (is_mma(target) ? 32 : 64); }

// PoCL takes minutes to compile barriers well, and these are for tests.
std::string options_of(const TensorTarget &target, uint32_t size) {
  return format("-DTENSOR_PTX=%d -DTENSOR_MFMA=%d -DGROUP_SIZE=%u -cl-denorms-are-zero%s",
                target.kind == TensorKind::kMma ? 1 : 0, target.kind == TensorKind::kMfma ? 1 : 0, size,
                is_plain(target) ? " -cl-opt-disable" : "");
}

Kernel diagonal_kernel(Device &device, const TensorTarget &target, uint32_t n_steps, uint32_t tiles) {
  const std::string options = options_of(target, group_size(target)) + format(" -DTILES=%u -DSTEPS=%u", tiles, n_steps);
  return device.program(kernel_gmm_diagonal_tensor, options).kernel("gmm_diagonal_tensor");
}

Kernel expanded_kernel(Device &device, const TensorTarget &target, uint32_t tiles) {
  const std::string options = options_of(target, group_size(target)) + format(" -DTILES=%u", tiles);
  if (is_mma(target)) return device.program(kernel_gmm_expanded_tensor, options).kernel("gmm_expanded_tensor");
  return device.program(kernel_gmm_expanded_mfma, options).kernel("gmm_expanded_mfma");
}

Kernel expand_kernel(Device &device, const TensorTarget &target, uint32_t n_dims) {
  const uint32_t local_dims = n_dims <= kMaxDiagonalDims ? kMaxDiagonalDims + 2 : GmmTensor::kMaxDims + 2;  // two sizes
  const std::string options = options_of(target, kExpandGroup) + format(" -DLOCAL_DIMS=%u", local_dims);
  return device.program(kernel_gmm_expand, options).kernel("gmm_expand");
}

// Returns true for CDNA, by the driver's name for the GPU. gfx908 lacks the registers; gfx950 is untested.
bool has_mfma(const DeviceFacts &facts) {
  const std::string &name = facts.name;
  return facts.is_gpu && (name.rfind("gfx90a", 0) == 0 || name.rfind("gfx94", 0) == 0);
}

}  // namespace

bool mfma_is_as_expected(Device &device, const TensorTarget &target) {
  constexpr int kSize = 16;
  const std::string options = options_of(target, group_size(target)) + " -DTILES=1";
  const Kernel probe = device.program(kernel_gmm_expanded_mfma, options).kernel("mfma_probe");
  std::vector<float> product(size_t{kSize} * kSize, 0.0f);
  const DeviceArray<float> on_device(device.context(), product);
  probe.set(on_device);
  device.launch(probe, {1}, {group_size(target)});
  device.compute().read(on_device, 0, product.data(), product.size());
  device.compute().finish();
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      int sum = 0;
      for (int k = 0; k < kSize; ++k) sum += (i + 2 * k) * (j - k);
      if (product[static_cast<size_t>(i) * kSize + static_cast<size_t>(j)] != static_cast<float>(sum)) return false;
    }
  }
  return true;
}

std::optional<TensorTarget> tensor_target(Device &device, asr_covariance covariance) {
  const MatrixCores cores = device.variant().matrix_cores;
  try {
    if (cores == MatrixCores::kNvidia && device.facts().nvidia_capability >= kLeastCapability) {
      const TensorTarget target = {TensorKind::kMma, kTensorWarps};
      diagonal_kernel(device, target, diagonal_steps(1), 1);
      return target;
    }
    if (cores == MatrixCores::kCdna && has_mfma(device.facts()) && covariance == ASR_COVARIANCE_FULL) {
      const TensorTarget target = {TensorKind::kMfma, kTensorWarps / 2};
      if (mfma_is_as_expected(device, target)) return target;
    }
  } catch (const Error &) {  // a driver without such instructions
  }
  return std::nullopt;
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
    kernels_.push_back(diagonal ? diagonal_kernel(device, target, n_steps_, tiles) : expanded_kernel(device, target, tiles));
  }
  if (!diagonal) expand_.emplace(expand_kernel(device, target, n_dims_));
}

void GmmTensor::expand(const DeviceArray<float> &features, uint32_t n_rows, uint32_t n_features) {
  const uint32_t n_row_tiles = ceil_div(n_rows, 16);
  row_fragments_.reserve(size_t{n_row_tiles} * n_steps_ * kRowStepWords);
  inverse_scale_.reserve(size_t{n_row_tiles} * 16);
  expand_->set(features, n_rows, n_features, dims_, n_dims_, monomials_, n_steps_, row_fragments_, inverse_scale_);
  device_.launch(*expand_, {n_row_tiles, ceil_div(n_steps_, kExpandWarps)}, {kExpandGroup});
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
  device_.launch(kernel, {n_groups, ceil_div(n_rows, n_warps * tiles * 16)}, {group_size(target_)});
}

}  // namespace asr::ocl
