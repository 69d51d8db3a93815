// SPDX-License-Identifier: Apache-2.0
// The CPU back end's table: every slot is a guarded call of the class that does the work. Linked into the library, so that
// this back end is never missing; otherwise like any plugin.
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/error.h"
#include "plugins/common/guard.h"
#include "plugins/common/score_checks.h"
#include "plugins/cpu/device.h"
#include "plugins/cpu/gmm_asked.h"
#include "plugins/cpu/mfcc.h"
#include "plugins/cpu/search.h"

struct asr_backend_device {
  asr::cpu::Device device;
};
struct asr_backend_features {
  asr::cpu::Mfcc mfcc;
};
struct asr_backend_acoustic {
  asr::cpu::Device *device;
  asr::cpu::Acoustic acoustic;
};
struct asr_backend_graph {
  asr::cpu::SearchGraph graph;
};
struct asr_backend_channel {
  asr::cpu::Search search;
  std::exception_ptr failure;  // the reason why it consumes no more frames
};

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

// Rows to advance over, and the jobs of an advance that do so: more than one if the rows are made on demand.
struct SharedRows {
  explicit SharedRows(const asr_advance_job *job) : jobs{job} {}

  const asr_advance_job &job() const { return *jobs.front(); }
  bool are_those_of(const asr_advance_job &other) const {
    return other.buffer == job().buffer && other.first_row == job().first_row && other.n_frames == job().n_frames;
  }

  std::vector<const asr_advance_job *> jobs;
  Asked asked;
};

void check_job(const Acoustic *model, const asr_advance_job &job) {
  if (model == nullptr) fail(ASR_INVALID_ARGUMENT, "advance: a job names a score buffer but there is no acoustic model");
  check_buffer("advance", job.buffer);
  check_model(job.channel->search.n_pdfs(), model->n_states());
  model->check_rows("advance", job.buffer, job.first_row, job.n_frames);
}

// Returns the rows of jobs that read score buffers. Jobs for the same rows that wait for demand come together.
std::vector<SharedRows> rows_of(const Acoustic &model, std::vector<const asr_advance_job *> jobs) {
  std::sort(jobs.begin(), jobs.end(), [](const asr_advance_job *a, const asr_advance_job *b) {
    return std::tie(a->buffer, a->first_row, a->n_frames) < std::tie(b->buffer, b->first_row, b->n_frames);
  });
  std::vector<SharedRows> rows;
  for (const asr_advance_job *job : jobs) {
    if (!rows.empty() && model.waiting[job->buffer] && rows.back().are_those_of(*job)) {
      rows.back().jobs.push_back(job);
    } else {
      rows.emplace_back(job);
    }
  }
  return rows;
}

// Makes scores that wait, unless they are cheaper on demand. Returns those that go on waiting.
WaitingRows make_scores(Device &device, Acoustic &model, const std::vector<SharedRows> &list) {
  WaitingRows waiting;
  for (const SharedRows &rows : list) {
    if (model.waiting[rows.job().buffer]) waiting.add_channel(rows.job().n_frames);
  }
  const bool asks = waiting.n_rows > 0 && model.demand.asks(waiting);
  for (const SharedRows &rows : list) {
    if (asks && model.waiting[rows.job().buffer]) {
      for (const asr_advance_job *job : rows.jobs) model.demanded.include(job->channel->search.pdfs());
    }
    if (!asks) device.score_waiting(model, rows.job().buffer);
    device.await(model, rows.job().buffer);
  }
  return asks ? waiting : WaitingRows();
}

// Calls advance(search). A failure becomes the outcome of the channel.
template <typename Advance>
void advance_channel(asr_backend_channel *channel, const Advance &advance) {
  if (channel->failure) return;
  try {
    advance(channel->search);
  } catch (...) {
    channel->failure = std::current_exception();
  }
}

void advance_on_demand(Acoustic &model, SharedRows &rows) {
  std::unique_ptr<AskedRows> asked = model.demanded.take();
  asked->begin(model.features[rows.job().buffer].data() + size_t{rows.job().first_row} * model.gmm.n_dims(),
               rows.job().n_frames);
  while (asked->next_tile()) {
    for (const asr_advance_job *job : rows.jobs) {
      advance_channel(job->channel, [&](Search &search) { search.advance(*asked); });
    }
  }
  rows.asked = asked->sum();
  model.demanded.give(std::move(asked));
}

void advance_over_scores(Acoustic &model, SharedRows &rows) {
  const uint32_t buffer = rows.job().buffer;
  if (!model.waiting[buffer]) {
    const size_t n_states = model.n_states();
    const float *const first = model.scores[buffer].data() + rows.job().first_row * n_states;
    for (const asr_advance_job *job : rows.jobs) {
      advance_channel(job->channel, [&](Search &search) { search.advance(first, n_states, job->n_frames); });
    }
    return;
  }
  try {
    advance_on_demand(model, rows);
  } catch (...) {
    for (const asr_advance_job *job : rows.jobs) job->channel->failure = std::current_exception();
  }
}

asr_status advance(asr_backend_device *device, asr_backend_acoustic *acoustic, const asr_advance_job *jobs, size_t n_jobs) {
  return guard([&] {
    Acoustic *const model = acoustic != nullptr ? &acoustic->acoustic : nullptr;
    std::vector<const asr_advance_job *> of_host, of_buffers;
    for (size_t j = 0; j < n_jobs; ++j) {
      if (jobs[j].n_frames == 0) continue;
      if (jobs[j].loglikes == nullptr) check_job(model, jobs[j]);
      (jobs[j].loglikes != nullptr ? of_host : of_buffers).push_back(&jobs[j]);
    }
    std::vector<SharedRows> rows;
    WaitingRows waiting;
    if (!of_buffers.empty()) {
      rows = rows_of(*model, std::move(of_buffers));
      waiting = make_scores(device->device, *model, rows);
    }
    device->device.pool().run(of_host.size() + rows.size(), [&](size_t i) {
      if (i >= of_host.size()) return advance_over_scores(*model, rows[i - of_host.size()]);
      const asr_advance_job &job = *of_host[i];
      advance_channel(job.channel, [&](Search &search) { search.advance(job.loglikes, search.n_pdfs(), job.n_frames); });
    });
    Asked asked;
    for (const SharedRows &of_channels : rows) asked += of_channels.asked;
    if (!rows.empty()) model->demand.add(waiting, asked);
  });
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

constexpr asr_backend_fusion_api kFusion = {sizeof kFusion, fuse};

const void *extension(const char *name) { return strcmp(name, ASR_BACKEND_FUSION) == 0 ? &kFusion : nullptr; }

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
