// SPDX-License-Identifier: Apache-2.0
// StopToken lets one thread end the long work of another. Loops of core/lattice check it at every step.
#pragma once

#include <atomic>

#include "core/base/error.h"

namespace asr {

// Watches a flag that outlives the work. A token without a flag never stops anything.
class StopToken {
 public:
  StopToken() = default;
  explicit StopToken(const std::atomic<bool> *flag) : flag_(flag) {}

  // Throws ASR_CANCELLED once the flag is set. The interrupted object may then only be destroyed.
  void check() const {
    if (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) fail(ASR_CANCELLED, "the work was cancelled");
  }

 private:
  const std::atomic<bool> *flag_ = nullptr;
};

}  // namespace asr
