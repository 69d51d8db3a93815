// SPDX-License-Identifier: Apache-2.0
// Statistics runs DeviceStatistics with OpenCL's kernels. The slots of plugins/gpu/slots.h call it.
#pragma once

#include "plugins/gpu/statistics/statistics.h"
#include "plugins/ocl/runtime/device.h"

namespace asr::ocl {

class Statistics : public DeviceStatistics<Device> {
 public:
  static bool serves(const Device &device) { return device.facts().has_fp64; }
  explicit Statistics(Device &device) : DeviceStatistics(device, device.context()) {}

 private:
  void launch(Sums &sums, const Rows &rows, uint32_t n_share_tiles, uint32_t n_element_tiles) override;
  std::unique_ptr<Rows> new_rows(uint32_t n_rows, uint32_t n_dims) const override {
    return std::make_unique<Rows>(n_rows, n_dims, device_.context());
  }
  std::unique_ptr<Sums> new_sums(const asr_sums_view &view) const override {
    return std::make_unique<Sums>(view, device_.context());
  }
};

}  // namespace asr::ocl
