// SPDX-License-Identifier: Apache-2.0
#include "core/engine/retired_channels.h"

#include <utility>

namespace asr {

std::shared_ptr<asr_backend_channel> RetiredChannels::hold(asr_backend_channel *channel) {
  // Its place in the list is made now, so that retiring it cannot fail.
  BackendPointer<asr_backend_channel> owner(channel, model_.api()->channel_end);
  auto held = std::make_unique<Held>(Held{channel, nullptr});
  Held *const place = held.release();
  return {owner.release(), [this, place](asr_backend_channel *) { retire(place); }};  // also where there is no memory for it
}

void RetiredChannels::retire(Held *held) {
  std::lock_guard lock(mutex_);
  held->next = std::exchange(first_, held);
}

void RetiredChannels::end_all() {
  Held *held;
  {
    std::lock_guard lock(mutex_);
    held = std::exchange(first_, nullptr);
  }
  while (held != nullptr) {
    model_.api()->channel_end(held->channel);
    delete std::exchange(held, held->next);
  }
}

}  // namespace asr
