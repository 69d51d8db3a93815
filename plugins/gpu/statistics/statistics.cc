// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/statistics/statistics.h"

namespace asr::gpu {

Statistics::Statistics(Device &device)
    : device_(device),
      jobs_(device.context()),
      share_tiles_(device.context()),
      element_tiles_(device.context()),
      shares_(device.context()),
      posteriors_(device.context()),
      log_likelihoods_(device.context()),
      staging_(device.pool(), device.context()),
      value_staging_(device.pool(), device.context()) {}

std::unique_ptr<Statistics::Rows> Statistics::load(const float *rows, uint32_t n_rows, uint32_t n_dims) {
  std::unique_ptr<Rows> loaded = std::make_unique<Rows>(n_rows, n_dims, device_.context());
  const size_t n_floats = size_t{n_rows} * n_dims;
  loaded->values.reserve(n_floats);
  staging_.upload({{rows, n_floats}}, loaded->values, device_.compute());
  device_.compute().finish();
  return loaded;
}

std::unique_ptr<Statistics::Sums> Statistics::begin(const asr_sums_view &view) {
  std::unique_ptr<Sums> sums = std::make_unique<Sums>(view, device_.context());
  const SumsPlan &plan = sums->plan;
  load(plan.mixtures, &sums->mixtures);
  load(plan.dims, &sums->dims);
  const std::unique_ptr<double[]> parameters = plan.pack(view, device_.pool());
  sums->parameters.reserve(plan.n_parameters);
  value_staging_.upload({{parameters.get(), plan.n_parameters}}, sums->parameters, device_.compute());
  sums->values.reserve(plan.n_values);
  device_.compute().clear(&sums->values, plan.n_values);
  device_.compute().finish();
  ++n_sums_;
  return sums;
}

void Statistics::add(Sums *sums, const Rows &rows, const asr_row_share *shares, const uint64_t *share_begin) {
  check_shares(sums->plan, shares, share_begin, rows.n_rows, rows.n_dims);
  const auto converted = [](const asr_row_share &s) { return SumsShare{s.row, s.weight_row, s.share}; };
  for (const SumsBatch &batch : cut_shares(sums->plan, share_begin, kMaxOfLaunch)) {
    copied_.wait();
    jobs_.upload(batch.jobs, device_.compute());
    share_tiles_.upload(batch.share_tiles, device_.compute());
    element_tiles_.upload(batch.element_tiles, device_.compute());
    shares_.upload(shares + batch.first_share, batch.n_shares, converted, device_.compute());
    device_.compute().mark(&copied_);
    posteriors_.reserve(batch.n_posteriors);
    log_likelihoods_.reserve(batch.n_shares);
    launch(*sums, rows, static_cast<uint32_t>(batch.share_tiles.size()), static_cast<uint32_t>(batch.element_tiles.size()));
  }
}

}  // namespace asr::gpu
