// SPDX-License-Identifier: Apache-2.0
// The CPU back end with defects, for the tests of failures (failures.cc). Each device has one of kFaults, which its name
// describes. overlapping.cc makes a second back end of this file.
#define asr_backend_entry cpu_backend_entry  // name of the CPU back end's entry in this plugin
#include "plugins/cpu/entry.cc"              // NOLINT(bugprone-suspicious-include): built in
#undef asr_backend_entry

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#ifndef FAULTY_OVERLAPS
#define FAULTY_OVERLAPS false  // one advance at a time, and no lattices
#define FAULTY_NAME "faulty"
#endif

namespace {

struct Fault {
  // "outcome": that of the nth channel; "best_path": that of a channel; "piece": best_paths of a piece; "hang": an advance;
  // "loud": extract, where a sample is as loud as can be
  const char *slot;
  int nth;  // call of the slot that fails, from 1
  asr_status status;
  bool lasting;  // every later call fails, too
};

constexpr Fault kFaults[] = {
    {"none", 0, ASR_OK, false},
    {"channel_begin", 2, ASR_OUT_OF_MEMORY, false},
    {"best_path", 2, ASR_OUT_OF_MEMORY, false},
    {"outcome", 2, ASR_OUT_OF_MEMORY, false},
    {"piece", 2, ASR_OUT_OF_MEMORY, false},
    {"loud", 1, ASR_INTERNAL, true},
    {"extract", 5, ASR_INTERNAL, true},
    {"score", 5, ASR_INTERNAL, false},
    {"fuse", 3, ASR_INTERNAL, false},
    {"wait", 5, ASR_INTERNAL, false},
    {"hang", 5, ASR_DEVICE_LOST, true},
    {"channel_begin", 1, ASR_DEVICE_LOST, true},
    {"channel_begin", 3, ASR_DEVICE_LOST, true},
    {"extract", 1, ASR_DEVICE_LOST, true},
    {"extract", 7, ASR_DEVICE_LOST, true},
    {"score", 1, ASR_DEVICE_LOST, true},
    {"score", 5, ASR_DEVICE_LOST, true},
    {"fuse", 1, ASR_DEVICE_LOST, true},
    {"fuse", 5, ASR_DEVICE_LOST, true},
    {"advance", 1, ASR_DEVICE_LOST, true},
    {"advance", 5, ASR_DEVICE_LOST, true},
    {"advance", 16, ASR_DEVICE_LOST, true},
    {"wait", 1, ASR_DEVICE_LOST, true},
    {"wait", 9, ASR_DEVICE_LOST, true},
    {"best_path", 1, ASR_DEVICE_LOST, true},
    {"best_path", 3, ASR_DEVICE_LOST, true},
    {"best_path", 12, ASR_DEVICE_LOST, true},
    {"piece", 1, ASR_DEVICE_LOST, true},
    {"piece", 6, ASR_DEVICE_LOST, true},
    {"lattice", 1, ASR_DEVICE_LOST, true},
    {"lattice", 2, ASR_DEVICE_LOST, true},
};

const asr_backend_api *g_cpu = nullptr;
const asr_backend_fusion_api *g_cpu_fusion = nullptr;
const Fault *g_fault = &kFaults[0];
std::atomic<int> g_n_calls{0};
uint32_t g_timeout_ms = 0;
asr_backend_channel *g_bad_channel = nullptr, *g_unreadable = nullptr;
std::mutex g_search;  // workers read results while the engine's thread searches

// The advance in flight, if advances overlap: it runs at the next advance, or when it is awaited.
struct Pending {
  asr_backend_device *device = nullptr;
  asr_backend_acoustic *acoustic = nullptr;
  std::vector<asr_advance_job> jobs;
} g_pending;
asr_status g_late = ASR_OK;  // the failure of an advance that was in flight

asr_status fail_now() {
  return asr::guard([] { asr::fail(g_fault->status, "a fault made for this test"); });
}

// Counts a call of the slot; returns true if the call fails.
bool is_faulty(const char *slot) {
  if (strcmp(slot, g_fault->slot) != 0) return false;
  const int n = ++g_n_calls;
  return n == g_fault->nth || (g_fault->lasting && n > g_fault->nth);
}

// Calls `work()`, unless this call of the slot fails by the device's fault.
template <typename Work>
asr_status unless_faulty(const char *slot, Work work) {
  return is_faulty(slot) ? fail_now() : work();
}

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  *n_devices = std::size(kFaults);
  for (size_t i = 0; i < capacity && i < *n_devices; ++i) {
    const Fault &fault = kFaults[i];
    snprintf(infos[i].name, sizeof(infos[i].name), "%s %d: %s", fault.slot, fault.nth,
             fault.status == ASR_DEVICE_LOST ? "lost" : "fails");
    infos[i].score = 1;
    const uint32_t more = FAULTY_OVERLAPS ? ASR_BACKEND_OVERLAPS | ASR_BACKEND_LATTICES | ASR_BACKEND_PIECES : 0;
    infos[i].capabilities = ASR_BACKEND_PACKED_GRAPH | ASR_BACKEND_COMMON_PATH | ASR_BACKEND_PATH_PIECES | more;
  }
  return ASR_OK;
}

asr_status open(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  g_fault = &kFaults[index];
  g_n_calls = 0;
  g_bad_channel = g_unreadable = nullptr;
  g_pending = {};
  g_late = ASR_OK;
  g_timeout_ms = options->timeout_ms;
  return g_cpu->open(0, options, device);
}

