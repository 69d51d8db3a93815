// SPDX-License-Identifier: Apache-2.0
// Every slot is a guarded call of the class that does the work, on the device of the call. Features and scores are computed on
// the device; channels search with the code of the CPU back end, on scores copied to the host.
#include "plugins/common/ocl/backend.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "plugins/common/guard.h"
#include "plugins/common/ocl/acoustic.h"
#include "plugins/common/ocl/device.h"
#include "plugins/cpu/mfcc.h"
#include "plugins/cpu/search.h"

struct asr_backend_device {
  asr_backend_device(const asr::ocl::Variant &variant, uint32_t index, const asr_backend_options &options)
      : device(variant, index, options) {}
  asr::ocl::Device device;
  std::vector<asr_backend_acoustic *> acoustics;  // that are loaded
};
struct asr_backend_features {
  asr::cpu::Mfcc mfcc;
};
struct asr_backend_acoustic {
  asr_backend_acoustic(asr_backend_device *owner, const asr_acoustic_view &view)
      : owner(owner), acoustic(owner->device, view) {}
  asr_backend_device *owner;
  asr::ocl::Acoustic acoustic;
};
struct asr_backend_graph {
  asr::cpu::SearchGraph graph;
};
struct asr_backend_channel {
  asr::cpu::Search search;
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

asr_status load_features(asr_backend_device *, const asr_features_view *view, asr_backend_features **features) {
  return guard([&] { *features = new asr_backend_features{cpu::Mfcc(*view)}; });
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
  all.erase(std::remove(all.begin(), all.end(), acoustic), all.end());
  delete acoustic;
}

asr_status load_graph(asr_backend_device *, const asr_graph_view *view, asr_backend_graph **graph) {
  return guard([&] { *graph = new asr_backend_graph{cpu::SearchGraph(*view)}; });
}

void free_graph(asr_backend_graph *graph) { delete graph; }

asr_status extract(asr_backend_device *device, asr_backend_features *features, const asr_extract_job *jobs, size_t n_jobs) {
  return guard([&] { features->mfcc.extract(jobs, n_jobs, device->device.pool()); });
}

asr_status score(asr_backend_device *, asr_backend_acoustic *acoustic, const float *features, uint32_t n_rows, uint32_t buffer,
                 float *loglikes) {
  return guard([&] { acoustic->acoustic.score(features, n_rows, buffer, loglikes); });
}

asr_status channel_begin(asr_backend_device *, asr_backend_graph *graph, const asr_search_options *options,
                         asr_backend_channel **channel) {
  return guard([&] { *channel = new asr_backend_channel{cpu::Search(graph->graph, *options)}; });
}

void channel_end(asr_backend_channel *channel) { delete channel; }

// The rows of a job on the host.
struct Rows {
  const float *first;
  size_t stride;
};

Rows rows_of(asr_backend_acoustic *acoustic, const asr_advance_job &job) {
  const uint32_t n_pdfs = job.channel->search.n_pdfs();
  if (job.loglikes != nullptr) return {job.loglikes, n_pdfs};
  if (acoustic == nullptr) fail(ASR_INVALID_ARGUMENT, "advance: a job names a score buffer but there is no acoustic model");
  const uint32_t n_states = acoustic->acoustic.n_states();
  if (n_states < n_pdfs) {
    fail(ASR_INVALID_ARGUMENT, "advance: the graph has %u pdfs but the acoustic model %u; they do not belong together", n_pdfs,
         n_states);
  }
  return {acoustic->acoustic.rows(job.buffer, job.first_row, job.n_frames), n_states};
}

asr_status advance(asr_backend_device *device, asr_backend_acoustic *acoustic, const asr_advance_job *jobs, size_t n_jobs) {
  return guard([&] {
    std::vector<Rows> rows;
    for (size_t j = 0; j < n_jobs; ++j) rows.push_back(rows_of(acoustic, jobs[j]));
    device->device.pool().run(
        n_jobs, [&](size_t j) { jobs[j].channel->search.advance(rows[j].first, rows[j].stride, jobs[j].n_frames); });
  });
}

asr_status best_path(asr_backend_device *, asr_backend_channel *channel, uint32_t use_final, asr_path *path) {
  return guard([&] { channel->search.best_path(use_final != 0, path); });
}

asr_status wait(asr_backend_device *device) {
  return guard([&] {
    for (asr_backend_acoustic *acoustic : device->acoustics) acoustic->acoustic.finish();
    device->device.compute().finish();
    device->device.copies().finish();
  });
}

asr_status lattice(asr_backend_device *, asr_backend_channel *channel, uint32_t use_final, asr_raw_lattice *lattice) {
  return guard([&] { channel->search.lattice(use_final != 0, lattice); });
}

asr_status lattice_piece(asr_backend_device *, asr_backend_channel *channel, asr_raw_lattice *piece) {
  return guard([&] { channel->search.lattice_piece(piece); });
}

asr_status kernel_seconds(asr_backend_device *device, double *seconds) {
  return guard([&] { *seconds = device->device.kernel_seconds(); });
}

asr_backend_api g_table = {
    ASR_BACKEND_ABI,
    sizeof(asr_backend_api),
    "",
    probe,
    open,
    close,
    last_error,
    load_features,
    free_features,
    load_acoustic,
    free_acoustic,
    load_graph,
    free_graph,
    extract,
    score,
    channel_begin,
    channel_end,
    advance,
    best_path,
    wait,
    lattice,
    kernel_seconds,
    lattice_piece,
};

}  // namespace

const asr_backend_api *backend_table(const Variant &variant, uint32_t host_abi, const asr_host_api *host) {
  g_host = host;
  g_variant = &variant;
  g_table.name = variant.name;
  return host_abi == ASR_BACKEND_ABI ? &g_table : nullptr;
}

}  // namespace asr::ocl
