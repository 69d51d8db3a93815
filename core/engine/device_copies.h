// SPDX-License-Identifier: Apache-2.0
// What an engine loads once for each device, and frees on the thread that calls the device. DeviceObjects owns the objects of
// one device: its graphs, models and channels. A host object that is loaded on devices, such as a LoadedGraph, has a
// DeviceCopies.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace asr {

// An object of a back end, freed with it.
template <typename Object>
using BackendPointer = std::unique_ptr<Object, void (*)(Object *)>;

// Objects are shared: a worker that reads a result holds its channel, and a channel its graph. Only the engine's thread may
// free them, so the one that lets go of the last share leaves the object here until that thread calls free_unused().
class DeviceObjects {
 public:
  DeviceObjects() : state_(std::make_shared<State>()) {}
  // Frees the objects that are still shared, too, the latest first. Their users may outlive this, as a speaker's model does
  // which several engines have loaded, but must not use the objects any more.
  ~DeviceObjects();
  DeviceObjects(const DeviceObjects &) = delete;
  DeviceObjects &operator=(const DeviceObjects &) = delete;

  // wake(): called, on any thread, when there is something to free. It is not running any more once this has returned.
  void set_wake(std::function<void()> wake);

  // Returns a share of an object, which is freed before the objects that it needs.
  template <typename Object>
  std::shared_ptr<Object> hold(BackendPointer<Object> object, std::shared_ptr<const void> needs) {
    Object *const pointer = object.get();
    const Entry entry = add(std::make_unique<HeldObject<Object>>(std::move(object), std::move(needs)));
    // The deleter also runs if this allocation fails. It moves the entry to another list, which cannot fail.
    return {pointer, [state = std::weak_ptr<State>(state_), entry](Object *) { let_go(state, entry); }};
  }

  // Frees the objects that nobody shares. Call on the thread that calls the device, or after it has ended.
  void free_unused() noexcept;

  std::shared_ptr<const void> identity() const { return state_; }  // expires with this; another device never gets it again

 private:
  struct Held {
    virtual ~Held() = default;
  };
  template <typename Object>
  struct HeldObject : Held {
    HeldObject(BackendPointer<Object> o, std::shared_ptr<const void> n) : needs(std::move(n)), object(std::move(o)) {}
    const std::shared_ptr<const void> needs;
    const BackendPointer<Object> object;
  };
  using List = std::list<std::unique_ptr<Held>>;
  using Entry = List::iterator;
  struct State {
    std::mutex mutex;
    List used, unused;
    bool is_gone = false;
    std::function<void()> wake;
  };

  Entry add(std::unique_ptr<Held> held);
  static void let_go(const std::weak_ptr<State> &state, Entry entry) noexcept;

  const std::shared_ptr<State> state_;
};

// The copies of one host object. Value: a share, or a struct of shares, of objects that DeviceObjects::hold() returned.
template <typename Value>
class DeviceCopies {
 public:
  // Returns the copy on a device, which load() makes on the first call. Call on the thread that calls the device.
  template <typename Load>
  Value on(const DeviceObjects &device, Load load) {
    const std::lock_guard lock(mutex_);
    for (auto copy = copies_.begin(); copy != copies_.end();) {
      const auto its_device = copy->device.lock();
      if (its_device == device.identity()) return copy->value;
      copy = its_device ? copy + 1 : copies_.erase(copy);
    }
    copies_.push_back({device.identity(), load()});
    return copies_.back().value;
  }

 private:
  struct Copy {
    std::weak_ptr<const void> device;
    Value value;
  };
  std::mutex mutex_;
  std::vector<Copy> copies_;  // for an engine with a fallback two; for a speaker's model one an engine
};

}  // namespace asr
