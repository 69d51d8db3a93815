// SPDX-License-Identifier: Apache-2.0
// Launches OpenCL's kernel for Forced.
#include "plugins/gpu/forced/forced.h"

#include "plugins/ocl/runtime/kernels.h"

namespace asr::gpu {

void Forced::launch(uint32_t n_rows) {
  constexpr uint32_t kRows = kForcedThreads / kForcedLanes;
  const Kernel kernel = device_.program(kernel_forced).kernel("forced");
  kernel.set(codebooks_, mixtures_, dims_, parameters_, weights_, rows_, states_, loglikes_, n_streams_, n_dims_, n_rows);
  device_.launch(kernel, {(n_rows + kRows - 1) / kRows}, {kForcedThreads});
}

}  // namespace asr::gpu
