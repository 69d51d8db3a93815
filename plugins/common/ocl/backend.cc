// SPDX-License-Identifier: Apache-2.0
// Every slot is a guarded call of the class that does the work, on the device of the call.
#include "plugins/common/ocl/backend.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "plugins/common/guard.h"
#include "plugins/common/memory_share.h"
#include "plugins/common/ocl/acoustic.h"
#include "plugins/common/ocl/device.h"
#include "plugins/common/ocl/gmm_tuning.h"
#include "plugins/common/ocl/mfcc.h"
#include "plugins/common/ocl/search_lanes.h"
#include "plugins/common/ocl/signal.h"

struct asr_backend_device {
  asr_backend_device(const asr::ocl::Variant &variant, uint32_t index, const asr_backend_options &options)
      : device(variant, index, options) {}
  uint64_t n_bytes() const { return device.context().n_bytes(); }

  asr::ocl::Device device;
  asr::ocl::SearchLanes lanes{device, asr::ocl::search_tuning(device.facts())};
  std::vector<asr_backend_acoustic *> acoustics;                     // that are loaded
  std::string report;                                                // of tune
  uint64_t features_bytes = 0, acoustic_bytes = 0, graph_bytes = 0;  // of device memory, of all that is loaded
};
struct asr_backend_features {
  asr_backend_features(asr_backend_device *owner, const asr_features_view &view)
      : share(&owner->features_bytes, owner->n_bytes()), mfcc(owner->device, view) {
    const bool makes_rows = asr::dynamics_of(view) != nullptr && owner->device.facts().has_fp64;
    if (makes_rows) signals = std::make_unique<asr::ocl::Signals>(owner->device, mfcc, view);
    share.close(owner->n_bytes());
  }
  asr::MemoryShare share;
  asr::ocl::Mfcc mfcc;
  std::unique_ptr<asr::ocl::Signals> signals;
};
struct asr_backend_signal {
  asr_backend_features *features;
  std::unique_ptr<asr::SignalProgress> progress;
};
struct asr_backend_acoustic {
  asr_backend_acoustic(asr_backend_device *owner, const asr_acoustic_view &view)
      : owner(owner), share(&owner->acoustic_bytes, owner->n_bytes()), acoustic(owner->device, view) {
    share.close(owner->n_bytes());
  }
  asr_backend_device *owner;
  asr::MemoryShare share;
  asr::ocl::Acoustic acoustic;
};
struct asr_backend_graph {
  asr_backend_graph(asr_backend_device *owner, const asr_graph_view &view)
      : share(&owner->graph_bytes, owner->n_bytes()), graph(owner->device, view) {
    share.close(owner->n_bytes());
  }
  asr::MemoryShare share;
  asr::ocl::SearchGraph graph;
};
struct asr_backend_channel {
  asr_backend_device *device;
  std::unique_ptr<asr::ocl::Search> search;
};

