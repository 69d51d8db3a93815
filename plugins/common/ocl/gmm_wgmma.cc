// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/gmm_wgmma.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace asr::ocl {
namespace {

constexpr uint32_t kCapability = 9;  // Hopper's, for which alone the kernels are compiled
constexpr uint32_t kResident = 4;    // warpgroups of a compute unit at once
constexpr uint32_t kWarpgroupRows = 64, kWarpgroupThreads = 128;
constexpr size_t kMostModels = 12;                      // models of a launch
constexpr uint64_t kLastingBytes = uint64_t{48} << 20;  // second-level cache

uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

const KernelSource *source_of(const Device &device, uint32_t n_steps) {
  return device.variant().gmm_wgmma[n_steps == 4 ? 0 : n_steps == 9 ? 1 : 2];
}

}  // namespace

bool GmmWgmma::serves(Device &device, asr_covariance covariance, uint32_t n_dims) {
  if (device.facts().nvidia_capability != kCapability || !uses_diagonal_kernel(covariance, n_dims)) return false;
  const KernelSource *const source = source_of(device, diagonal_steps(n_dims));
  return source != nullptr && device.optional_kernel(*source, "", "gmm_diagonal_wgmma_1", "mma is used for wgmma") != nullptr;
}

GmmWgmma::GmmWgmma(Device &device, const TensorPacker &packer, uint32_t stream, const std::vector<uint32_t> &states,
                   const std::vector<TensorDim> &dims)
    : GmmWgmma(device, packer.pack(stream, states, dims, {true, false}), dims) {}

GmmWgmma::GmmWgmma(Device &device, const TensorPack &pack, const std::vector<TensorDim> &dims)
    : n_steps_(pack.n_steps),
      dims_(device.context(), dims),
      fragments_(device.context(), pack.fragments),
      infos_(device.context(), pack.tiles),
      begins_(device.context(), state_begins(pack.starts)) {
  for (const uint32_t n_warpgroups : {1u, 2u}) {  // now, not while streams wait
    for (const bool several : {false, true}) kernel(device, n_warpgroups, several);
  }
}

const Kernel &GmmWgmma::kernel(Device &device, uint32_t n_warpgroups, bool several) {
  const auto found = kernels_.find({n_warpgroups, several});
  if (found != kernels_.end()) return found->second;
  const std::string name = format("gmm_diagonal_wgmma_%u%s", n_warpgroups, several ? "_models" : "");
  Kernel made = device.program(*source_of(device, n_steps_)).kernel(name.c_str());
  return kernels_.emplace(std::make_pair(n_warpgroups, several), std::move(made)).first->second;
}

// Work-groups are shared out by the tiles and rows.
void GmmWgmma::launch(Device &device, uint32_t n_warpgroups, const Job *jobs, size_t n_jobs) {
  std::vector<DiagonalPart> parts;
  std::vector<uint64_t> work;
  uint32_t n_row_blocks = 1;
  uint64_t n_bytes = 0;  // of all tiles
  for (size_t i = 0; i < n_jobs; ++i) {
    const Job &job = jobs[i];
    const auto n_tiles = static_cast<uint32_t>(job.model->infos_.size());
    const uint32_t n_blocks = ceil_div(job.n_rows, n_warpgroups * kWarpgroupRows);
    parts.push_back({job.n_rows, job.n_features, job.n_states, job.add, static_cast<uint32_t>(job.model->dims_.size()), n_tiles,
                     n_blocks, 0, 0, 0});
    work.push_back(uint64_t{n_tiles} * n_blocks);
    n_row_blocks = std::max(n_row_blocks, n_blocks);
    n_bytes += uint64_t{n_tiles} * job.model->n_steps_ * 256;
  }
  const uint32_t n_resident = device.facts().n_compute_units * kResident / n_warpgroups;
  const std::vector<uint32_t> shares = share_blocks(work, std::max(1u, n_resident / std::min(n_row_blocks, kResident)));
  uint32_t n_all = 0;
  for (size_t i = 0; i < n_jobs; ++i) {
    parts[i].first_group = n_all, parts[i].n_groups = shares[i], parts[i].passes = n_bytes > kLastingBytes ? 1 : 0;
    n_all += shares[i];
  }
  const Kernel &kernel = jobs[0].model->kernel(device, n_warpgroups, n_jobs > 1);
  const size_t n_models = n_jobs > 1 ? kMostModels : 1;
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
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Job>> launches;  // by steps and warpgroups
  for (const Job &job : jobs) launches[{job.model->n_steps_, job.n_rows <= kWarpgroupRows ? 1 : 2}].push_back(job);
  for (const auto &[key, list] : launches) {
    for (size_t i = 0; i < list.size(); i += kMostModels) {
      launch(device, key.second, list.data() + i, std::min(kMostModels, list.size() - i));
    }
  }
}

}  // namespace asr::ocl
