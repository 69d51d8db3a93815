// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/scores/gmm_tensor.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "core/base/error.h"
#include "plugins/ocl/runtime/kernels.h"

namespace asr::gpu {
namespace {

uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

constexpr uint32_t kMinCapability = 8;
constexpr uint32_t kDiagonalWarps = 16, kExpandedWarps = 8;  // warps of a compute unit at once
constexpr uint32_t kExpandWarps = 8, kExpandGroup = 256;     // shape of gmm_expand.cl, warps of 32

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

constexpr char kDiagonalName[] = "gmm_diagonal_tensor";
// Size is for what a kernel is compiled: tiles of 16 rows of a warp, steps of the diagonal kernel, and models without lo.
struct Size {
  uint32_t tiles, n_steps;
  bool halved;
};
std::string diagonal_options(const TensorTarget &target, const Size &size, size_t n_models) {
  return options_of(target, group_size(target)) +
         format(" -DTILES=%u -DSTEPS=%u -DHALVED=%d -DMODELS=%zu", size.tiles, size.n_steps, size.halved ? 1 : 0, n_models);
}
Kernel diagonal_kernel(Device &device, const TensorTarget &target, const Size &size) {
  return device.program(kernel_gmm_diagonal_tensor, diagonal_options(target, size, 1)).kernel(kDiagonalName);
}
// A driver may find the arguments of several models too many.
const Kernel *shared_kernel(Device &device, const TensorTarget &target, const Size &size) {
  return device.optional_kernel(kernel_gmm_diagonal_tensor, diagonal_options(target, size, kDiagonalModels), kDiagonalName,
                                "each model is scored by a launch of its own");
}

Kernel expanded_kernel(Device &device, const TensorTarget &target, const Size &size) {
  const std::string options =
      options_of(target, group_size(target)) + format(" -DTILES=%u -DHALVED=%d", size.tiles, size.halved ? 1 : 0);
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
  const std::string options = options_of(target, group_size(target)) + " -DTILES=1 -DHALVED=0";
  const Kernel probe = device.program(kernel_gmm_expanded_mfma, options).kernel("mfma_probe");
  std::vector<float> product(size_t{kSize} * kSize, 0.0f);
  const Array<float> on_device(device.context(), product);
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
    if (cores == MatrixCores::kNvidia && device.facts().nvidia_capability >= kMinCapability) {
      const TensorTarget target = {TensorKind::kMma, kTensorWarps};
      diagonal_kernel(device, target, {1, diagonal_steps(1), false});
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
                     uint32_t stream, const StreamStates &states, const std::vector<TensorDim> &dims)
    : GmmTensor(device, target, uses_diagonal_kernel(view.covariance, static_cast<uint32_t>(dims.size())),
                packer.pack(stream, states.tensor, dims, {false, states.halves_tensor}), dims) {}

GmmTensor::GmmTensor(Device &device, const TensorTarget &target, bool diagonal, const TensorPack &pack,
                     const std::vector<TensorDim> &dims)
    : device_(device),
      target_(target),
      diagonal_(diagonal),
      halved_(pack.halved),
      n_dims_(static_cast<uint32_t>(dims.size())),
      n_steps_(pack.n_steps),
      n_tiles_(diagonal ? pack.starts.back() : 0),
      dims_(device.context(), dims),
      fragments_(device.context(), pack.fragments),
      monomials_(device.context(), pack.monomials),
      tiles_(device.context(), pack.tiles),
      begins_(device.context(), diagonal ? state_begins(pack.starts) : std::vector<uint32_t>()),
      row_fragments_(device.context()),
      inverse_scale_(device.context()) {
  const uint32_t n_warps = device.facts().n_compute_units * (diagonal ? kDiagonalWarps : kExpandedWarps);
  for (uint32_t shared = 1; shared <= target.group_warps; shared *= 2) {
    stretches_.emplace_back(device.context(), cut_stretches(pack.starts, n_warps / shared));
  }
  if (!is_plain(target)) {  // now, not while streams wait
    for (const uint32_t tiles : {1u, 2u}) {
      kernel_of(tiles);
      if (diagonal) shared_kernel(device, target, {tiles, n_steps_, halved_});
    }
  }
  if (!diagonal) expand_.emplace(expand_kernel(device, target, n_dims_));
}

// PoCL compiles for so long that the plain kernels are made when they are used.
const Kernel &GmmTensor::kernel_of(uint32_t tiles) {
  const auto found = kernels_.find(tiles);
  if (found != kernels_.end()) return found->second;
  const Size size = {tiles, n_steps_, halved_};
  Kernel made = diagonal_ ? diagonal_kernel(device_, target_, size) : expanded_kernel(device_, target_, size);
  return kernels_.emplace(tiles, std::move(made)).first->second;
}

TensorShape GmmTensor::shape_of(uint32_t n_rows) const {
  const TensorShape shape = tensor_shape(n_rows);
  return {std::min(shape.warps, target_.group_warps), shape.tiles_of_16_rows};
}

void GmmTensor::expand(const Array<float> &features, uint32_t n_rows, uint32_t n_features) {
  const uint32_t n_row_tiles = ceil_div(n_rows, 16);
  row_fragments_.reserve(size_t{n_row_tiles} * n_steps_ * kRowStepWords);
  inverse_scale_.reserve(size_t{n_row_tiles} * 16);
  expand_->set(features, n_rows, n_features, dims_, n_dims_, monomials_, n_steps_, row_fragments_, inverse_scale_);
  device_.launch(*expand_, {n_row_tiles, ceil_div(n_steps_, kExpandWarps)}, {kExpandGroup});
}

void GmmTensor::score_expanded(const Job &job) {
  const TensorShape shape = shape_of(job.n_rows);
  const Array<uint32_t> &stretches = stretches_[shape_index(shape)];
  const Kernel &kernel = kernel_of(shape.tiles_of_16_rows);
  expand(*job.features, job.n_rows, job.n_features);
  kernel.set(fragments_, tiles_, n_steps_, stretches, shape.warps, row_fragments_, inverse_scale_, job.n_rows, *job.scores,
             job.n_states, job.add);
  const size_t n_groups = (stretches.size() - 1) / (target_.group_warps / shape.warps);
  device_.launch(kernel, {n_groups, ceil_div(job.n_rows, shape.warps * shape.tiles_of_16_rows * 16)}, {group_size(target_)});
}

// Jobs have the same number of steps and the same shape, and are halved or not.
void GmmTensor::score_diagonal(Device &device, const Job *jobs, size_t n_jobs) {
  GmmTensor &first = *jobs[0].model;
  const uint32_t tiles = first.shape_of(jobs[0].n_rows).tiles_of_16_rows;
  const Kernel *const shared =
      n_jobs > 1 ? shared_kernel(device, first.target_, {tiles, first.n_steps_, first.halved_}) : nullptr;
  if (shared != nullptr) return launch_diagonal(device, *shared, jobs, n_jobs);
  for (size_t i = 0; i < n_jobs; ++i) launch_diagonal(device, jobs[i].model->kernel_of(tiles), jobs + i, 1);
}

// Work-groups are shared out by the tiles and rows.
void GmmTensor::launch_diagonal(Device &device, const Kernel &kernel, const Job *jobs, size_t n_jobs) {
  GmmTensor &first = *jobs[0].model;
  const TensorTarget &target = first.target_;
  const uint32_t tiles = first.shape_of(jobs[0].n_rows).tiles_of_16_rows;
  std::vector<uint64_t> work;
  uint32_t n_row_blocks = 1;
  for (size_t i = 0; i < n_jobs; ++i) {
    const uint32_t n_warps = first.shape_of(jobs[i].n_rows).warps, n_blocks = ceil_div(jobs[i].n_rows, n_warps * tiles * 16);
    work.push_back(uint64_t{jobs[i].model->n_tiles_} * n_warps * n_blocks);
    n_row_blocks = std::max(n_row_blocks, n_blocks);
  }
  const std::vector<uint32_t> shares = share_blocks(work, device.facts().n_compute_units * kDiagonalWarps / target.group_warps);
  const size_t n_models = n_jobs > 1 ? size_t{kDiagonalModels} : 1;
  uint32_t n_groups = 0;
  for (size_t m = 0; m < n_models; ++m) {  // models that are not there have the first one's arrays
    const Job &job = jobs[m < n_jobs ? m : 0];
    const GmmTensor &tensor = *job.model;
    const uint32_t n_warps = first.shape_of(job.n_rows).warps;
    const std::array<uint32_t, 8> numbers = {job.n_rows,
                                             job.n_features,
                                             tensor.n_dims_,
                                             job.n_states,
                                             tensor.n_tiles_,
                                             n_warps + 16 * job.add,
                                             m < n_jobs ? n_groups : UINT32_MAX,
                                             m < n_jobs ? shares[m] : 0};
    if (m < n_jobs) n_groups += shares[m];
    kernel.set_one(static_cast<cl_uint>(m), numbers);
    auto at = static_cast<cl_uint>(n_models + 5 * m);
    kernel.set_one(at++, tensor.fragments_);
    kernel.set_one(at++, n_models > 1 ? tensor.begins_ : tensor.stretches_[shape_index({n_warps, tiles})]);
    kernel.set_one(at++, tensor.dims_);
    kernel.set_one(at++, *job.features);
    kernel.set_one(at++, *job.scores);
  }
  device.launch(kernel, {n_groups, n_row_blocks}, {group_size(target)});
}

void GmmTensor::score(Device &device, const std::vector<Job> &jobs) {
  // By what kernels are compiled for, and whether warps share a stretch. Such models have a launch each: stretches of
  // several models at once are too long for the L1 cache once warps drift apart.
  std::map<std::tuple<uint32_t, bool, uint32_t, bool>, std::vector<Job>> diagonal;
  for (const Job &job : jobs) {
    const TensorShape shape = job.model->shape_of(job.n_rows);
    if (job.model->diagonal_) {
      diagonal[{job.model->n_steps_, job.model->halved_, shape.tiles_of_16_rows, shape.warps > 1}].push_back(job);
    } else {
      job.model->score_expanded(job);
    }
  }
  for (const auto &[kind, list] : diagonal) {
    const size_t most = std::get<3>(kind) ? 1 : size_t{kDiagonalModels};
    for (size_t i = 0; i < list.size(); i += most) {
      score_diagonal(device, list.data() + i, std::min(most, list.size() - i));
    }
  }
}

}  // namespace asr::gpu
