// SPDX-License-Identifier: Apache-2.0
// DeviceStatistics carries out the extension "statistics" on a device with memory of its own. Rows and sums stay on the
// device; tables of shares go up through pinned memory, in launches of bounded size and work. A back end's Statistics
// is derived from it and launches the kernels of plugins/gpu/statistics/statistics-inl.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/gpu/runtime/pinned_table.h"
#include "plugins/gpu/runtime/staging.h"
#include "plugins/gpu/statistics/statistics_plan.h"

namespace asr {

template <typename Device>
class DeviceStatistics {
 public:
  using Runtime = typename Device::Runtime;
  template <typename T>
  using Array = typename Runtime::template DeviceArray<T>;

  // Rows has rows of features on the device.
  struct Rows {
    template <typename... Context>
    Rows(uint32_t n_rows, uint32_t n_dims, const Context &...context) : n_rows(n_rows), n_dims(n_dims), values(context...) {}
    const uint32_t n_rows, n_dims;
    Array<float> values;
  };

  // Sums has sums under way, and the parameters of their mixtures.
  struct Sums {
    template <typename... Context>
    explicit Sums(const asr_sums_view &view, const Context &...context)
        : plan(view), mixtures(context...), dims(context...), parameters(context...), values(context...) {}
    SumsPlan plan;
    Array<SumsMixture> mixtures;
    Array<uint32_t> dims;
    Array<double> parameters, values;
  };

  virtual ~DeviceStatistics() { finish(); }

  std::unique_ptr<Rows> load(const float *rows, uint32_t n_rows, uint32_t n_dims) {
    std::unique_ptr<Rows> loaded = new_rows(n_rows, n_dims);
    const size_t n_floats = size_t{n_rows} * n_dims;
    loaded->values.reserve(n_floats);
    staging_.upload({{rows, n_floats}}, loaded->values, device_.compute());
    device_.compute().finish();
    return loaded;
  }

  std::unique_ptr<Sums> begin(const asr_sums_view &view) {
    std::unique_ptr<Sums> sums = new_sums(view);
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

  // Ends sums of begin(), and after the last ones frees the device's memory for launches.
  void end(std::unique_ptr<Sums> sums) noexcept {
    if (--n_sums_ == 0) release();
    sums.reset();
  }

  void add(Sums *sums, const Rows &rows, const asr_row_share *shares, const uint64_t *share_begin) {
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

  void read(const Sums &sums, double *values) {
    value_staging_.download(sums.values, {{values, sums.plan.n_values}}, device_.compute());
  }

  // Ends the work under way after a failure.
  void give_up() noexcept {
    finish();
    release();
  }

 protected:
  // `context`: arguments of the Runtime's arrays.
  template <typename... Context>
  explicit DeviceStatistics(Device &device, const Context &...context)
      : device_(device),
        jobs_(context...),
        share_tiles_(context...),
        element_tiles_(context...),
        shares_(context...),
        posteriors_(context...),
        log_likelihoods_(context...),
        staging_(device.pool(), context...),
        value_staging_(device.pool(), context...) {}

  // Puts both kernels into the compute queue, for the tables below.
  virtual void launch(Sums &sums, const Rows &rows, uint32_t n_share_tiles, uint32_t n_element_tiles) = 0;
  virtual std::unique_ptr<Rows> new_rows(uint32_t n_rows, uint32_t n_dims) const = 0;
  virtual std::unique_ptr<Sums> new_sums(const asr_sums_view &view) const = 0;

  Device &device_;
  // A launch's tables, whose pinned memory the device reads until `copied_`, and its results.
  PinnedTable<Runtime, SumsJob> jobs_;
  PinnedTable<Runtime, SumsTile> share_tiles_, element_tiles_;
  PinnedTable<Runtime, SumsShare> shares_;
  Array<double> posteriors_, log_likelihoods_;

 private:
  // 2^25 posteriors are 256 MiB. 2^35 operations take 0.3 s of a small GPU for graphics, which does 1e11 a second in
  // double. Longer launches would keep other work waiting, and some drivers end them after seconds. An H100 takes 2 ms,
  // far more than a launch costs. Diagonal models of 39 features have 430 operations a posterior: memory is their limit.
  static constexpr SumsLimits kMaxOfLaunch = {uint64_t{1} << 25, uint64_t{1} << 35};

  // Pinned memory may be freed afterwards.
  void finish() noexcept {
    try {
      device_.compute().finish();
    } catch (...) {  // a lost device can be closed
    }
  }

  // Frees the device's memory for launches, up to 600 MB, which the next launch takes anew.
  void release() noexcept {
    jobs_.release(), share_tiles_.release(), element_tiles_.release(), shares_.release();
    posteriors_.release(), log_likelihoods_.release();
  }

  template <typename T>
  void load(const std::vector<T> &from, Array<T> *to) {
    to->reserve(from.size());
    if (from.empty()) return;
    device_.compute().write(*to, 0, from.data(), from.size());
    device_.compute().finish();
  }

  Staging<Runtime> staging_;
  Staging<Runtime, double> value_staging_;
  typename Runtime::Event copied_;
  size_t n_sums_ = 0;  // begun and not ended
};

}  // namespace asr
