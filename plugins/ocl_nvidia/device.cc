// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl_nvidia/device.h"

#include "plugins/ocl_nvidia/tuning.h"

namespace asr::ocl {
extern const KernelSource kernel_gmm_score;
}

namespace asr::ocl_nvidia {
namespace {

constexpr uint32_t kVendorId = 0x10de;  // of PCI

}  // namespace

const ocl::Variant &variant() {
  static const ocl::Variant variant = {"ocl_nvidia", "NVIDIA",    kVendorId, &ocl::kernel_gmm_score,
                                       gmm_tunings,  kMfccPoints, true,      ocl::MatrixCores::kNvidia};
  return variant;
}

}  // namespace asr::ocl_nvidia
