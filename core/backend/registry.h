// SPDX-License-Identifier: Apache-2.0
// Finds back ends: the linked-in CPU one and plugins loaded with dlopen, probes their devices and chooses one.
#pragma once

#include <string>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

struct Backend;  // core/backend/plugin_loader.h

struct DeviceEntry {
  std::string id;      // "cpu:0", "cuda:1"; for a rejected plugin its name or file
  std::string reason;  // empty if usable
  asr_backend_device_info info{};
  const asr_backend_api *api = nullptr;  // valid until the process ends: plugins stay loaded
  uint32_t index = 0;
};

// Probes every back end: usable devices first, by score, then rejected plugins with their reasons (logged too). Plugins are
// loaded once a process from the plugin directory beside the library, or SENONE_PLUGIN_PATH.
std::vector<DeviceEntry> list_devices();

// The device to use: `wanted` ("cpu", "cuda:0"), else SENONE_DEVICE, else the highest score. Throws ASR_NO_DEVICE with the
// reason if the one named cannot be had.
DeviceEntry choose_device(const std::string &wanted);

// The devices to try: the one named, as above, or all usable ones, highest score first.
std::vector<DeviceEntry> candidate_devices(const std::string &wanted);

// The same for given back ends. `source` names who wants the device in the error's sentence: "device", "SENONE_DEVICE".
std::vector<DeviceEntry> list_devices(const std::vector<Backend> &backends);
DeviceEntry choose_device(const std::vector<Backend> &backends, const std::string &wanted, const std::string &source);

// An opened device: a C++ object over the C table. Every method throws asr::Error with the back end's sentence.
class Device {
 public:
  Device(const DeviceEntry &entry, const asr_backend_options &options);
  // The first that can be opened; why those before it cannot is logged.
  Device(const std::vector<DeviceEntry> &candidates, const asr_backend_options &options);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceEntry &entry() const { return entry_; }
  const asr_backend_api *api() const { return entry_.api; }
  asr_backend_device *get() const { return device_; }
  void check(asr_status status) const;  // throws if not ASR_OK
  // Begins a thread that will call the device: its error text in the back end, which is thread-local, is made while there is
  // memory. The C library would end the process if a later error found none.
  void begin_thread() const noexcept;

 private:
  void open(const asr_backend_options &options);
  DeviceEntry entry_;
  asr_backend_device *device_ = nullptr;
};

}  // namespace asr
