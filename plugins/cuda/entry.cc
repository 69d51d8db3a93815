// SPDX-License-Identifier: Apache-2.0
// The CUDA back end's table: the slots of plugins/gpu/slots.h with the classes of this folder, and slots
// of its own.
#include <string>
#include <vector>

#include "plugins/cuda/runtime/device.h"
#include "plugins/gpu/runtime/open_options.h"
#include "plugins/gpu/slots.h"

namespace asr::gpu {
namespace {

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  return guard([&] {
    std::string why_none;
    const std::vector<asr_backend_device_info> gpus = list_gpus(&why_none);
    give_devices(gpus, why_none, infos, capacity, n_devices);
  });
}

asr_status open(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  return guard([&] { *device = new OpenedDevice(index, complete(*options)); });
}

asr_status kernel_seconds(asr_backend_device *device, double *seconds) {
  return guard([&] { *seconds = use(device).device.clock().seconds(); });
}

constexpr asr_backend_bench_api kBench = {sizeof kBench, kernel_seconds, nullptr, memory_slot};

const void *extension(const char *name) { return slots_extension(name, &kBench); }

asr_backend_api make_table() {
  asr_backend_api table = slots_table("cuda");
  table.probe = probe, table.open = open, table.extension = extension;
  return table;
}

}  // namespace
}  // namespace asr::gpu

extern "C" __attribute__((visibility("default"))) const asr_backend_api *asr_backend_entry(uint32_t host_abi,
                                                                                           const asr_host_api *) {
  static const asr_backend_api api = asr::gpu::make_table();
  return host_abi == ASR_BACKEND_ABI ? &api : nullptr;
}
