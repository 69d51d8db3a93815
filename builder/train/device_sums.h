// SPDX-License-Identifier: Apache-2.0
// Sums the statistics of a round on a device that has the extension "statistics", with the bits of the host's sums
// (asr_backend_statistics.h). Used by em.cc, which sums on the host where there is no such device or where it fails.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "builder/train/rows_of_mixtures.h"
#include "core/backend/asr_backend_statistics.h"
#include "core/backend/registry.h"

namespace asr::train {

class DeviceSums {
 public:
  // Rows are loaded in chunks. Those that fit in half of the device's memory stay there for later rounds.
  static constexpr uint64_t kChunkBytes = uint64_t{1} << 28;

  // Returns nullptr if the device cannot sum. The device must outlive the result.
  static std::unique_ptr<DeviceSums> of(const Device &device, uint64_t chunk_bytes = kChunkBytes);

  // Sums every piece and gives each mixture's statistics to `take`, on several threads at once. Returns false if the
  // device fails, then and ever after: `take` may have been called for some mixtures.
  bool sum(const TrainingRows &rows, const MixtureModel &model, const RowsOfMixtures &rows_of,
           const std::vector<size_t> &mixtures, bool full, ThreadPool *pool,
           const std::function<void(size_t mixture, const Statistics &statistics)> &take);

  // Forgets the rows on the device; must be called when rows have changed.
  void forget_rows() { resident_.clear(); }

  const std::string &device_id() const { return device_.entry().id; }
  bool has_summed() const { return has_summed_; }          // true once a call of sum() has succeeded
  const std::string &failure() const { return failure_; }  // why the device no longer sums; "" if it does

 private:
  using Rows = std::unique_ptr<asr_backend_rows, void (*)(asr_backend_rows *)>;
  class Group;

  DeviceSums(const Device &device, const asr_backend_statistics_api &api, uint64_t chunk_bytes)
      : device_(device), api_(api), chunk_bytes_(chunk_bytes) {}
  Rows load(const TrainingRows &rows, uint64_t first, uint64_t n) const;
  void sum_group(const TrainingRows &rows, Group *group, ThreadPool *pool);

  const Device &device_;
  const asr_backend_statistics_api &api_;
  const uint64_t chunk_bytes_;
  std::vector<Rows> resident_;  // the first chunks
  bool has_summed_ = false;
  std::string failure_;
};

}  // namespace asr::train
