// SPDX-License-Identifier: Apache-2.0
// Fusion runs Fuser with OpenCL's kernel. The slots of plugins/gpu/slots.h call it.
#pragma once

#include "plugins/gpu/fusion/fuser.h"
#include "plugins/gpu/scores/acoustic.h"

namespace asr::gpu {

class Fusion {
 public:
  explicit Fusion(Device &device);
  void fuse(const FuseCall<Acoustic> &call, Acoustic *to, uint32_t buffer, float *loglikes);

 private:
  void fuse_jobs(const FuseCall<Acoustic> &call, Acoustic &to, uint32_t buffer);
  Device &device_;
  const Kernel few_, many_;  // by the terms of a job
  const Kernel flat_;        // of a job of few terms
  Fuser fuser_;
};

}  // namespace asr::gpu
