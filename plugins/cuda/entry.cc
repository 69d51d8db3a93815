// SPDX-License-Identifier: Apache-2.0
// The CUDA back end's table: every slot is a guarded call of the class that does the work, on the device of the call.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/error.h"
#include "plugins/common/guard.h"
#include "plugins/common/memory_share.h"
#include "plugins/cuda/acoustic.h"
#include "plugins/cuda/device.h"
#include "plugins/cuda/mfcc.h"
#include "plugins/cuda/search_lanes.h"
#include "plugins/cuda/signal.h"

struct asr_backend_device {
  asr_backend_device(uint32_t index, const asr_backend_options &options) : device(index, options) {}
  asr::cuda::Device device;
  asr::cuda::SearchLanes lanes{device};
  std::vector<asr_backend_acoustic *> acoustics;                     // that are loaded
  uint64_t features_bytes = 0, acoustic_bytes = 0, graph_bytes = 0;  // of device memory, of all that is loaded
};

struct asr_backend_features {
  asr_backend_features(asr_backend_device *owner, const asr_features_view &view)
      : share(&owner->features_bytes, asr::cuda::n_device_bytes()), mfcc(owner->device, view) {
    if (asr::dynamics_of(view) != nullptr) signals = std::make_unique<asr::cuda::Signals>(owner->device, mfcc, view);
    share.close(asr::cuda::n_device_bytes());
  }
  asr::MemoryShare share;
  asr::cuda::Mfcc mfcc;
  std::unique_ptr<asr::cuda::Signals> signals;
};
struct asr_backend_signal {
  asr_backend_features *features;
  std::unique_ptr<asr::SignalProgress> progress;
};
struct asr_backend_acoustic {
  asr_backend_acoustic(asr_backend_device *owner, const asr_acoustic_view &view)
      : owner(owner), share(&owner->acoustic_bytes, asr::cuda::n_device_bytes()), acoustic(owner->device, view) {
    share.close(asr::cuda::n_device_bytes());
  }
  asr_backend_device *owner;
  asr::MemoryShare share;
  asr::cuda::Acoustic acoustic;
};
struct asr_backend_graph {
  asr_backend_graph(asr_backend_device *owner, const asr_graph_view &view)
      : share(&owner->graph_bytes, asr::cuda::n_device_bytes()), graph(owner->device, view) {
    share.close(asr::cuda::n_device_bytes());
  }
  asr::MemoryShare share;
  asr::cuda::SearchGraph graph;
};
struct asr_backend_channel {
  asr_backend_device *device;
  std::unique_ptr<asr::cuda::Search> search;
};

