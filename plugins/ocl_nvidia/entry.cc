// SPDX-License-Identifier: Apache-2.0
// The OpenCL back end for NVIDIA GPUs: the table of plugins/ocl with the devices, kernels and tuning of this folder.
#include "plugins/ocl/backend.h"
#include "plugins/ocl/variant.h"
#include "plugins/ocl_nvidia/tuning.h"

namespace asr::gpu {
extern const KernelSource kernel_gmm_score;
#ifdef SENONE_PTX
extern const KernelSource kernel_gmm_diagonal_wgmma_4, kernel_gmm_diagonal_wgmma_9, kernel_gmm_diagonal_wgmma_10,
    kernel_gmm_diagonal_wgmma_halved_4, kernel_gmm_diagonal_wgmma_halved_9, kernel_gmm_diagonal_wgmma_halved_10,
    kernel_mfcc_512_sums_3_0, kernel_mfcc_512_sums_5_0, kernel_mfcc_512_sums_3_1, kernel_mfcc_512_sums_5_1;
#endif
}  // namespace asr::gpu

namespace asr::ocl_nvidia {
namespace {

constexpr uint32_t kVendorId = 0x10de;  // PCI number of the vendor

#ifdef SENONE_PTX
constexpr std::array<const gpu::KernelSource *, 6> kGmmWgmma = {
    &gpu::kernel_gmm_diagonal_wgmma_4,        &gpu::kernel_gmm_diagonal_wgmma_9,
    &gpu::kernel_gmm_diagonal_wgmma_10,       &gpu::kernel_gmm_diagonal_wgmma_halved_4,
    &gpu::kernel_gmm_diagonal_wgmma_halved_9, &gpu::kernel_gmm_diagonal_wgmma_halved_10};
constexpr std::array<const gpu::KernelSource *, 4> kMfccSums = {&gpu::kernel_mfcc_512_sums_3_0, &gpu::kernel_mfcc_512_sums_5_0,
                                                                &gpu::kernel_mfcc_512_sums_3_1, &gpu::kernel_mfcc_512_sums_5_1};
#else
constexpr std::array<const gpu::KernelSource *, 6> kGmmWgmma = {};
constexpr std::array<const gpu::KernelSource *, 4> kMfccSums = {};
#endif

const gpu::Variant &variant() {
  static const gpu::Variant variant = {"ocl_nvidia", "NVIDIA",    kVendorId, &gpu::kernel_gmm_score,
                                       gmm_tunings,  kMfccPoints, true,      gpu::MatrixCores::kNvidia,
                                       kGmmWgmma,    kMfccSums};
  return variant;
}

}  // namespace
}  // namespace asr::ocl_nvidia

extern "C" __attribute__((visibility("default"))) const asr_backend_api *asr_backend_entry(uint32_t host_abi,
                                                                                           const asr_host_api *host) {
  return asr::gpu::backend_table(asr::ocl_nvidia::variant(), host_abi, host);
}
