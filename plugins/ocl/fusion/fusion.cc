// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/fusion/fusion.h"

#include <array>
#include <utility>

#include "core/base/error.h"
#include "plugins/ocl/runtime/kernels.h"

namespace asr::gpu {
namespace {

constexpr size_t kGroup = 128, kFlatGroup = 256;

using Models = std::array<const Array<float> *, kFuseMostModels>;

// Sets `first` and then the score buffers of all models.
template <size_t... kNumbers, typename... First>
void set_arguments(const Kernel &kernel, const Models &models, std::index_sequence<kNumbers...>, const First &...first) {
  kernel.set(first..., *models[kNumbers]...);
}

Kernel fuse_kernel(Device &device, uint32_t most) {
  return device.program(kernel_fuse, format("-DMOST=%u -DFLAT=0", most)).kernel("fuse");
}

}  // namespace

Fusion::Fusion(Device &device)
    : device_(device),
      few_(fuse_kernel(device, kFuseFewTerms)),
      many_(fuse_kernel(device, kFuseMostModels)),
      flat_(device.program(kernel_fuse, "-DFLAT=1").kernel("fuse_job")),
      fuser_(device) {}

void Fusion::fuse(const FuseCall<Acoustic> &call, Acoustic *to, uint32_t buffer, float *loglikes) {
  const uint32_t n_states = to->n_states();
  if (call.has_few_jobs(n_states) && call.max_terms() <= kFuseFewTerms) {
    to->rewrite(buffer, loglikes, [&] { fuse_jobs(call, *to, buffer); });
    return;
  }
  Models models;
  const Kernel &kernel = call.max_terms() <= kFuseFewTerms ? few_ : many_;
  models.fill(&to->scores(buffer));  // the kernel ignores models beyond the call's
  for (size_t m = 0; m < call.models.size(); ++m) models[m] = &call.models[m]->scores(buffer);
  fuser_.fuse(call, to, buffer, loglikes, [&](const auto &rows, const auto &jobs, const auto &terms) {
    set_arguments(kernel, models, std::make_index_sequence<kFuseMostModels>(), rows, jobs, terms, n_states, to->scores(buffer));
    device_.launch(kernel, {(n_states + kGroup - 1) / kGroup, call.rows.size()}, {kGroup});
  });
}

// Launches a kernel for each job.
void Fusion::fuse_jobs(const FuseCall<Acoustic> &call, Acoustic &to, uint32_t buffer) {
  constexpr cl_uint kFirstModel = 4, kModels = 16;  // arguments
  static_assert(kFuseFewTerms <= kModels);
  const uint64_t n_states = to.n_states();
  for (size_t j = 0; j < call.jobs.size(); ++j) {
    const FuseJob &job = call.jobs[j];
    const FuseFlatJob flat = call.flat(j, to.n_states());
    if (flat.n_scores == 0) continue;
    FuseFewTerms few{};
    for (uint32_t m = 0; m < kModels; ++m) {  // terms that are not there have the results' buffer
      const FuseTerm *const term = m < job.n_terms ? &call.terms[job.first_term + m] : nullptr;
      flat_.set_one(kFirstModel + m, (term != nullptr ? *call.models[term->model] : to).scores(buffer));
      if (term == nullptr) continue;
      few.first[m] = term->first_row * n_states;
      few.weights[m] = term->weight, few.offsets[m] = term->offset;
    }
    flat_.set_one(0, flat);
    flat_.set_one(1, few);
    flat_.set_one(2, uint64_t{job.first_row} * n_states);
    flat_.set_one(3, to.scores(buffer));
    device_.launch(flat_, {(flat.n_scores + kFlatGroup - 1) / kFlatGroup}, {kFlatGroup});
  }
}

}  // namespace asr::gpu
