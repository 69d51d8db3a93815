// SPDX-License-Identifier: Apache-2.0
// The slots of the back ends for GPUs. Each slot calls the class that does the work, on the device of the call, and turns
// exceptions into a status. Compiled once for each plugin, with the classes of its runtime. The plugin's file with the entry
// adds its own slots.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/backend/asr_backend_bench.h"
#include "fusion/fusion.h"
#include "plugins/common/guard.h"
#include "plugins/gpu/given/given.h"
#include "plugins/gpu/scores/acoustic.h"
#include "plugins/gpu/signals/returned_rows.h"
#include "plugins/gpu/statistics/statistics.h"
#include "runtime/device.h"
#include "search/search_lanes.h"

// The C table's handles are base classes of the objects of slots.cc.
struct asr_backend_device {};

namespace asr::gpu {

struct LoadedAcoustic;

// OpenedDevice is a device with all that is made once for it.
struct OpenedDevice : asr_backend_device {
  template <typename... Args>
  explicit OpenedDevice(Args &&...args) : device(std::forward<Args>(args)...) {}
  Device device;
  SearchLanes lanes{device};
  ReturnedRows<Device> returned_rows{device};
  std::unique_ptr<Fusion> fusion;                                    // made by the first call
  std::unique_ptr<GivenReader> given;                                // made by the first call
  std::unique_ptr<Statistics> statistics;                            // made by the first call
  std::vector<LoadedAcoustic *> acoustics;                           // acoustic models that are loaded
  uint64_t features_bytes = 0, acoustic_bytes = 0, graph_bytes = 0;  // device memory of all loaded objects
  std::string report;                                                // text of the last `tune`
};

// Returns the device of a call, which becomes that of the calling thread.
inline OpenedDevice &use(asr_backend_device *handle) {
  OpenedDevice &device = *static_cast<OpenedDevice *>(handle);
  device.device.use();
  return device;
}

// Writes the output of `probe`; all devices have the same capabilities.
void give_devices(const std::vector<asr_backend_device_info> &devices, const std::string &why_none,
                  asr_backend_device_info *infos, size_t capacity, size_t *n_devices);

// Returns the table of these slots; the caller adds `probe`, `open` and `extension`.
asr_backend_api slots_table(const char *name);
// Returns the extension of a name, or NULL; `bench` is the caller's, and memory_slot() is among its slots.
const void *slots_extension(const char *name, const asr_backend_bench_api *bench);
asr_status memory_slot(asr_backend_device *device, asr_backend_memory *memory);

}  // namespace asr::gpu
