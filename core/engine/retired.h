// SPDX-License-Identifier: Apache-2.0
// Retired collects unused channels and graphs of a device until the engine's thread frees them, which alone may do so. A worker
// that reads results holds a share of its channel, and a channel holds one of its graph. The owner of the last share retires
// the object here.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "core/engine/loaded_model.h"

namespace asr {

class Retired {
 public:
  // wake(): called on any thread when there is something to free.
  explicit Retired(std::function<void()> wake) : wake_(std::move(wake)) {}
  ~Retired();
  Retired(const Retired &) = delete;
  Retired &operator=(const Retired &) = delete;

  // Returns a share of an object, which is freed before the objects that it needs. It must not outlive this.
  template <typename Object>
  std::shared_ptr<Object> hold(BackendPointer<Object> object, std::shared_ptr<const void> needs) {
    // Allocates the list entry now, so that retiring the object cannot fail.
    auto held = std::make_unique<HeldObject<Object>>(std::move(object), std::move(needs));
    Object *const pointer = held->object.get();
    Held *const place = held.release();
    return {pointer, [this, place](Object *) { retire(place); }};  // the deleter also runs if this allocation fails
  }
  // Frees the retired objects. Call on the engine's thread, or after it has ended.
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
