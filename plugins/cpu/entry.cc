// SPDX-License-Identifier: Apache-2.0
// The CPU back end's table: every slot is a guarded call of the class that does the work. Linked into the library, so that
// this back end is never missing; otherwise like any plugin.
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/backend/asr_backend_forced.h"
#include "core/base/error.h"
#include "plugins/common/guard.h"
#include "plugins/cpu/advance.h"
#include "plugins/cpu/handles.h"

namespace asr::cpu {
namespace {

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  return guard([&] {
    *n_devices = 1;
    if (capacity > 0) describe_cpu(&infos[0]);
  });
}

asr_status open(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  return guard([&] {
    if (index != 0) fail(ASR_NO_DEVICE, "cpu:%u does not exist; the CPU is cpu:0", index);
    *device = new asr_backend_device{Device(*options)};
  });
}

void close(asr_backend_device *device) { delete device; }

const char *last_error() { return plugin_last_error().text; }

asr_status load_features(asr_backend_device *, const asr_features_view *view, asr_backend_features **features) {
  return guard([&] { *features = new asr_backend_features{Mfcc(*view)}; });
}

void free_features(asr_backend_features *features) { delete features; }

asr_status load_acoustic(asr_backend_device *device, const asr_acoustic_view *view, asr_backend_acoustic **acoustic) {
  return guard([&] {
    *acoustic = new asr_backend_acoustic{&device->device,
                                         Acoustic(*view, device->device.gmm_options(), device->device.pool().n_threads())};
  });
}

void free_acoustic(asr_backend_acoustic *acoustic) {
  if (acoustic == nullptr) return;
  acoustic->device->drain();
  delete acoustic;
}

// Reads a packed graph in place, and copies the arrays of another.
asr_status load_graph(asr_backend_device *, const asr_graph_view *view, asr_backend_graph **graph, uint32_t *in_use) {
  return guard([&] {
    if (view->packed != nullptr) {
      *graph = new asr_backend_graph{SearchGraph(*view->packed)};
    } else {
      *graph = new asr_backend_graph{SearchGraph(*view)};
      *in_use = 0;
    }
  });
}

void free_graph(asr_backend_graph *graph) { delete graph; }

asr_status extract(asr_backend_device *device, asr_backend_features *features, const asr_extract_job *jobs, size_t n_jobs) {
  return guard([&] { features->mfcc.extract(jobs, n_jobs, device->device.pool()); });
}

asr_status score(asr_backend_device *device, const asr_score_job *jobs, size_t n_jobs) {
  return guard([&] {
    for (size_t j = 0; j < n_jobs; ++j) {
      const asr_score_job &job = jobs[j];
      device->device.score(job.acoustic->acoustic, job.features, job.n_rows, job.buffer, job.loglikes);
    }
  });
}

asr_status fuse(asr_backend_device *device, asr_backend_acoustic *to, const asr_fuse_job *jobs, size_t n_jobs, uint32_t buffer,
                float *loglikes) {
  return guard([&] {
    const auto acoustic_of = [](asr_backend_acoustic *handle) -> Acoustic & { return handle->acoustic; };
    device->device.fuse({to->acoustic, jobs, n_jobs, buffer, acoustic_of}, to->acoustic, buffer, loglikes);
  });
}

asr_status channel_begin(asr_backend_device *, asr_backend_graph *graph, const asr_search_options *options,
                         asr_backend_channel **channel) {
  return guard([&] { *channel = new asr_backend_channel{Search(graph->graph, *options), nullptr}; });
}

void channel_end(asr_backend_channel *channel) { delete channel; }

asr_status advance(asr_backend_device *device, asr_backend_acoustic *acoustic, const asr_advance_job *jobs, size_t n_jobs) {
  return guard([&] { advance(device->device, acoustic != nullptr ? &acoustic->acoustic : nullptr, jobs, n_jobs); });
}

// Runs a call that reads a channel and may change it. If memory runs out the channel is half changed, so later calls fail, too.
template <typename Action>
void read_channel(asr_backend_channel *channel, Action action) {
  if (channel->failure) std::rethrow_exception(channel->failure);
  try {
    action(channel->search);
  } catch (const std::bad_alloc &) {
    channel->failure = std::current_exception();
    throw;
  }
}

asr_status outcome(asr_backend_device *, asr_backend_channel *channel) {
  return guard([&] {
    if (channel->failure) std::rethrow_exception(channel->failure);
  });
}

asr_status wait(asr_backend_device *device, uint32_t) {
  return guard([&] { device->device.wait(); });
}

asr_status best_paths(asr_backend_device *, asr_backend_channel *const *channels, size_t n_channels, uint32_t wants,
                      asr_path *paths) {
  return guard([&] {
    for (size_t i = 0; i < n_channels; ++i) {
      read_channel(channels[i], [&](Search &search) {
        if ((wants & ASR_WANTS_PIECE) != 0) return search.path_piece(&paths[i]);
        search.best_path((wants & ASR_WANTS_FINAL) != 0, &paths[i]);
        paths[i].n_common_arcs = (wants & ASR_WANTS_COMMON) != 0 ? search.n_common_arcs() : 0;
      });
    }
  });
}

// A single channel is read without the pool, so that another thread may be in it.
asr_status lattices(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels, uint32_t wants,
                    asr_raw_lattice *lattices) {
  const auto read = [&](size_t i) {
    read_channel(channels[i], [&](Search &search) {
      if ((wants & ASR_WANTS_PIECE) != 0) return search.lattice_piece(&lattices[i]);
      search.lattice((wants & ASR_WANTS_FINAL) != 0, &lattices[i]);
    });
  };
  return guard([&] { n_channels == 1 ? read(0) : device->device.pool().run(n_channels, read); });
}

asr_status load_forced(asr_backend_device *, const asr_acoustic_view *view, asr_backend_forced **forced) {
  return guard([&] { *forced = new asr_backend_forced{Forced(*view)}; });
}

void free_forced(asr_backend_forced *forced) { delete forced; }

asr_status score_forced(asr_backend_device *device, asr_backend_forced *forced, const float *rows, const uint32_t *states,
                        size_t n_rows, float *loglikes) {
  return guard([&] { forced->forced.score(rows, states, n_rows, loglikes, device->device.pool()); });
}

constexpr asr_backend_fusion_api kFusion = {sizeof kFusion, fuse};
constexpr asr_backend_forced_api kForced = {sizeof kForced, load_forced, free_forced, score_forced};

const void *extension(const char *name) {
  if (strcmp(name, ASR_BACKEND_FORCED) == 0) return &kForced;
  return strcmp(name, ASR_BACKEND_FUSION) == 0 ? &kFusion : nullptr;
}

constexpr asr_backend_api make_table() {
  asr_backend_api table{};
  table.abi = ASR_BACKEND_ABI, table.size = sizeof table, table.name = "cpu";
  table.probe = probe, table.open = open, table.close = close, table.last_error = last_error, table.wait = wait;
  table.load_features = load_features, table.free_features = free_features, table.extract = extract;
  table.load_acoustic = load_acoustic, table.free_acoustic = free_acoustic, table.score = score;
  table.load_graph = load_graph, table.free_graph = free_graph;
  table.channel_begin = channel_begin, table.channel_end = channel_end, table.advance = advance;
  table.best_paths = best_paths, table.lattices = lattices, table.outcome = outcome, table.extension = extension;
  return table;
}

constexpr asr_backend_api kApi = make_table();

}  // namespace
}  // namespace asr::cpu

extern "C" const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *) {
  return host_abi == ASR_BACKEND_ABI ? &asr::cpu::kApi : nullptr;
}
