// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl_amd/device.h"

#include "plugins/ocl_amd/tuning.h"

namespace asr::ocl {
extern const KernelSource kernel_gmm_score;
}

namespace asr::ocl_amd {
namespace {

constexpr uint32_t kVendorId = 0x1002;  // of PCI

}  // namespace

const ocl::Variant &variant() {
  static const ocl::Variant variant = {"ocl_amd",   "AMD",       kVendorId, &ocl::kernel_gmm_score,
                                       gmm_tunings, kMfccPoints, false,     ocl::MatrixCores::kCdna};
  return variant;
}

}  // namespace asr::ocl_amd
