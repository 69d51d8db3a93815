// SPDX-License-Identifier: Apache-2.0
// The handles of asr_backend_api, as the CPU back end defines them. Used by entry.cc and advance.cc.
#pragma once

#include <exception>

#include "core/backend/asr_backend.h"
#include "plugins/cpu/device.h"
#include "plugins/cpu/forced.h"
#include "plugins/cpu/mfcc.h"
#include "plugins/cpu/search.h"

struct asr_backend_device {
  asr::cpu::Device device;
};
struct asr_backend_features {
  asr::cpu::Mfcc mfcc;
};
struct asr_backend_acoustic {
  asr::cpu::Device *device;
  asr::cpu::Acoustic acoustic;
};
struct asr_backend_forced {
  asr::cpu::Forced forced;
};
struct asr_backend_graph {
  asr::cpu::SearchGraph graph;
};
struct asr_backend_channel {
  asr::cpu::Search search;
  std::exception_ptr failure;  // the reason why it consumes no more frames
};
