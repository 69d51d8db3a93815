// SPDX-License-Identifier: Apache-2.0
// Statistics runs DeviceStatistics with CUDA's kernels. The slots of plugins/gpu/slots.h call it.
#pragma once

#include "plugins/cuda/runtime/device.h"
#include "plugins/gpu/statistics/statistics.h"

namespace asr::cuda {

class Statistics : public DeviceStatistics<Device> {
 public:
  static bool serves(const Device &) { return true; }
  explicit Statistics(Device &device) : DeviceStatistics(device) {}

 private:
  void launch(Sums &sums, const Rows &rows, uint32_t n_share_tiles, uint32_t n_element_tiles) override;
  std::unique_ptr<Rows> new_rows(uint32_t n_rows, uint32_t n_dims) const override {
    return std::make_unique<Rows>(n_rows, n_dims);
  }
  std::unique_ptr<Sums> new_sums(const asr_sums_view &view) const override { return std::make_unique<Sums>(view); }
};

}  // namespace asr::cuda
