// SPDX-License-Identifier: Apache-2.0
#include "core/engine/device_copies.h"

#include <utility>

namespace asr {

DeviceObjects::~DeviceObjects() {
  List used;
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_gone = true;
    state_->wake = nullptr;
    used.swap(state_->used);
  }
  free_unused();
  while (!used.empty()) used.pop_back();  // an object was made after those that it needs
}

void DeviceObjects::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(state_->mutex);
  state_->wake.swap(wake);
}

DeviceObjects::Entry DeviceObjects::add(std::unique_ptr<Held> held) {
  const std::lock_guard lock(state_->mutex);
  state_->used.push_back(std::move(held));
  return std::prev(state_->used.end());
}

void DeviceObjects::let_go(const std::weak_ptr<State> &state, Entry entry) noexcept {
  const std::shared_ptr<State> s = state.lock();
  if (!s) return;
  const std::lock_guard lock(s->mutex);
  if (s->is_gone) return;
  s->unused.splice(s->unused.end(), s->used, entry);
  if (s->wake) s->wake();
}

// Freeing an object may release the last share of another one.
void DeviceObjects::free_unused() noexcept {
  for (List unused;; unused.clear()) {
    const std::lock_guard lock(state_->mutex);
    unused.swap(state_->unused);
    if (unused.empty()) return;
  }
}

}  // namespace asr