asr_status channel_begin(asr_backend_device *device, asr_backend_graph *graph, const asr_search_options *options,
                         asr_backend_channel **channel) {
  const asr_status status =
      unless_faulty("channel_begin", [&] { return g_cpu->channel_begin(device, graph, options, channel); });
  if (status == ASR_OK && is_faulty("outcome")) g_bad_channel = *channel;
  return status;
}

void channel_end(asr_backend_channel *channel) {
  if (channel == g_bad_channel) g_bad_channel = nullptr;
  if (channel == g_unreadable) g_unreadable = nullptr;
  auto &jobs = g_pending.jobs;
  jobs.erase(std::remove_if(jobs.begin(), jobs.end(), [&](const auto &job) { return job.channel == channel; }), jobs.end());
  g_cpu->channel_end(channel);
}

bool is_loud(const asr_extract_job &job) {
  for (uint32_t i = 0; i < job.n_frames * 160; ++i) {
    if (job.samples[i] >= 32767) return true;
  }
  return false;
}

asr_status extract(asr_backend_device *device, asr_backend_features *features, const asr_extract_job *jobs, size_t n_jobs) {
  for (size_t i = 0; i < n_jobs; ++i) {
    if (strcmp(g_fault->slot, "loud") == 0 && is_loud(jobs[i])) return fail_now();
  }
  return unless_faulty("extract", [&] { return g_cpu->extract(device, features, jobs, n_jobs); });
}

asr_status score(asr_backend_device *device, const asr_score_job *jobs, size_t n_jobs) {
  return unless_faulty("score", [&] { return g_cpu->score(device, jobs, n_jobs); });
}

asr_status fuse(asr_backend_device *device, asr_backend_acoustic *to, const asr_fuse_job *jobs, size_t n_jobs, uint32_t buffer,
                float *loglikes) {
  return unless_faulty("fuse", [&] { return g_cpu_fusion->fuse(device, to, jobs, n_jobs, buffer, loglikes); });
}
constexpr asr_backend_fusion_api kFusion = {sizeof kFusion, fuse};

const void *extension(const char *name) { return strcmp(name, ASR_BACKEND_FUSION) == 0 ? &kFusion : g_cpu->extension(name); }

// Its failure is reported when it is awaited.
void do_pending() {
  const Pending pending = std::exchange(g_pending, {});
  if (pending.jobs.empty()) return;
  const asr_status status = g_cpu->advance(pending.device, pending.acoustic, pending.jobs.data(), pending.jobs.size());
  if (status != ASR_OK) g_late = status;
}

// `hang` is an advance that never ends; the back end's timeout ends the wait for it.
asr_status advance(asr_backend_device *device, asr_backend_acoustic *acoustic, const asr_advance_job *jobs, size_t n_jobs) {
  if (is_faulty("hang")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(g_timeout_ms));
    return fail_now();
  }
  std::lock_guard lock(g_search);
  return unless_faulty("advance", [&] {
    if (!FAULTY_OVERLAPS) return g_cpu->advance(device, acoustic, jobs, n_jobs);
    do_pending();
    g_pending = {device, acoustic, {jobs, jobs + n_jobs}};
    return ASR_OK;
  });
}

asr_status outcome(asr_backend_device *device, asr_backend_channel *channel) {
  return channel == g_bad_channel ? fail_now() : g_cpu->outcome(device, channel);
}

// A channel whose path could not be read cannot be read again.
asr_status best_paths(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels, uint32_t wants,
                      asr_path *paths) {
  std::lock_guard lock(g_search);
  if ((wants & ASR_WANTS_PIECE) != 0) {
    return unless_faulty("piece", [&] { return g_cpu->best_paths(device, channels, n_channels, wants, paths); });
  }
  for (size_t i = 0; i < n_channels; ++i) {
    if (is_faulty("best_path")) g_unreadable = channels[i];
    if (channels[i] == g_unreadable) return fail_now();
  }
  return g_cpu->best_paths(device, channels, n_channels, wants, paths);
}

asr_status lattices(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels, uint32_t wants,
                    asr_raw_lattice *lattices) {
  std::lock_guard lock(g_search);
  const auto make = [&] { return g_cpu->lattices(device, channels, n_channels, wants, lattices); };
  return (wants & ASR_WANTS_PIECE) != 0 ? make() : unless_faulty("lattice", make);
}

asr_status wait(asr_backend_device *device, uint32_t n_left) {
  if (FAULTY_OVERLAPS && n_left == 0) {
    std::lock_guard lock(g_search);
    do_pending();
  }
  const asr_status status = g_cpu->wait(device, 0);  // also where it fails: nothing is to be read after it
  const asr_status late = std::exchange(g_late, ASR_OK);
  if (late != ASR_OK) return asr::guard([late] { asr::fail(late, "an advance failed"); });
  return unless_faulty("wait", [&] { return status; });
}

}  // namespace

extern "C" ASR_API const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host);

const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host) {
  static asr_backend_api api;
  g_cpu = cpu_backend_entry(host_abi, host);
  if (g_cpu == nullptr) return nullptr;
  g_cpu_fusion = static_cast<const asr_backend_fusion_api *>(g_cpu->extension(ASR_BACKEND_FUSION));
  api = *g_cpu;
  api.name = FAULTY_NAME;
  api.probe = probe;
  api.open = open;
  api.channel_begin = channel_begin;
  api.channel_end = channel_end;
  api.extract = extract;
  api.score = score;
  api.advance = advance;
  api.outcome = outcome;
  api.best_paths = best_paths;
  api.wait = wait;
  api.extension = extension;
  api.lattices = FAULTY_OVERLAPS ? lattices : nullptr;
  return &api;
}