namespace asr::ocl {
namespace {

const asr_host_api *g_host = nullptr;
const Variant *g_variant = nullptr;

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  return guard([&] {
    *n_devices = 0;
    const DeviceList list = list_devices(*g_variant);
    if (list.devices.empty()) plugin_last_error() = list.reason;
    for (size_t i = 0; i < std::min(capacity, list.devices.size()); ++i) {
      const size_t size = infos[i].size;
      infos[i] = info_of(*g_variant, list.devices[i]);
      infos[i].size = size;
    }
    *n_devices = list.devices.size();
    if (!list.devices.empty() && !list.reason.empty()) {
      g_host->log(ASR_LOG_INFO, (std::string(g_variant->name) + ": " + list.reason).c_str());
    }
  });
}

asr_status open(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  return guard([&] { *device = new asr_backend_device(*g_variant, index, *options); });
}

void close(asr_backend_device *device) { delete device; }

const char *last_error() { return plugin_last_error().c_str(); }

asr_status load_features(asr_backend_device *device, const asr_features_view *view, asr_backend_features **features) {
  return guard([&] { *features = new asr_backend_features(device, *view); });
}

void free_features(asr_backend_features *features) { delete features; }

asr_status load_acoustic(asr_backend_device *device, const asr_acoustic_view *view, asr_backend_acoustic **acoustic) {
  return guard([&] {
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
  return guard([&] { *graph = new asr_backend_graph(device, *view); });
}

void free_graph(asr_backend_graph *graph) { delete graph; }

asr_status extract(asr_backend_device *, asr_backend_features *features, const asr_extract_job *jobs, size_t n_jobs) {
  return guard([&] { features->mfcc.extract(jobs, n_jobs); });
}

asr_status score(asr_backend_device *device, asr_backend_acoustic *acoustic, const float *features, uint32_t n_rows,
                 uint32_t buffer, float *loglikes) {
  return guard([&] {
    device->lanes.release(&acoustic->acoustic, buffer);
    acoustic->acoustic.score(features, n_rows, buffer, loglikes);
  });
}

void check_signals(const asr_backend_features *features) {
  if (features->signals != nullptr) return;
  fail(ASR_UNSUPPORTED, "signal_begin: these features have no dynamics, or the device no double precision");
}

asr_status signal_begin(asr_backend_device *, asr_backend_features *features, const asr_signal_options *options,
                        asr_backend_signal **signal) {
  return guard([&] {
    check_signals(features);
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
  return guard([&] {
    check_signals(features);
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
  return guard([&] {
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
  const uint32_t n_pdfs = job.channel->search->n_pdfs(), n_states = acoustic->acoustic.n_states();
  if (n_states >= n_pdfs) return;
  fail(ASR_INVALID_ARGUMENT, "advance: the graph has %u pdfs but the acoustic model %u; they do not belong together", n_pdfs,
       n_states);
}

asr_status advance(asr_backend_device *device, asr_backend_acoustic *acoustic, const asr_advance_job *jobs, size_t n_jobs) {
  return guard([&] {
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
  return guard([&] { device->lanes.best_paths({channel->search.get()}, use_final != 0, path); });
}

std::vector<Search *> searches_of(asr_backend_channel *const *channels, size_t n_channels) {
  std::vector<Search *> searches;
  for (size_t i = 0; i < n_channels; ++i) searches.push_back(channels[i]->search.get());
  return searches;
}

asr_status best_paths(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels, uint32_t use_final,
                      asr_path *paths) {
  return guard([&] { device->lanes.best_paths(searches_of(channels, n_channels), use_final != 0, paths); });
}

asr_status wait(asr_backend_device *device) {
  return guard([&] {
    device->lanes.wait();
    for (asr_backend_acoustic *acoustic : device->acoustics) acoustic->acoustic.finish();
    device->device.compute().finish();
    device->device.copies().finish();
  });
}

asr_status lattice(asr_backend_device *device, asr_backend_channel *channel, uint32_t use_final, asr_raw_lattice *lattice) {
  return guard([&] { device->lanes.lattices({channel->search.get()}, use_final != 0, lattice); });
}

asr_status lattices(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels, uint32_t use_final,
                    asr_raw_lattice *lattices) {
  return guard([&] { device->lanes.lattices(searches_of(channels, n_channels), use_final != 0, lattices); });
}

asr_status lattice_piece(asr_backend_device *device, asr_backend_channel *channel, asr_raw_lattice *piece) {
  return guard([&] { device->lanes.lattice_piece(channel->search.get(), piece); });
}

asr_status tune(asr_backend_device *device, const asr_acoustic_view *view, const char **report) {
  return guard([&] {
    device->report = ocl::tune(device->device, *view);
    *report = device->report.c_str();
  });
}

asr_status kernel_seconds(asr_backend_device *device, double *seconds) {
  return guard([&] { *seconds = device->device.compute().kernel_seconds() + device->lanes.kernel_seconds(); });
}

asr_status memory(asr_backend_device *device, asr_backend_memory *memory) {
  return guard([&] {
    *memory = {};
    memory->size = sizeof(*memory);
    memory->total_bytes = device->n_bytes();
    memory->graph_bytes = device->graph_bytes;
    memory->acoustic_bytes = device->acoustic_bytes;
    memory->features_bytes = device->features_bytes;
    device->lanes.add_memory(memory);
  });
}

}  // namespace

const asr_backend_api *backend_table(const Variant &variant, uint32_t host_abi, const asr_host_api *host) {
  static asr_backend_api table{};
  g_host = host;
  g_variant = &variant;
  table.abi = ASR_BACKEND_ABI, table.size = sizeof table, table.name = variant.name;
  table.probe = probe, table.open = open, table.close = close, table.last_error = last_error, table.wait = wait;
  table.load_features = load_features, table.free_features = free_features, table.extract = extract;
  table.load_acoustic = load_acoustic, table.free_acoustic = free_acoustic, table.score = score;
  table.load_graph = load_graph, table.free_graph = free_graph;
  table.channel_begin = channel_begin, table.channel_end = channel_end, table.advance = advance;
  table.best_path = best_path, table.lattice = lattice, table.lattice_piece = lattice_piece;
  table.lattices = lattices, table.best_paths = best_paths;
  table.signal_begin = signal_begin, table.signal_end = signal_end, table.step = step;
  table.kernel_seconds = kernel_seconds, table.tune = tune, table.memory = memory;
  return host_abi == ASR_BACKEND_ABI ? &table : nullptr;
}

}  // namespace asr::ocl
