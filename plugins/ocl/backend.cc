// SPDX-License-Identifier: Apache-2.0
// The slots of plugins/gpu/slots.h with the classes of this folder, and slots that only OpenCL has.
#include "plugins/ocl/backend.h"

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "plugins/gpu/runtime/open_options.h"
#include "plugins/gpu/slots.h"
#include "plugins/ocl/runtime/gpus_here.h"
#include "plugins/ocl/scores/gmm_tuning.h"

namespace asr::gpu {
namespace {

const asr_host_api *g_host = nullptr;
const Variant *g_variant = nullptr;

// Returns true if the user has named this back end; older libraries do not say.
bool is_named() {
  return g_host->size < offsetof(asr_host_api, is_named) + sizeof(g_host->is_named) || g_host->is_named() != 0;
}

// Without GPUs no driver is loaded, unless the user asks for that.
DeviceList find_devices() {
  const bool named = is_named();
  if (named || gpus_here()) return list_devices(*g_variant, named);
  DeviceList none;
  none.reason =
      format("no GPU of NVIDIA or AMD was found, so OpenCL is not loaded; name the device %s:0 to load it", g_variant->name);
  return none;
}

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  return guard([&] {
    const DeviceList list = find_devices();
    std::vector<asr_backend_device_info> devices;
    for (const DeviceFacts &facts : list.devices) devices.push_back(info_of(*g_variant, facts));
    give_devices(devices, list.reason, infos, capacity, n_devices);
    if (!devices.empty() && !list.reason.empty()) {
      g_host->log(ASR_LOG_INFO, (std::string(g_variant->name) + ": " + list.reason).c_str());
    }
  });
}

asr_status open(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  return guard([&] { *device = new OpenedDevice(*g_variant, index, complete(*options), g_host); });
}

asr_status tune(asr_backend_device *device, const asr_acoustic_view *view, const char **report) {
  return guard([&] {
    OpenedDevice &d = use(device);
    d.report = gpu::tune(d.device, *view);
    *report = d.report.c_str();
  });
}

asr_status kernel_seconds(asr_backend_device *device, double *seconds) {
  return guard([&] {
    OpenedDevice &d = use(device);
    *seconds = d.device.compute().kernel_seconds() + d.lanes.kernel_seconds();
  });
}

constexpr asr_backend_bench_api kBench = {sizeof kBench, kernel_seconds, tune, memory_slot};

const void *extension(const char *name) { return slots_extension(name, &kBench); }

}  // namespace

const asr_backend_api *backend_table(const Variant &variant, uint32_t host_abi, const asr_host_api *host) {
  static asr_backend_api table;
  g_host = host;
  g_variant = &variant;
  table = slots_table(variant.name);
  table.probe = probe, table.open = open, table.extension = extension;
  return host_abi == ASR_BACKEND_ABI ? &table : nullptr;
}

}  // namespace asr::gpu
