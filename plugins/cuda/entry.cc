// SPDX-License-Identifier: Apache-2.0
// The CUDA back end's table: the slots of plugins/gpu/slots.h with the classes of this folder, and slots of
// its own.
#include <string>
#include <vector>

#include "plugins/cuda/features/mfcc.h"
#include "plugins/cuda/fusion/fusion.h"
#include "plugins/cuda/runtime/device.h"
#include "plugins/cuda/scores/acoustic.h"
#include "plugins/cuda/search/search_lanes.h"
#include "plugins/cuda/signals/signal.h"
#include "plugins/cuda/statistics/statistics.h"
#include "plugins/gpu/runtime/open_options.h"
#include "plugins/gpu/slots.h"

namespace asr::cuda {
namespace {

struct Platform {
  using Device = cuda::Device;
  using Mfcc = cuda::Mfcc;
  using Signals = cuda::Signals;
  using Acoustic = cuda::Acoustic;
  using Fusion = cuda::Fusion;
  using Statistics = cuda::Statistics;
  using SearchGraph = cuda::SearchGraph;
  using Search = cuda::Search;
  using SearchLanes = cuda::SearchLanes;
  static constexpr bool kOverlaps = true;
};
using Slots = DeviceSlots<Platform>;

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  return guard([&] {
    std::string why_none;
    const std::vector<asr_backend_device_info> gpus = list_gpus(&why_none);
    give_devices(gpus, Slots::kCapabilities, why_none, infos, capacity, n_devices);
  });
}

asr_status open(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  return guard([&] { *device = new Slots::Device(index, complete(*options)); });
}

asr_status kernel_seconds(asr_backend_device *device, double *seconds) {
  return Slots::guard_on(device, [&](Slots::Device &d) { *seconds = d.device.clock().seconds(); });
}

constexpr asr_backend_bench_api kBench = {sizeof kBench, kernel_seconds, nullptr, Slots::memory};

const void *extension(const char *name) { return Slots::extension(name, &kBench); }

constexpr asr_backend_api make_table() {
  asr_backend_api table = Slots::table("cuda");
  table.probe = probe, table.open = open, table.extension = extension;
  return table;
}

constexpr asr_backend_api kApi = make_table();

}  // namespace
}  // namespace asr::cuda

extern "C" __attribute__((visibility("default"))) const asr_backend_api *asr_backend_entry(uint32_t host_abi,
                                                                                           const asr_host_api *) {
  return host_abi == ASR_BACKEND_ABI ? &asr::cuda::kApi : nullptr;
}
