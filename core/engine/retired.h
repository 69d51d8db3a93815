// SPDX-License-Identifier: Apache-2.0
// Channels and graphs of a device that nobody needs any more, on their way back to the engine's thread, which alone may free
// them: a worker that still reads results holds a share of its channel, a channel one of its graph, and whoever lets go of the
// last share retires the object here.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "core/engine/loaded_model.h"

namespace asr {

class Retired {
 public:
  // wake(): there is something to free; called on any thread.
  explicit Retired(std::function<void()> wake) : wake_(std::move(wake)) {}
  ~Retired();
  Retired(const Retired &) = delete;
  Retired &operator=(const Retired &) = delete;

  // A share of an object, which is freed before what it needs. It must not outlive this.
  template <typename Object>
  std::shared_ptr<Object> hold(BackendPointer<Object> object, std::shared_ptr<const void> needs) {
    // Its place in the list is made now, so that retiring it cannot fail.
    auto held = std::make_unique<HeldObject<Object>>(std::move(object), std::move(needs));
    Object *const pointer = held->object.get();
    Held *const place = held.release();
    return {pointer, [this, place](Object *) { retire(place); }};  // also where there is no memory for it
  }
  // Frees what was retired. On the engine's thread, or when there is none any more.
  void free_all();

 private:
  struct Held {
    virtual ~Held() = default;
    Held *next = nullptr;
  };
  template <typename Object>
  struct HeldObject : Held {
    HeldObject(BackendPointer<Object> o, std::shared_ptr<const void> n) : needs(std::move(n)), object(std::move(o)) {}
    const std::shared_ptr<const void> needs;
    const BackendPointer<Object> object;
  };
  void retire(Held *held);
  Held *take_all();

  std::function<void()> wake_;
  std::mutex mutex_;
  Held *first_ = nullptr;
};

}  // namespace asr
