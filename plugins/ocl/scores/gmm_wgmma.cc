// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/scores/gmm_wgmma.h"

#include <algorithm>
#include <array>
#include <map>

namespace asr::gpu {
namespace {

constexpr uint32_t kCapability = 9;  // Hopper's, for which alone the kernels are compiled
constexpr uint32_t kResident = 4;    // warpgroups of a compute unit at once
constexpr uint32_t kRowBlocks = 4;   // row blocks at once
constexpr uint32_t kWarpgroupRows = 64, kWarpgroupThreads = 128;
constexpr uint64_t kLastingBytes = uint64_t{48} << 20;  // second-level cache

uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

const KernelSource *source_of(const Device &device, uint32_t n_steps, bool halved) {
  return device.variant().gmm_wgmma[(n_steps == 4 ? 0 : n_steps == 9 ? 1 : 2) + (halved ? 3 : 0)];
}

}  // namespace

bool GmmWgmma::serves(Device &device, asr_covariance covariance, uint32_t n_dims, bool halved) {
  if (device.facts().nvidia_capability != kCapability || !uses_diagonal_kernel(covariance, n_dims)) return false;
  const KernelSource *const source = source_of(device, diagonal_steps(n_dims), halved);
  return source != nullptr && device.optional_kernel(*source, "", "gmm_diagonal_wgmma_1", "mma is used for wgmma") != nullptr;
}

GmmWgmma::GmmWgmma(Device &device, const TensorPacker &packer, uint32_t stream, const StreamPlan &plan,
                   std::optional<uint32_t> four_tiles)
    : GmmWgmma(device, packer.pack(stream, plan.states.tensor, plan.dims, {true, plan.states.halves_tensor, four_tiles}),
               plan.dims) {}

GmmWgmma::GmmWgmma(Device &device, const TensorPack &pack, const std::vector<TensorDim> &dims)
    : n_steps_(pack.n_steps),
      four_tiles_(pack.four_tiles),
      halved_(pack.halved),
      dims_(device.context(), dims),
      fragments_(device.context(), pack.fragments),
      infos_(device.context(), pack.tiles),
      begins_(device.context(), state_begins(pack.starts)) {
  const Program &program = device.program(*source_of(device, n_steps_, halved_));
  for (const char *const name :
       {"gmm_diagonal_wgmma_1", "gmm_diagonal_wgmma_1_models", "gmm_diagonal_wgmma_2", "gmm_diagonal_wgmma_2_models"}) {
    kernels_.push_back(program.kernel(name));
  }
}

// Jobs have the same number of steps and of row blocks, which each work-group's stretch of the model meets. Work-groups are
// shared out by the tiles.
void GmmWgmma::launch(Device &device, uint32_t n_warpgroups, const Job *jobs, size_t n_jobs) {
  std::vector<DiagonalPart> parts;
  std::vector<uint64_t> work;
  const uint32_t n_row_blocks = ceil_div(jobs[0].n_rows, n_warpgroups * kWarpgroupRows);
  uint64_t n_bytes = 0;  // of all tiles
  for (size_t i = 0; i < n_jobs; ++i) {
    const Job &job = jobs[i];
    const auto n_tiles = static_cast<uint32_t>(job.model->infos_.size());
    parts.push_back({job.n_rows, job.n_features, job.n_states, job.add, static_cast<uint32_t>(job.model->dims_.size()), n_tiles,
                     0, 0, job.model->four_tiles_, 0});
    work.push_back(n_tiles);
    n_bytes += uint64_t{n_tiles} * job.model->n_steps_ * (job.model->halved_ ? 128 : 256);
  }
  // Several row blocks read a stretch together, so that most find it in the second-level cache.
  const uint32_t n_resident = device.facts().n_compute_units * kResident / n_warpgroups;
  const std::vector<uint32_t> shares = share_blocks(work, std::max(1u, n_resident / std::min(n_row_blocks, kRowBlocks)));
  uint32_t n_all = 0;
  for (size_t i = 0; i < n_jobs; ++i) {
    parts[i].first_group = n_all, parts[i].n_groups = shares[i], parts[i].passes = n_bytes > kLastingBytes ? 1 : 0;
    n_all += shares[i];
  }
  const Kernel &kernel = jobs[0].model->kernels_[2 * (n_warpgroups - 1) + (n_jobs > 1 ? 1 : 0)];
  const size_t n_models = n_jobs > 1 ? size_t{kDiagonalModels} : 1;
  for (size_t m = 0; m < n_models; ++m) {  // models that are not there have the first one's arrays
    const Job &job = jobs[m < n_jobs ? m : 0];
    DiagonalPart part = parts[m < n_jobs ? m : 0];
    if (m >= n_jobs) part.first_group = UINT32_MAX;
    kernel.set_one(static_cast<cl_uint>(m), part);
    auto at = static_cast<cl_uint>(n_models + 6 * m);
    kernel.set_one(at++, job.model->fragments_);
    kernel.set_one(at++, job.model->infos_);
    kernel.set_one(at++, job.model->begins_);
    kernel.set_one(at++, job.model->dims_);
    kernel.set_one(at++, *job.features);
    kernel.set_one(at++, *job.scores);
  }
  device.launch(kernel, {n_all, n_row_blocks}, {size_t{n_warpgroups} * kWarpgroupThreads});
}

void GmmWgmma::score(Device &device, const std::vector<Job> &jobs) {
  std::map<std::array<uint32_t, 3>, std::vector<Job>> launches;  // by kernels, warpgroups and row blocks
  for (const Job &job : jobs) {
    const uint32_t n_warpgroups = job.n_rows <= kWarpgroupRows ? 1 : 2;
    const uint32_t kernels = 2 * job.model->n_steps_ + (job.model->halved_ ? 1 : 0);
    launches[{kernels, n_warpgroups, ceil_div(job.n_rows, n_warpgroups * kWarpgroupRows)}].push_back(job);
  }
  for (const auto &[key, list] : launches) {
    for (size_t i = 0; i < list.size(); i += kDiagonalModels) {
      launch(device, key[1], list.data() + i, std::min(size_t{kDiagonalModels}, list.size() - i));
    }
  }
}

}  // namespace asr::gpu
