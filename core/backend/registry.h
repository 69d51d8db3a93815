// SPDX-License-Identifier: Apache-2.0
// The registry finds back ends: the linked-in CPU one and plugins loaded with dlopen. It probes their devices and chooses one.
#pragma once

#include <string>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

struct Backend;  // core/backend/plugin_loader.h

struct DeviceEntry {
  std::string id;      // "cpu:0", "cuda:1"; name or file of a rejected plugin
  std::string reason;  // empty if usable
  asr_backend_device_info info{};
  const asr_backend_api *api = nullptr;  // valid until the process ends: plugins stay loaded
  uint32_t index = 0;
};

// Probes every back end. Lists usable devices first, by score, then rejected plugins with their reasons (also logged). Plugins
// are loaded once per process, from SENONE_PLUGIN_PATH or the plugin directory beside the library.
std::vector<DeviceEntry> list_devices();

// Returns the device to use: `wanted` ("cpu", "cuda:0"), else SENONE_DEVICE, else the highest score. Throws ASR_NO_DEVICE with
// the reason if a named device is unavailable. `source` names the origin of `wanted` in the error message.
DeviceEntry choose_device(const std::string &wanted, const char *source = "device");

// Returns the devices to try: the named one, as above, or all usable ones by descending score.
std::vector<DeviceEntry> candidate_devices(const std::string &wanted);

// Overloads for given back ends.
std::vector<DeviceEntry> list_devices(const std::vector<Backend> &backends);
DeviceEntry choose_device(const std::vector<Backend> &backends, const std::string &wanted, const std::string &source);

// Returns a back end's extension by the name and the table of its header (asr_backend_bench.h), or nullptr.
template <typename Table>
const Table *extension_of(const asr_backend_api &api, const char *name, size_t min_size = sizeof(Table)) {
  const auto *const table = static_cast<const Table *>(api.extension(name));
  return table != nullptr && table->size >= min_size ? table : nullptr;
}

// Return whether a back end has the optional slots of the front end, and those of the search. Where it has none, the CPU
// does that part (core/engine/loaded_model.h).
inline bool makes_features(const asr_backend_api &api) { return api.load_features != nullptr; }
inline bool searches(const asr_backend_api &api) { return api.load_graph != nullptr; }

// Device wraps an opened device: a C++ object over the C table. Every method throws asr::Error with the back end's message.
class Device {
 public:
  Device(const DeviceEntry &entry, const asr_backend_options &options);
  // Opens the first device that can be opened; logs why earlier ones cannot.
  Device(const std::vector<DeviceEntry> &candidates, const asr_backend_options &options);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceEntry &entry() const { return entry_; }
  const asr_backend_api *api() const { return entry_.api; }
  bool has(asr_backend_capability capability) const { return (entry_.info.capabilities & capability) != 0; }
  asr_backend_device *get() const { return device_; }
  void check(asr_status status) const;  // throws if not ASR_OK
  // Checks the status of a slot that makes an object, too, and returns the object. Throws if there is none.
  template <typename Object>
  Object *made(asr_status status, Object *object, const char *slot) const {
    check(status);
    if (object == nullptr) fail_without_object(slot);
    return object;
  }
  // Throws too if the back end makes no features, or the front end needs a capability that the device lacks. The caller frees
  // it by free_features.
  asr_backend_features *load_features(const asr_features_view &view) const;
  void require_search() const;  // throws if the back end does not search
  // Prepares a thread for calls of the device: allocates the back end's thread-local error text while memory is available, and
  // throws if it is not. Otherwise the C library would end the process if a later error found no memory.
  void begin_thread() const;

 private:
  void open(const asr_backend_options &options);
  [[noreturn]] void fail_without_object(const char *slot) const;
  DeviceEntry entry_;
  asr_backend_device *device_ = nullptr;
};

}  // namespace asr
