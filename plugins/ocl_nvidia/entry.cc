// SPDX-License-Identifier: Apache-2.0
// The OpenCL back end for NVIDIA GPUs: the table of plugins/ocl with the devices, kernels and tuning of this folder.
#include "plugins/ocl/backend.h"
#include "plugins/ocl/variant.h"
#include "plugins/ocl_nvidia/tuning.h"

namespace asr::ocl {
extern const KernelSource kernel_gmm_score;
#ifdef SENONE_PTX
extern const KernelSource kernel_gmm_diagonal_wgmma_4, kernel_gmm_diagonal_wgmma_9, kernel_gmm_diagonal_wgmma_10,
    kernel_gmm_diagonal_wgmma_halved_4, kernel_gmm_diagonal_wgmma_halved_9, kernel_gmm_diagonal_wgmma_halved_10,
    kernel_mfcc_512_sums_3_0, kernel_mfcc_512_sums_5_0, kernel_mfcc_512_sums_3_1, kernel_mfcc_512_sums_5_1;
#endif
}  // namespace asr::ocl

namespace asr::ocl_nvidia {
namespace {

constexpr uint32_t kVendorId = 0x10de;  // PCI number of the vendor

#ifdef SENONE_PTX
constexpr std::array<const ocl::KernelSource *, 6> kGmmWgmma = {
    &ocl::kernel_gmm_diagonal_wgmma_4,        &ocl::kernel_gmm_diagonal_wgmma_9,
    &ocl::kernel_gmm_diagonal_wgmma_10,       &ocl::kernel_gmm_diagonal_wgmma_halved_4,
    &ocl::kernel_gmm_diagonal_wgmma_halved_9, &ocl::kernel_gmm_diagonal_wgmma_halved_10};
constexpr std::array<const ocl::KernelSource *, 4> kMfccSums = {&ocl::kernel_mfcc_512_sums_3_0, &ocl::kernel_mfcc_512_sums_5_0,
                                                                &ocl::kernel_mfcc_512_sums_3_1, &ocl::kernel_mfcc_512_sums_5_1};
#else
constexpr std::array<const ocl::KernelSource *, 6> kGmmWgmma = {};
constexpr std::array<const ocl::KernelSource *, 4> kMfccSums = {};
#endif

const ocl::Variant &variant() {
  static const ocl::Variant variant = {"ocl_nvidia", "NVIDIA",    kVendorId, &ocl::kernel_gmm_score,
                                       gmm_tunings,  kMfccPoints, true,      ocl::MatrixCores::kNvidia,
                                       kGmmWgmma,    kMfccSums};
  return variant;
}

}  // namespace
}  // namespace asr::ocl_nvidia

extern "C" __attribute__((visibility("default"))) const asr_backend_api *asr_backend_entry(uint32_t host_abi,
                                                                                           const asr_host_api *host) {
  return asr::ocl::backend_table(asr::ocl_nvidia::variant(), host_abi, host);
}
