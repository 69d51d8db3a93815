// SPDX-License-Identifier: Apache-2.0
// The OpenCL back end for NVIDIA GPUs: the table of plugins/common/ocl with the kernels of this folder.
#include "plugins/common/ocl/backend.h"
#include "plugins/ocl_nvidia/device.h"

extern "C" __attribute__((visibility("default"))) const asr_backend_api *asr_backend_entry(uint32_t host_abi,
                                                                                           const asr_host_api *host) {
  return asr::ocl::backend_table(asr::ocl_nvidia::variant(), host_abi, host);
}
