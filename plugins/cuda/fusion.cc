// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/fusion.h"

#include "plugins/cuda/kernels/fuse.h"

namespace asr::cuda {

void Fusion::fuse(const FuseCall<Acoustic> &call, Acoustic *to, uint32_t buffer, float *loglikes) {
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

}  // namespace asr::cuda
