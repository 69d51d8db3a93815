// SPDX-License-Identifier: Apache-2.0
// Statistics carries out the extension "statistics" on a device. Rows and sums stay on the
// device; tables of shares go up through pinned memory, in launches of bounded size and work. Each runtime
// defines launch() and serves() (statistics.cc in plugins/cuda/statistics and plugins/ocl/statistics).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/gpu/runtime/pinned_table.h"
#include "plugins/gpu/runtime/staging.h"
#include "plugins/gpu/statistics/statistics_plan.h"
#include "runtime/device.h"

namespace asr::gpu {

class Statistics {
 public:
  static bool serves(const Device &device);  // defined by each runtime

  // Rows has rows of features on the device.
  struct Rows {
    Rows(uint32_t n_rows, uint32_t n_dims, const Context &context) : n_rows(n_rows), n_dims(n_dims), values(context) {}
    const uint32_t n_rows, n_dims;
    Array<float> values;
  };

  // Sums has sums under way, and the parameters of their mixtures.
  struct Sums {
    Sums(const asr_sums_view &view, const Context &context)
        : plan(view), mixtures(context), dims(context), parameters(context), values(context) {}
    SumsPlan plan;
    Array<SumsMixture> mixtures;
    Array<uint32_t> dims;
    Array<double> parameters, values;
  };

  explicit Statistics(Device &device);
  ~Statistics() { finish(); }
  Statistics(const Statistics &) = delete;
  Statistics &operator=(const Statistics &) = delete;

  std::unique_ptr<Rows> load(const float *rows, uint32_t n_rows, uint32_t n_dims);

  std::unique_ptr<Sums> begin(const asr_sums_view &view);

  // Ends sums of begin(), and after the last ones frees the device's memory for launches.
  void end(std::unique_ptr<Sums> sums) noexcept {
    if (--n_sums_ == 0) release();
    sums.reset();
  }

  void add(Sums *sums, const Rows &rows, const asr_row_share *shares, const uint64_t *share_begin);

  void read(const Sums &sums, double *values) {
    value_staging_.download(sums.values, {{values, sums.plan.n_values}}, device_.compute());
  }

  // Ends the work under way after a failure.
  void give_up() noexcept {
    finish();
    release();
  }

 private:
  // 2^25 posteriors are 256 MiB. 2^35 operations take 0.3 s of a small GPU for graphics, which does 1e11 a second in
  // double. Longer launches would keep other work waiting, and some drivers end them after seconds. An H100 takes 2 ms,
  // far more than a launch costs. Diagonal models of 39 features have 430 operations a posterior: memory is their limit.
  static constexpr SumsLimits kMaxOfLaunch = {uint64_t{1} << 25, uint64_t{1} << 35};

  // Puts both kernels into the compute queue, for the tables below. Defined by each runtime.
  void launch(Sums &sums, const Rows &rows, uint32_t n_share_tiles, uint32_t n_element_tiles);

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

  Device &device_;
  // A launch's tables, whose pinned memory the device reads until `copied_`, and its results.
  PinnedTable<SumsJob> jobs_;
  PinnedTable<SumsTile> share_tiles_, element_tiles_;
  PinnedTable<SumsShare> shares_;
  Array<double> posteriors_, log_likelihoods_;
  Staging<> staging_;
  Staging<double> value_staging_;
  Event copied_;
  size_t n_sums_ = 0;  // begun and not ended
};

}  // namespace asr::gpu
