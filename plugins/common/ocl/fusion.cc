// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/fusion.h"

#include <array>
#include <utility>

#include "core/base/error.h"
#include "plugins/common/ocl/kernels.h"

namespace asr::ocl {
namespace {

constexpr size_t kGroup = 128;

using Models = std::array<const DeviceArray<float> *, kFuseMostModels>;

// Sets `first` and then the score buffers of all models.
template <size_t... kNumbers, typename... First>
void set_arguments(const Kernel &kernel, const Models &models, std::index_sequence<kNumbers...>, const First &...first) {
  kernel.set(first..., *models[kNumbers]...);
}

Kernel fuse_kernel(Device &device, uint32_t most) {
  return device.program(kernel_fuse, format("-DMOST=%u", most)).kernel("fuse");
}

}  // namespace

Fusion::Fusion(Device &device)
    : device_(device),
      few_(fuse_kernel(device, kFuseFewTerms)),
      many_(fuse_kernel(device, kFuseMostModels)),
      fuser_(device, device.context()) {}

void Fusion::fuse(const FuseCall<Acoustic> &call, Acoustic *to, uint32_t buffer, float *loglikes) {
  const uint32_t n_states = to->n_states();
  Models models;
  const Kernel &kernel = call.most_terms() <= kFuseFewTerms ? few_ : many_;
  models.fill(&to->scores(buffer));  // the kernel ignores models beyond the call's
  for (size_t m = 0; m < call.models.size(); ++m) models[m] = &call.models[m]->scores(buffer);
  fuser_.fuse(call, to, buffer, loglikes, [&](const auto &rows, const auto &jobs, const auto &terms) {
    set_arguments(kernel, models, std::make_index_sequence<kFuseMostModels>(), rows, jobs, terms, n_states, to->scores(buffer));
    device_.launch(kernel, {(n_states + kGroup - 1) / kGroup, call.rows.size()}, {kGroup});
  });
}

}  // namespace asr::ocl
