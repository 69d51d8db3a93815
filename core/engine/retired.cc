// SPDX-License-Identifier: Apache-2.0
#include "core/engine/retired.h"

#include <utility>

namespace asr {

// The wake function may no longer be called.
Retired::~Retired() {
  wake_ = nullptr;
  free_all();
}

void Retired::retire(Held *held) {
  {
    std::lock_guard lock(mutex_);
    held->next = std::exchange(first_, held);
  }
  if (wake_) wake_();
}

Retired::Held *Retired::take_all() {
  std::lock_guard lock(mutex_);
  return std::exchange(first_, nullptr);
}

// Freeing an object may release the last share of another one.
void Retired::free_all() {
  while (Held *held = take_all()) {
    while (held != nullptr) delete std::exchange(held, held->next);
  }
}

}  // namespace asr
