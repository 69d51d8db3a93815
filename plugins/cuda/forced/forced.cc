// SPDX-License-Identifier: Apache-2.0
// Launches CUDA's kernel for Forced.
#include "plugins/gpu/forced/forced.h"

#include "plugins/cuda/forced/forced_launch.h"

namespace asr::gpu {

void Forced::launch(uint32_t n_rows) {
  const cudaStream_t stream = device_.compute().get();
  device_.clock().start(stream);
  launch_forced({codebooks_.data(), mixtures_.data(), dims_.data(), parameters_.data(), weights_.data(), rows_.data(),
                 states_.data(), loglikes_.data(), n_streams_, n_dims_, n_rows},
                stream);
  device_.clock().stop(stream);
}

}  // namespace asr::gpu
