// SPDX-License-Identifier: Apache-2.0
// The CPU back end with defects: it makes no lattices, and device faulty:N fails as kFaults[N] says. For the tests of failures
// (failures.cc).
#define asr_backend_entry cpu_backend_entry  // the CPU back end's, in this plugin
#include "plugins/cpu/entry.cc"
#undef asr_backend_entry

#include <atomic>

namespace {

struct Fault {
  const char *slot;
  int nth;  // call of the slot that fails, from 1
  asr_status status;
  bool lasting;  // and every call after it
};

constexpr Fault kFaults[] = {
    {"channel_begin", 2, ASR_OUT_OF_MEMORY, false},
    {"extract", 5, ASR_INTERNAL, false},
    {"score", 5, ASR_DEVICE_LOST, true},
    {"advance", 5, ASR_DEVICE_LOST, true},
    {"best_path", 2, ASR_OUT_OF_MEMORY, false},
    {"wait", 5, ASR_INTERNAL, false},
};

const asr_backend_api *g_cpu = nullptr;
const Fault *g_fault = &kFaults[0];
std::atomic<int> g_n_calls{0};

// `work()`, unless the device's fault says that this call of the slot fails.
template <typename Work>
asr_status unless_faulty(const char *slot, Work work) {
  if (strcmp(slot, g_fault->slot) != 0) return work();
  const int n = ++g_n_calls;
  if (n != g_fault->nth && !(g_fault->lasting && n > g_fault->nth)) return work();
  return asr::guard([] { asr::fail(g_fault->status, "a fault made for this test"); });
}

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  *n_devices = std::size(kFaults);
  for (size_t i = 0; i < capacity && i < *n_devices; ++i) {
    snprintf(infos[i].name, sizeof(infos[i].name), "%s fails", kFaults[i].slot);
    infos[i].score = 1;
  }
  return ASR_OK;
}

asr_status open(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  g_fault = &kFaults[index];
  g_n_calls = 0;
  return g_cpu->open(0, options, device);
}

asr_status channel_begin(asr_backend_device *device, asr_backend_graph *graph, const asr_search_options *options,
                         asr_backend_channel **channel) {
  return unless_faulty("channel_begin", [&] { return g_cpu->channel_begin(device, graph, options, channel); });
}

asr_status extract(asr_backend_device *device, asr_backend_features *features, const asr_extract_job *jobs, size_t n_jobs) {
  return unless_faulty("extract", [&] { return g_cpu->extract(device, features, jobs, n_jobs); });
}

asr_status score(asr_backend_device *device, asr_backend_acoustic *acoustic, const float *features, uint32_t n_rows,
                 uint32_t buffer, float *loglikes) {
  return unless_faulty("score", [&] { return g_cpu->score(device, acoustic, features, n_rows, buffer, loglikes); });
}

asr_status advance(asr_backend_device *device, asr_backend_acoustic *acoustic, const asr_advance_job *jobs, size_t n_jobs) {
  return unless_faulty("advance", [&] { return g_cpu->advance(device, acoustic, jobs, n_jobs); });
}

asr_status best_path(asr_backend_device *device, asr_backend_channel *channel, uint32_t use_final, asr_path *path) {
  return unless_faulty("best_path", [&] { return g_cpu->best_path(device, channel, use_final, path); });
}

asr_status wait(asr_backend_device *device) {
  return unless_faulty("wait", [&] { return g_cpu->wait(device); });
}

}  // namespace

extern "C" ASR_API const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host);

const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host) {
  static asr_backend_api api;
  g_cpu = cpu_backend_entry(host_abi, host);
  if (g_cpu == nullptr) return nullptr;
  api = *g_cpu;
  api.name = "faulty";
  api.probe = probe;
  api.open = open;
  api.channel_begin = channel_begin;
  api.extract = extract;
  api.score = score;
  api.advance = advance;
  api.best_path = best_path;
  api.wait = wait;
  api.lattice = nullptr;
  return &api;
}
