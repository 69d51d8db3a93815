// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/fusion.h"

#include <limits>

#include "plugins/cuda/kernels/fuse.h"

namespace asr::cuda {
namespace {

constexpr size_t kFewJobs = 4;  // launches of their own cost less than the tables' copies

// Returns true if the jobs of a call are few, and the kernel's numbers hold all scores of each.
bool are_few(const FuseCall<Acoustic> &call, uint32_t n_states) {
  return call.jobs.size() <= kFewJobs && call.rows.size() <= std::numeric_limits<uint32_t>::max() / n_states;
}

}  // namespace

void Fusion::fuse(const FuseCall<Acoustic> &call, Acoustic *to, uint32_t buffer, float *loglikes) {
  if (are_few(call, to->n_states())) {
    to->rewrite(buffer, loglikes, [&] { fuse_jobs(call, *to, buffer); });
    return;
  }
  FuseTables tables{};
  tables.n_rows = static_cast<uint32_t>(call.rows.size());
  tables.n_states = to->n_states();
  tables.most_terms = call.most_terms();
  tables.to = to->scores(buffer).data();
  for (size_t m = 0; m < call.models.size(); ++m) tables.models[m] = call.models[m]->scores(buffer).data();
  fuser_.fuse(call, to, buffer, loglikes, [&](auto &rows, auto &jobs, auto &terms) {
    tables.rows = rows.data(), tables.jobs = jobs.data(), tables.terms = terms.data();
    const cudaStream_t stream = device_.compute().get();
    device_.clock().time(stream, [&] { launch_fuse(tables, stream); });
  });
}

// Launches a kernel for each job.
void Fusion::fuse_jobs(const FuseCall<Acoustic> &call, Acoustic &to, uint32_t buffer) {
  const cudaStream_t stream = device_.compute().get();
  const size_t n_states = to.n_states();
  size_t n_rows[kFewJobs] = {};
  for (const FuseRow &row : call.rows) ++n_rows[row.job];
  device_.clock().time(stream, [&] {
    for (size_t j = 0; j < call.jobs.size(); ++j) {
      const FuseJob &job = call.jobs[j];
      if (n_rows[j] == 0) continue;
      FuseTerms terms{};
      for (uint32_t m = 0; m < job.n_terms; ++m) {
        const FuseTerm &term = call.terms[job.first_term + m];
        terms.scores[m] = call.models[term.model]->scores(buffer).data() + term.first_row * n_states;
        terms.weights[m] = term.weight, terms.offsets[m] = term.offset;
      }
      launch_fuse_job(terms,
                      {job.n_terms, job.rule, static_cast<uint32_t>(n_rows[j] * n_states), job.weight,
                       to.scores(buffer).data() + job.first_row * n_states},
                      stream);
    }
  });
}

}  // namespace asr::cuda
