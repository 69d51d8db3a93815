// SPDX-License-Identifier: Apache-2.0
// The OpenCL back end for AMD GPUs: the table of plugins/ocl with the devices, kernels and tuning of this folder.
#include "plugins/ocl/backend.h"
#include "plugins/ocl/variant.h"
#include "plugins/ocl_amd/tuning.h"

namespace asr::gpu {
extern const KernelSource kernel_gmm_score;
}

namespace asr::ocl_amd {
namespace {

constexpr uint32_t kVendorId = 0x1002;  // PCI number of the vendor

const gpu::Variant &variant() {
  static const gpu::Variant variant = {"ocl_amd",   "AMD",       kVendorId, &gpu::kernel_gmm_score,
                                       gmm_tunings, kMfccPoints, false,     gpu::MatrixCores::kCdna};
  return variant;
}

}  // namespace
}  // namespace asr::ocl_amd

extern "C" __attribute__((visibility("default"))) const asr_backend_api *asr_backend_entry(uint32_t host_abi,
                                                                                           const asr_host_api *host) {
  return asr::gpu::backend_table(asr::ocl_amd::variant(), host_abi, host);
}
