// SPDX-License-Identifier: Apache-2.0
// A model on the device with its two score buffers (plugins/gpu/scores/acoustic.h).
#pragma once

#include "plugins/gpu/scores/acoustic.h"
#include "plugins/ocl/scores/gmm.h"
#include "plugins/ocl/scores/gmm_tuning.h"

namespace asr::ocl {

class Acoustic : public DeviceAcoustic<Device, Gmm> {
 public:
  Acoustic(Device &device, const asr_acoustic_view &view)
      : DeviceAcoustic(
            device, view,
            [&] {
              const bool full = view.covariance == ASR_COVARIANCE_FULL;
              return Gmm(device, view, chosen_tuning(device, full), tensor_target(device, view.covariance));
            },
            device.context()) {}
};

}  // namespace asr::ocl
