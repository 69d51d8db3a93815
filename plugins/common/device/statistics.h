// SPDX-License-Identifier: Apache-2.0
// DeviceStatistics carries out the extension "statistics" on a device with memory of its own. Rows and sums stay on the
// device; tables of shares go up through pinned memory, in launches whose posteriors have a bounded size. A back end's
// Statistics is derived from it and launches the kernels of plugins/common/kernels/statistics.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "plugins/common/staging.h"
#include "plugins/common/statistics_plan.h"

namespace asr {

template <typename Device>
class DeviceStatistics {
 public:
  using Runtime = typename Device::Runtime;
  template <typename T>
  using Array = typename Runtime::template DeviceArray<T>;
  template <typename T>
  using Pinned = typename Runtime::template PinnedArray<T>;

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

  virtual ~DeviceStatistics() = default;

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
    return sums;
  }

  void add(Sums *sums, const Rows &rows, const asr_row_share *shares, const uint64_t *share_begin) {
    check_shares(sums->plan, shares, share_begin, rows.n_rows, rows.n_dims);
    for (const SumsBatch &batch : cut_shares(sums->plan, share_begin, kMostPosteriors)) {
      copied_.wait();
      upload(batch.jobs.data(), batch.jobs.size(), &host_jobs_, &jobs_);
      upload(batch.share_tiles.data(), batch.share_tiles.size(), &host_share_tiles_, &share_tiles_);
      upload(batch.element_tiles.data(), batch.element_tiles.size(), &host_element_tiles_, &element_tiles_);
      upload(shares + batch.first_share, batch.n_shares, &host_shares_, &shares_);
      device_.compute().mark(&copied_);
      posteriors_.reserve(batch.n_posteriors);
      log_likelihoods_.reserve(batch.n_shares);
      launch(*sums, rows, static_cast<uint32_t>(batch.share_tiles.size()), static_cast<uint32_t>(batch.element_tiles.size()));
    }
  }

  void read(const Sums &sums, double *values) {
    value_staging_.download(sums.values, {{values, sums.plan.n_values}}, device_.compute());
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
        value_staging_(device.pool(), context...),
        host_jobs_(context...),
        host_share_tiles_(context...),
        host_element_tiles_(context...),
        host_shares_(context...) {}

  // Puts both kernels into the compute queue, for the tables below.
  virtual void launch(Sums &sums, const Rows &rows, uint32_t n_share_tiles, uint32_t n_element_tiles) = 0;
  virtual std::unique_ptr<Rows> new_rows(uint32_t n_rows, uint32_t n_dims) const = 0;
  virtual std::unique_ptr<Sums> new_sums(const asr_sums_view &view) const = 0;

  Device &device_;
  Array<SumsJob> jobs_;
  Array<SumsTile> share_tiles_, element_tiles_;
  Array<SumsShare> shares_;
  Array<double> posteriors_, log_likelihoods_;

 private:
  static constexpr uint64_t kMostPosteriors = uint64_t{1} << 25;  // posteriors of a launch: 256 MiB

  template <typename T>
  void load(const std::vector<T> &from, Array<T> *to) {
    to->reserve(from.size());
    if (from.empty()) return;
    device_.compute().write(*to, 0, from.data(), from.size());
    device_.compute().finish();
  }

  template <typename From, typename T>
  void upload(const From *from, size_t n, Pinned<T> *pinned, Array<T> *to) {
    pinned->reserve(n);
    to->reserve(n);
    std::transform(from, from + n, pinned->data(), [](const From &entry) {
      if constexpr (std::is_same_v<From, T>) {
        return entry;
      } else {
        return T{entry.row, entry.weight_row, entry.share};
      }
    });
    device_.compute().write(*to, 0, pinned->data(), n);
  }

  Staging<Runtime> staging_;
  Staging<Runtime, double> value_staging_;
  // Pinned copies of a launch's tables, which the device reads until `copied_`.
  Pinned<SumsJob> host_jobs_;
  Pinned<SumsTile> host_share_tiles_, host_element_tiles_;
  Pinned<SumsShare> host_shares_;
  typename Runtime::Event copied_;
};

}  // namespace asr