namespace asr::cuda {
namespace {

const asr_host_api *g_host = nullptr;

// A slot's body on its device.
template <typename Body>
asr_status guard_on(asr_backend_device *device, Body &&body) noexcept {
  return guard([&] {
    device->device.use();
    body();
  });
}

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  return guard([&] {
    *n_devices = 0;
    std::string reason;
    const std::vector<asr_backend_device_info> gpus = list_gpus(&reason);
    if (gpus.empty()) plugin_last_error() = reason;
    for (size_t i = 0; i < std::min(capacity, gpus.size()); ++i) {
      const size_t size = infos[i].size;
      infos[i] = gpus[i];
      infos[i].size = size;
    }
    *n_devices = gpus.size();
  });
}

asr_status open(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  return guard([&] { *device = new asr_backend_device(index, *options); });
}

void close(asr_backend_device *device) { delete device; }

const char *last_error() { return plugin_last_error().c_str(); }

asr_status load_features(asr_backend_device *device, const asr_features_view *view, asr_backend_features **features) {
  return guard_on(device, [&] { *features = new asr_backend_features(device, *view); });
}

void free_features(asr_backend_features *features) { delete features; }

asr_status load_acoustic(asr_backend_device *device, const asr_acoustic_view *view, asr_backend_acoustic **acoustic) {
  return guard_on(device, [&] {
    auto loaded = std::make_unique<asr_backend_acoustic>(device, *view);
    device->acoustics.push_back(loaded.get());
    *acoustic = loaded.release();
  });
}

void free_acoustic(asr_backend_acoustic *acoustic) {
  if (acoustic == nullptr) return;
  auto &all = acoustic->owner->acoustics;
  for (const uint32_t buffer : {0u, 1u}) acoustic->owner->lanes.release(&acoustic->acoustic, buffer);
  all.erase(std::remove(all.begin(), all.end(), acoustic), all.end());
  delete acoustic;
}

asr_status load_graph(asr_backend_device *device, const asr_graph_view *view, asr_backend_graph **graph) {
  return guard_on(device, [&] { *graph = new asr_backend_graph(device, *view); });
}

void free_graph(asr_backend_graph *graph) { delete graph; }

asr_status extract(asr_backend_device *device, asr_backend_features *features, const asr_extract_job *jobs, size_t n_jobs) {
  return guard_on(device, [&] { features->mfcc.extract(jobs, n_jobs); });
}

asr_status score(asr_backend_device *device, asr_backend_acoustic *acoustic, const float *features, uint32_t n_rows,
                 uint32_t buffer, float *loglikes) {
  return guard_on(device, [&] {
    device->lanes.release(&acoustic->acoustic, buffer);
    cuda::Acoustic::score(device->device, {{&acoustic->acoustic, features, n_rows, buffer, loglikes}});
  });
}

asr_status score_models(asr_backend_device *device, const asr_score_job *jobs, size_t n_jobs) {
  return guard_on(device, [&] {
    std::vector<cuda::Acoustic::Job> list;
    for (size_t i = 0; i < n_jobs; ++i) {
      const asr_score_job &job = jobs[i];
      device->lanes.release(&job.acoustic->acoustic, job.buffer);
      list.push_back({&job.acoustic->acoustic, job.features, job.n_rows, job.buffer, job.loglikes});
    }
    cuda::Acoustic::score(device->device, list);
  });
}

asr_status signal_begin(asr_backend_device *device, asr_backend_features *features, const asr_signal_options *options,
                        asr_backend_signal **signal) {
  return guard_on(device, [&] {
    if (features->signals == nullptr) fail(ASR_UNSUPPORTED, "signal_begin: these features have no dynamics");
    auto begun = std::make_unique<asr_backend_signal>();
    begun->features = features;
    begun->progress = features->signals->begin(*options);
    *signal = begun.release();
  });
}

void signal_end(asr_backend_signal *signal) {
  if (signal == nullptr) return;
  signal->features->signals->end(std::move(signal->progress));
  delete signal;
}

asr_status step(asr_backend_device *device, asr_backend_features *features, asr_backend_acoustic *acoustic,
                const asr_step_job *jobs, size_t n_jobs, uint32_t buffer) {
  return guard_on(device, [&] {
    if (features->signals == nullptr) fail(ASR_UNSUPPORTED, "step: these features have no dynamics");
    std::vector<SignalProgress *> progress;
    for (size_t j = 0; j < n_jobs; ++j) {
      progress.push_back(jobs[j].signal != nullptr ? jobs[j].signal->progress.get() : nullptr);
    }
    device->lanes.release(&acoustic->acoustic, buffer);
    features->signals->step(acoustic->acoustic, jobs, progress, buffer);
  });
}

asr_status channel_begin(asr_backend_device *device, asr_backend_graph *graph, const asr_search_options *options,
                         asr_backend_channel **channel) {
  return guard_on(device, [&] {
    auto begun = std::make_unique<asr_backend_channel>();
    begun->device = device;
    begun->search = device->lanes.begin(graph->graph, *options);
    *channel = begun.release();
  });
}

void channel_end(asr_backend_channel *channel) {
  if (channel == nullptr) return;
  channel->device->lanes.end(std::move(channel->search));
  delete channel;
}

void check_model(const asr_backend_acoustic *acoustic, const asr_advance_job &job) {
  if (job.loglikes != nullptr) return;
  if (acoustic == nullptr) fail(ASR_INVALID_ARGUMENT, "advance: a job names a score buffer but there is no acoustic model");
  const uint32_t n_pdfs = job.channel->search->n_pdfs();
  const uint32_t n_states = acoustic->acoustic.n_states();
  if (n_states >= n_pdfs) return;
  fail(ASR_INVALID_ARGUMENT, "advance: the graph has %u pdfs but the acoustic model %u; they do not belong together", n_pdfs,
       n_states);
}

asr_status advance(asr_backend_device *device, asr_backend_acoustic *acoustic, const asr_advance_job *jobs, size_t n_jobs) {
  return guard_on(device, [&] {
    std::vector<SearchLanes::Task> tasks;
    for (size_t j = 0; j < n_jobs; ++j) {
      const asr_advance_job &job = jobs[j];
      check_model(acoustic, job);
      tasks.push_back({job.channel->search.get(), job.loglikes, job.buffer, job.first_row, job.n_frames});
    }
    device->lanes.start(acoustic != nullptr ? &acoustic->acoustic : nullptr, tasks);
  });
}

asr_status best_path(asr_backend_device *device, asr_backend_channel *channel, uint32_t use_final, asr_path *path) {
  return guard_on(device, [&] { device->lanes.best_paths({channel->search.get()}, use_final != 0, path); });
}

asr_status wait(asr_backend_device *device) {
  return guard_on(device, [&] {
    device->lanes.wait();
    for (asr_backend_acoustic *acoustic : device->acoustics) acoustic->acoustic.finish();
    check(cudaStreamSynchronize(device->device.compute()), "waiting for the device");
    check(cudaStreamSynchronize(device->device.copies()), "waiting for the device");
  });
}

asr_status lattice(asr_backend_device *device, asr_backend_channel *channel, uint32_t use_final, asr_raw_lattice *lattice) {
  return guard_on(device, [&] { device->lanes.lattices({channel->search.get()}, use_final != 0, lattice); });
}

asr_status lattice_piece(asr_backend_device *device, asr_backend_channel *channel, asr_raw_lattice *piece) {
  return guard_on(device, [&] { device->lanes.lattice_piece(channel->search.get(), piece); });
}

std::vector<Search *> searches_of(asr_backend_channel *const *channels, size_t n_channels) {
  std::vector<Search *> searches;
  for (size_t i = 0; i < n_channels; ++i) searches.push_back(channels[i]->search.get());
  return searches;
}

asr_status lattices(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels, uint32_t use_final,
                    asr_raw_lattice *lattices) {
  return guard_on(device, [&] { device->lanes.lattices(searches_of(channels, n_channels), use_final != 0, lattices); });
}

asr_status best_paths(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels, uint32_t use_final,
                      asr_path *paths) {
  return guard_on(device, [&] { device->lanes.best_paths(searches_of(channels, n_channels), use_final != 0, paths); });
}

asr_status kernel_seconds(asr_backend_device *device, double *seconds) {
  return guard_on(device, [&] { *seconds = device->device.clock().seconds(); });
}

asr_status memory(asr_backend_device *device, asr_backend_memory *memory) {
  return guard_on(device, [&] {
    *memory = {};
    memory->size = sizeof(*memory);
    memory->total_bytes = n_device_bytes();
    memory->graph_bytes = device->graph_bytes;
    memory->acoustic_bytes = device->acoustic_bytes;
    memory->features_bytes = device->features_bytes;
    device->lanes.add_memory(memory);
  });
}

constexpr asr_backend_api make_table() {
  asr_backend_api table{};
  table.abi = ASR_BACKEND_ABI, table.size = sizeof table, table.name = "cuda";
  table.probe = probe, table.open = open, table.close = close, table.last_error = last_error, table.wait = wait;
  table.load_features = load_features, table.free_features = free_features, table.extract = extract;
  table.load_acoustic = load_acoustic, table.free_acoustic = free_acoustic, table.score = score;
  table.score_models = score_models;
  table.load_graph = load_graph, table.free_graph = free_graph;
  table.channel_begin = channel_begin, table.channel_end = channel_end, table.advance = advance;
  table.best_path = best_path, table.lattice = lattice, table.lattice_piece = lattice_piece;
  table.lattices = lattices, table.best_paths = best_paths;
  table.kernel_seconds = kernel_seconds, table.memory = memory;
  table.signal_begin = signal_begin, table.signal_end = signal_end, table.step = step;
  return table;
}

constexpr asr_backend_api kApi = make_table();

}  // namespace
}  // namespace asr::cuda

extern "C" __attribute__((visibility("default"))) const asr_backend_api *asr_backend_entry(uint32_t host_abi,
                                                                                           const asr_host_api *host) {
  asr::cuda::g_host = host;
  return host_abi == ASR_BACKEND_ABI ? &asr::cuda::kApi : nullptr;
}
