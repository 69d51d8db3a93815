// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/given/given.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr::gpu {
namespace {

template <typename T>
void load(Device &device, const T *from, size_t n, Array<T> *to) {
  to->reserve(std::max<size_t>(n, 1));
  if (n > 0) device.compute().write(*to, 0, from, n);
  device.compute().finish();
}

}  // namespace

GivenMap::GivenMap(Device &device, const asr_given_map_view &view)
    : n_columns(view.n_columns),
      n_states(view.n_states),
      is_one_to_one(view.column_begin == nullptr),
      begins(device.context()),
      columns(device.context()),
      offsets(device.context()) {
  if (is_one_to_one && n_columns != n_states) {
    fail(ASR_INVALID_ARGUMENT, "given rows: %u columns cannot be %u states one by one", n_columns, n_states);
  }
  load(device, view.column_begin, is_one_to_one ? 0 : size_t{n_states} + 1, &begins);
  load(device, view.columns, is_one_to_one ? 0 : view.column_begin[n_states], &columns);
  load(device, view.offsets, n_states, &offsets);
}

GivenReader::GivenReader(Device &device)
    : device_(device), turns_{Turn(device.context()), Turn(device.context())}, faults_(device.context()) {}

void GivenReader::read(const std::vector<Job> &jobs, uint32_t n_rows, Acoustic *to, uint32_t buffer, uint32_t *faults,
                       ReturnedRows<Device> *returned) {
  to->prepare(n_rows, buffer);
  faults_.reserve(n_rows);
  std::vector<Job> sorted = jobs;
  const auto key = [](const Job &job) { return std::pair(job.map, memory_of(*job.given)); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Job &a, const Job &b) { return key(a) < key(b); });
  std::vector<GivenJob> table;
  std::vector<Launch> launches;
  for (const Job &job : sorted) {
    if (job.n_rows == 0) continue;
    if (job.map->n_states != to->n_states() || uint64_t{job.first_row} + job.n_rows > n_rows) {
      fail(ASR_INVALID_ARGUMENT, "read: a job's rows %u to %llu, or %u states, are not of the %u rows of %u states",
           job.first_row, static_cast<unsigned long long>(job.first_row) + job.n_rows, job.map->n_states, n_rows,
           to->n_states());
    }
    const uint64_t stride = stride_bytes(*job.given, job.map->n_columns);
    if (launches.empty() || std::pair(launches.back().map, launches.back().memory) != key(job)) {
      launches.push_back({job.map, memory_of(*job.given), static_cast<uint32_t>(table.size()), 0, 0});
    }
    table.push_back({begin_of(*job.given) + job.first_given * stride, stride, static_cast<uint32_t>(job.given->type),
                     job.n_rows, job.first_row, 0});
    ++launches.back().n_jobs;
    launches.back().max_rows = std::max(launches.back().max_rows, job.n_rows);
  }
  Turn &turn = turns_[turn_++ % 2];
  turn.copied.wait();
  turn.jobs.upload(table, device_.compute());
  device_.compute().mark(&turn.copied);
  to->rewrite(buffer, nullptr, [&] {
    for (const Launch &one : launches) launch(one, turn.jobs.array(), to->scores(buffer));
  });
  returned->start(faults_, {{reinterpret_cast<float *>(faults), n_rows}}, n_rows);
}

StandIn::StandIn(uint32_t n_states) : state_codebook_(n_states, 0), state_weight_(n_states, 0) {
  view_.size = sizeof(view_);
  view_.covariance = ASR_COVARIANCE_DIAGONAL;
  view_.n_dims = view_.n_streams = view_.n_codebooks = view_.n_covariances = 1;
  view_.n_states = n_states;
  view_.n_gaussians = 1;
  view_.streams = &stream_;
  view_.codebooks = &codebook_;
  view_.means = &none_, view_.precisions = &one_, view_.log_weights = &none_;
  view_.covariance_of = &zero_;
  view_.precision_at = &first_;
  view_.state_codebook = state_codebook_.data();
  view_.state_weight = state_weight_.data();
}

}  // namespace asr::gpu
