// SPDX-License-Identifier: Apache-2.0
// A model on the GPU with its two score buffers (plugins/gpu/scores/acoustic.h).
#pragma once

#include "plugins/cuda/scores/gmm.h"
#include "plugins/gpu/scores/acoustic.h"

namespace asr::cuda {

class Acoustic : public DeviceAcoustic<Device, Gmm> {
 public:
  Acoustic(Device &device, const asr_acoustic_view &view) : DeviceAcoustic(device, view, [&] { return Gmm(device, view); }) {}
};

}  // namespace asr::cuda
