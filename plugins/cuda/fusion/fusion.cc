// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/fusion/fusion.h"

#include "plugins/cuda/fusion/fuse_launch.h"

namespace asr::gpu {

void Fusion::fuse(const FuseCall<Acoustic> &call, Acoustic *to, uint32_t buffer, float *loglikes) {
  if (call.has_few_jobs(to->n_states())) {
    to->rewrite(buffer, loglikes, [&] { fuse_jobs(call, *to, buffer); });
    return;
  }
  FuseTables tables{};
  tables.n_rows = static_cast<uint32_t>(call.rows.size());
  tables.n_states = to->n_states();
  tables.max_terms = call.max_terms();
  tables.to = to->scores(buffer).data();
  for (size_t m = 0; m < call.models.size(); ++m) tables.models[m] = call.models[m]->scores(buffer).data();
  fuser_.fuse(call, to, buffer, loglikes, [&](auto &rows, auto &jobs, auto &terms) {
    tables.rows = rows.data(), tables.jobs = jobs.data(), tables.terms = terms.data();
    const cudaStream_t stream = device_.compute().get();
    device_.clock().start(stream);
    launch_fuse(tables, stream);
    device_.clock().stop(stream);
  });
}

// Launches a kernel for each job.
void Fusion::fuse_jobs(const FuseCall<Acoustic> &call, Acoustic &to, uint32_t buffer) {
  const cudaStream_t stream = device_.compute().get();
  const size_t n_states = to.n_states();
  device_.clock().start(stream);
  for (size_t j = 0; j < call.jobs.size(); ++j) {
    const FuseJob &job = call.jobs[j];
    const FuseFlatJob flat = call.flat(j, to.n_states());
    if (flat.n_scores == 0) continue;
    FuseTerms terms{};
    for (uint32_t m = 0; m < job.n_terms; ++m) {
      const FuseTerm &term = call.terms[job.first_term + m];
      terms.scores[m] = call.models[term.model]->scores(buffer).data() + term.first_row * n_states;
      terms.weights[m] = term.weight, terms.offsets[m] = term.offset;
    }
    launch_fuse_job(terms, flat, to.scores(buffer).data() + job.first_row * n_states, stream);
  }
  device_.clock().stop(stream);
}

}  // namespace asr::gpu
