// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/slots.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "core/backend/asr_backend_forced.h"
#include "core/backend/asr_backend_fusion.h"
#include "core/backend/asr_backend_given.h"
#include "core/backend/asr_backend_signals.h"
#include "core/backend/asr_backend_statistics.h"
#include "core/base/error.h"
#include "features/mfcc.h"
#include "plugins/common/fuse_call.h"
#include "plugins/common/score_checks.h"
#include "plugins/gpu/forced/forced.h"
#include "plugins/gpu/runtime/memory_share.h"
#include "plugins/gpu/search/search_graph.h"
#include "plugins/gpu/signals/signal_plan.h"
#include "plugins/gpu/signals/signals.h"
#include "search/search.h"

struct asr_backend_features {};
struct asr_backend_signal {};
struct asr_backend_acoustic {};
struct asr_backend_graph {};
struct asr_backend_channel {};
struct asr_backend_rows {};
struct asr_backend_sums {};
struct asr_backend_forced {};
struct asr_backend_given_map {};

namespace asr::gpu {

// ---- the objects behind the table's handles --------------------------------------------------------------------------------

struct LoadedFeatures : asr_backend_features {
  LoadedFeatures(OpenedDevice &owner, const asr_features_view &view)
      : share(&owner.features_bytes, owner.device.n_bytes()), mfcc(owner.device, view) {
    if (Signals::serves(owner.device, view)) signals = std::make_unique<Signals>(owner.device, mfcc, view);
    share.close(owner.device.n_bytes());
  }
  MemoryShare share;
  Mfcc mfcc;
  std::unique_ptr<Signals> signals;
};

struct Signal : asr_backend_signal {
  LoadedFeatures *features;
  std::unique_ptr<SignalProgress> progress;
};

struct LoadedAcoustic : asr_backend_acoustic {
  LoadedAcoustic(OpenedDevice &owner, const asr_acoustic_view &view)
      : owner(owner), share(&owner.acoustic_bytes, owner.device.n_bytes()), acoustic(owner.device, view) {
    share.close(owner.device.n_bytes());
  }
  OpenedDevice &owner;
  MemoryShare share;
  Acoustic acoustic;
};

struct LoadedGraph : asr_backend_graph {
  LoadedGraph(OpenedDevice &owner, const asr_graph_view &view)
      : share(&owner.graph_bytes, owner.device.n_bytes()), graph(owner.device, view) {
    share.close(owner.device.n_bytes());
  }
  MemoryShare share;
  SearchGraph graph;
};

struct Channel : asr_backend_channel {
  OpenedDevice *device;
  std::unique_ptr<Search> search;
};

struct Rows : asr_backend_rows {
  OpenedDevice *device;
  std::unique_ptr<Statistics::Rows> rows;
};

struct Sums : asr_backend_sums {
  OpenedDevice *device;
  std::unique_ptr<Statistics::Sums> sums;
};

struct LoadedForced : asr_backend_forced {
  LoadedForced(OpenedDevice &owner, const asr_acoustic_view &view)
      : owner(owner), share(&owner.acoustic_bytes, owner.device.n_bytes()), forced(owner.device, view) {
    share.close(owner.device.n_bytes());
  }
  OpenedDevice &owner;
  MemoryShare share;
  Forced forced;
};

struct LoadedGivenMap : asr_backend_given_map {
  LoadedGivenMap(OpenedDevice &owner, const asr_given_map_view &view) : owner(owner), map(owner.device, view) {}
  OpenedDevice &owner;
  GivenMap map;
};

namespace {

LoadedFeatures &of(asr_backend_features *handle) { return *static_cast<LoadedFeatures *>(handle); }
Signal &of(asr_backend_signal *handle) { return *static_cast<Signal *>(handle); }
LoadedAcoustic &of(asr_backend_acoustic *handle) { return *static_cast<LoadedAcoustic *>(handle); }
LoadedGraph &of(asr_backend_graph *handle) { return *static_cast<LoadedGraph *>(handle); }
Channel &of(asr_backend_channel *handle) { return *static_cast<Channel *>(handle); }
Sums &of(asr_backend_sums *handle) { return *static_cast<Sums *>(handle); }
Rows &of(asr_backend_rows *handle) { return *static_cast<Rows *>(handle); }
const Rows &of(const asr_backend_rows *handle) { return *static_cast<const Rows *>(handle); }
LoadedForced &of(asr_backend_forced *handle) { return *static_cast<LoadedForced *>(handle); }
LoadedGivenMap &of(asr_backend_given_map *handle) { return *static_cast<LoadedGivenMap *>(handle); }
const LoadedGivenMap &of(const asr_backend_given_map *handle) { return *static_cast<const LoadedGivenMap *>(handle); }

// Makes the device current, for slots that cannot fail, on a thread that may have used another device last.
void use_if_possible(OpenedDevice &d) noexcept {
  try {
    d.device.use();
  } catch (...) {  // a lost device can be closed
  }
}

// ---- device ------------------------------------------------------------------------------------------------------------

void close(asr_backend_device *handle) {
  if (handle == nullptr) return;
  auto *const device = static_cast<OpenedDevice *>(handle);
  use_if_possible(*device);
  delete device;
}

const char *last_error() { return plugin_last_error().text; }

// FirstFailure runs calls that do not depend on each other's success: one model's scores are delivered after another's have
// failed, too. It keeps what the first call to fail threw.
class FirstFailure {
 public:
  template <typename Call>
  void run(const Call &call) noexcept {
    try {
      call();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::exception_ptr failure_;
};

asr_status wait(asr_backend_device *device, uint32_t n_left) noexcept try {
  OpenedDevice &d = use(device);
  if (SearchLanes::kOverlaps && n_left > 0) {
    d.lanes.finish_advances(n_left);
    d.returned_rows.deliver(n_left);
    return ASR_OK;
  }
  d.lanes.finish();
  FirstFailure failure;
  failure.run([&] { d.returned_rows.deliver(0); });
  for (LoadedAcoustic *acoustic : d.acoustics) failure.run([&] { acoustic->acoustic.finish(); });
  failure.run([&] { d.device.finish(); });
  failure.rethrow();
  return ASR_OK;
} catch (...) {
  return failure();
}

// ---- features and scores -----------------------------------------------------------------------------------------------

asr_status load_features(asr_backend_device *device, const asr_features_view *view, asr_backend_features **features) noexcept
    try {
  *features = new LoadedFeatures(use(device), *view);
  return ASR_OK;
} catch (...) {
  return failure();
}

void free_features(asr_backend_features *features) { delete static_cast<LoadedFeatures *>(features); }

asr_status extract(asr_backend_device *device, asr_backend_features *features, const asr_extract_job *jobs,
                   size_t n_jobs) noexcept try {
  use(device);
  of(features).mfcc.extract(jobs, n_jobs);
  return ASR_OK;
} catch (...) {
  return failure();
}

asr_status load_acoustic(asr_backend_device *device, const asr_acoustic_view *view, asr_backend_acoustic **acoustic) noexcept
    try {
  OpenedDevice &d = use(device);
  auto loaded = std::make_unique<LoadedAcoustic>(d, *view);
  d.acoustics.push_back(loaded.get());
  *acoustic = loaded.release();
  return ASR_OK;
} catch (...) {
  return failure();
}

void free_acoustic(asr_backend_acoustic *handle) {
  if (handle == nullptr) return;
  LoadedAcoustic *const acoustic = &of(handle);
  OpenedDevice &d = acoustic->owner;
  use_if_possible(d);
  for (const uint32_t buffer : {0u, 1u}) d.lanes.release(&acoustic->acoustic, buffer);
  d.acoustics.erase(std::remove(d.acoustics.begin(), d.acoustics.end(), acoustic), d.acoustics.end());
  delete acoustic;
}

asr_status score(asr_backend_device *device, const asr_score_job *jobs, size_t n_jobs) noexcept try {
  OpenedDevice &d = use(device);
  std::vector<Acoustic::Job> list;
  for (size_t i = 0; i < n_jobs; ++i) {
    const asr_score_job &job = jobs[i];
    Acoustic *const acoustic = &of(job.acoustic).acoustic;
    d.lanes.release(acoustic, job.buffer);
    list.push_back({acoustic, job.features, job.n_rows, job.buffer, job.loglikes});
  }
  Acoustic::score(d.device, list);
  return ASR_OK;
} catch (...) {
  return failure();
}

// Has a buffer's rows scored for all states.
void score_whole(OpenedDevice &d, Acoustic *acoustic, uint32_t buffer) {
  if (acoustic->is_scored_whole(buffer)) return;
  d.lanes.release(acoustic, buffer);
  acoustic->score_whole(buffer);
}

// ---- search ------------------------------------------------------------------------------------------------------------

asr_status load_graph(asr_backend_device *device, const asr_graph_view *view, asr_backend_graph **graph, uint32_t *) noexcept
    try {
  *graph = new LoadedGraph(use(device), *view);
  return ASR_OK;
} catch (...) {
  return failure();
}

void free_graph(asr_backend_graph *graph) { delete static_cast<LoadedGraph *>(graph); }

asr_status channel_begin(asr_backend_device *device, asr_backend_graph *graph, const asr_search_options *options,
                         asr_backend_channel **channel) noexcept try {
  OpenedDevice &d = use(device);
  *channel = new Channel{{}, &d, d.lanes.begin(of(graph).graph, *options)};
  return ASR_OK;
} catch (...) {
  return failure();
}

void channel_end(asr_backend_channel *channel) {
  if (channel == nullptr) return;
  of(channel).device->lanes.end(std::move(of(channel).search));
  delete &of(channel);
}

void check_rows(asr_backend_acoustic *acoustic, const asr_advance_job &job) {
  if (job.loglikes != nullptr || job.n_frames == 0) return;
  if (acoustic == nullptr) fail(ASR_INVALID_ARGUMENT, "advance: a job names a score buffer but there is no acoustic model");
  check_model(of(job.channel).search->n_pdfs(), of(acoustic).acoustic.n_states());
}

// Has rows scored for all states if a job's graph has some that they were not scored for.
void complete_scores(OpenedDevice &d, Acoustic *acoustic, const asr_advance_job *jobs, size_t n_jobs) {
  bool lacks[2] = {false, false};
  const void *last[2] = {nullptr, nullptr};  // graphs: channels of one mostly come together
  for (size_t j = 0; j < n_jobs; ++j) {
    const asr_advance_job &job = jobs[j];
    if (job.loglikes != nullptr || job.n_frames == 0) continue;
    acoustic->check_rows("advance", job.buffer, job.first_row, job.n_frames);
    const SearchGraph &graph = of(job.channel).search->graph();
    if (std::exchange(last[job.buffer], &graph) == &graph) continue;
    if (acoustic->lacks_scores(job.buffer, graph.pdfs())) lacks[job.buffer] = true;
  }
  for (const uint32_t buffer : {0u, 1u}) {
    if (lacks[buffer]) score_whole(d, acoustic, buffer);
  }
}

asr_status advance(asr_backend_device *device, asr_backend_acoustic *acoustic, const asr_advance_job *jobs,
                   size_t n_jobs) noexcept try {
  OpenedDevice &d = use(device);
  d.returned_rows.note_advance();
  std::vector<SearchLanes::Task> tasks;
  for (size_t j = 0; j < n_jobs; ++j) {
    const asr_advance_job &job = jobs[j];
    check_rows(acoustic, job);
    tasks.push_back({of(job.channel).search.get(), job.loglikes, job.buffer, job.first_row, job.n_frames, job.wants});
  }
  if (acoustic != nullptr) complete_scores(d, &of(acoustic).acoustic, jobs, n_jobs);
  d.lanes.start(acoustic != nullptr ? &of(acoustic).acoustic : nullptr, tasks);
  return ASR_OK;
} catch (...) {
  return failure();
}

asr_status outcome(asr_backend_device *, asr_backend_channel *channel) noexcept try {
  of(channel).search->check_outcome();
  return ASR_OK;
} catch (...) {
  return failure();
}

uint32_t left(asr_backend_device *, asr_backend_channel *channel) noexcept { return of(channel).search->n_left(); }

std::vector<Search *> searches_of(asr_backend_channel *const *channels, size_t n_channels) {
  std::vector<Search *> searches;
  for (size_t i = 0; i < n_channels; ++i) searches.push_back(of(channels[i]).search.get());
  return searches;
}

asr_status best_paths(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels, uint32_t wants,
                      asr_path *paths) noexcept try {
  OpenedDevice &d = use(device);
  if ((wants & ASR_WANTS_PIECE) == 0) {
    d.lanes.best_paths(searches_of(channels, n_channels), wants, paths);
    return ASR_OK;
  }
  for (size_t i = 0; i < n_channels; ++i) of(channels[i]).search->path_piece(&paths[i]);
  return ASR_OK;
} catch (...) {
  return failure();
}

asr_status lattices(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels, uint32_t wants,
                    asr_raw_lattice *lattices) noexcept try {
  OpenedDevice &d = use(device);
  if ((wants & ASR_WANTS_PIECE) == 0) {
    d.lanes.lattices(searches_of(channels, n_channels), (wants & ASR_WANTS_FINAL) != 0, lattices);
    return ASR_OK;
  }
  for (size_t i = 0; i < n_channels; ++i) d.lanes.lattice_piece(of(channels[i]).search.get(), &lattices[i]);
  return ASR_OK;
} catch (...) {
  return failure();
}

// ---- samples to scores -------------------------------------------------------------------------------------------------

Signals &signals_of(asr_backend_features *features) {
  if (of(features).signals == nullptr) {
    fail(ASR_UNSUPPORTED, "signal_begin: these features have no dynamics, or none that the device can compute");
  }
  return *of(features).signals;
}

asr_status prepare(asr_backend_device *device, asr_backend_features *features, uint32_t *makes_rows) noexcept try {
  use(device);
  *makes_rows = of(features).signals != nullptr && of(features).signals->prepare() ? 1 : 0;
  return ASR_OK;
} catch (...) {
  return failure();
}

asr_status signal_begin(asr_backend_device *device, asr_backend_features *features, const asr_signal_options *options,
                        asr_backend_signal **signal) noexcept try {
  use(device);
  *signal = new Signal{{}, &of(features), signals_of(features).begin(*options)};
  return ASR_OK;
} catch (...) {
  return failure();
}

void signal_end(asr_backend_signal *signal) {
  if (signal == nullptr) return;
  of(signal).features->signals->end(std::move(of(signal).progress));
  delete &of(signal);
}

asr_status set_transform(asr_backend_device *device, asr_backend_signal *signal, const float *transform) noexcept try {
  use(device);
  of(signal).progress->set_transform(transform);
  return ASR_OK;
} catch (...) {
  return failure();
}

asr_status step_with_rows(asr_backend_device *device, asr_backend_features *features, asr_backend_acoustic *acoustic,
                          const asr_step_job *jobs, float *const *rows, size_t n_jobs, uint32_t buffer) noexcept try {
  OpenedDevice &d = use(device);
  Signals &signals = signals_of(features);
  std::vector<SignalProgress *> progress;
  for (size_t j = 0; j < n_jobs; ++j) {
    progress.push_back(jobs[j].signal != nullptr ? of(jobs[j].signal).progress.get() : nullptr);
  }
  d.lanes.release(&of(acoustic).acoustic, buffer);
  signals.step(of(acoustic).acoustic, jobs, rows, progress, buffer, &d.returned_rows);
  return ASR_OK;
} catch (...) {
  return failure();
}

asr_status step(asr_backend_device *device, asr_backend_features *features, asr_backend_acoustic *acoustic,
                const asr_step_job *jobs, size_t n_jobs, uint32_t buffer) {
  return step_with_rows(device, features, acoustic, jobs, nullptr, n_jobs, buffer);
}

// ---- fusion ------------------------------------------------------------------------------------------------------------

// Scoring into the buffer has waited for the advances that read it. Models that are fused once will be fused again.
asr_status fuse(asr_backend_device *device, asr_backend_acoustic *to, const asr_fuse_job *jobs, size_t n_jobs, uint32_t buffer,
                float *loglikes) noexcept try {
  OpenedDevice &d = use(device);
  if (!d.fusion) d.fusion = std::make_unique<Fusion>(d.device);
  Acoustic &acoustic = of(to).acoustic;
  const auto acoustic_of = [](asr_backend_acoustic *handle) -> Acoustic & { return of(handle).acoustic; };
  const FuseCall<Acoustic> call(acoustic, jobs, n_jobs, buffer, acoustic_of);
  std::vector<Acoustic *> models = call.models;
  models.push_back(&acoustic);
  for (Acoustic *model : models) {
    score_whole(d, model, buffer);
    model->stay_whole();
  }
  d.fusion->fuse(call, &acoustic, buffer, loglikes);
  return ASR_OK;
} catch (...) {
  return failure();
}

// ---- statistics --------------------------------------------------------------------------------------------------------

Statistics &statistics_of(OpenedDevice &d) {
  if (!d.statistics) d.statistics = std::make_unique<Statistics>(d.device);
  return *d.statistics;
}

// The failure of a slot of the statistics, which keep no memory of launches after it.
asr_status failure_of_statistics(asr_backend_device *device) noexcept {
  const auto &statistics = static_cast<OpenedDevice *>(device)->statistics;
  if (statistics) statistics->give_up();
  return failure();
}

asr_status prepare_statistics(asr_backend_device *device, uint32_t *serves) noexcept try {
  *serves = Statistics::serves(use(device).device) ? 1 : 0;
  return ASR_OK;
} catch (...) {
  return failure();
}

asr_status load_rows(asr_backend_device *device, const float *rows, uint32_t n_rows, uint32_t n_dims,
                     asr_backend_rows **loaded) noexcept try {
  OpenedDevice &d = use(device);
  *loaded = new Rows{{}, &d, statistics_of(d).load(rows, n_rows, n_dims)};
  return ASR_OK;
} catch (...) {
  return failure_of_statistics(device);
}

void free_rows(asr_backend_rows *rows) {
  if (rows == nullptr) return;
  use_if_possible(*of(rows).device);
  delete static_cast<Rows *>(rows);
}

asr_status sums_begin(asr_backend_device *device, const asr_sums_view *view, asr_backend_sums **sums) noexcept try {
  OpenedDevice &d = use(device);
  *sums = new Sums{{}, &d, statistics_of(d).begin(*view)};
  return ASR_OK;
} catch (...) {
  return failure_of_statistics(device);
}

void sums_end(asr_backend_sums *sums) {
  if (sums == nullptr) return;
  use_if_possible(*of(sums).device);
  of(sums).device->statistics->end(std::move(of(sums).sums));
  delete static_cast<Sums *>(sums);
}

asr_status add(asr_backend_device *device, asr_backend_sums *sums, const asr_backend_rows *rows, const asr_row_share *shares,
               const uint64_t *share_begin) noexcept try {
  statistics_of(use(device)).add(of(sums).sums.get(), *of(rows).rows, shares, share_begin);
  return ASR_OK;
} catch (...) {
  return failure_of_statistics(device);
}

asr_status read(asr_backend_device *device, asr_backend_sums *sums, double *values) noexcept try {
  statistics_of(use(device)).read(*of(sums).sums, values);
  return ASR_OK;
} catch (...) {
  return failure_of_statistics(device);
}

// ---- forced states -----------------------------------------------------------------------------------------------------

asr_status load_forced(asr_backend_device *device, const asr_acoustic_view *view, asr_backend_forced **forced) noexcept try {
  *forced = new LoadedForced(use(device), *view);
  return ASR_OK;
} catch (...) {
  return failure();
}

void free_forced(asr_backend_forced *forced) {
  if (forced == nullptr) return;
  use_if_possible(of(forced).owner);
  delete &of(forced);
}

asr_status score_forced(asr_backend_device *device, asr_backend_forced *forced, const float *rows, const uint32_t *states,
                        size_t n_rows, float *loglikes) noexcept try {
  use(device);
  of(forced).forced.score(rows, states, n_rows, loglikes);
  return ASR_OK;
} catch (...) {
  return failure();
}

// ---- given rows --------------------------------------------------------------------------------------------------------

asr_status load_buffers(asr_backend_device *device, uint32_t n_states, asr_backend_acoustic **acoustic) noexcept try {
  return load_acoustic(device, &StandIn(n_states).view(), acoustic);
} catch (...) {
  return failure();
}

asr_status load_map(asr_backend_device *device, const asr_given_map_view *view, asr_backend_given_map **map) noexcept try {
  *map = new LoadedGivenMap(use(device), *view);
  return ASR_OK;
} catch (...) {
  return failure();
}

void free_map(asr_backend_given_map *map) {
  if (map == nullptr) return;
  use_if_possible(of(map).owner);
  delete &of(map);
}

asr_status read_given(asr_backend_device *device, asr_backend_acoustic *acoustic, const asr_given_job *jobs, size_t n_jobs,
                      uint32_t n_rows, uint32_t buffer, uint32_t *faults) noexcept try {
  OpenedDevice &d = use(device);
  if (!d.given) d.given = std::make_unique<GivenReader>(d.device);
  std::vector<GivenReader::Job> list;
  for (size_t j = 0; j < n_jobs; ++j) {
    const asr_given_job &job = jobs[j];
    list.push_back({&of(job.map).map, job.given, job.first_given, job.first_row, job.n_rows});
  }
  d.lanes.release(&of(acoustic).acoustic, buffer);
  d.given->read(list, n_rows, &of(acoustic).acoustic, buffer, faults, &d.returned_rows);
  return ASR_OK;
} catch (...) {
  return failure();
}

// The device of slots that any thread calls; they choose it for themselves.
const Device &device_of(asr_backend_device *handle) { return static_cast<OpenedDevice *>(handle)->device; }

asr_status check_given_slot(asr_backend_device *device, const asr_device_rows *given, uint64_t n_rows,
                            uint32_t n_columns) noexcept try {
  check_given(device_of(device), *given, n_rows, n_columns);
  return ASR_OK;
} catch (...) {
  return failure();
}

asr_status is_ready(asr_backend_device *device, const asr_device_rows *given, uint32_t *is_ready) noexcept try {
  *is_ready = is_given_ready(device_of(device), *given) ? 1 : 0;
  return ASR_OK;
} catch (...) {
  return failure();
}

asr_status describe(asr_backend_device *device, asr_engine_memory *memory) noexcept try {
  const size_t size = memory->size;
  *memory = {};
  memory->size = size;
  describe_memory(device_of(device), memory);
  return ASR_OK;
} catch (...) {
  return failure();
}

asr_status make_rows(const asr_engine_memory *memory, const void *values, size_t n_bytes, uint32_t delay_ms,
                     asr_device_rows *given) noexcept try {
  make_given(*memory, values, n_bytes, delay_ms, given);
  return ASR_OK;
} catch (...) {
  return failure();
}

void free_made_rows(asr_device_rows *given) {
  try {
    free_made_given(given);
  } catch (...) {  // a lost device can be closed
  }
}

constexpr asr_backend_signals_api kSignals = {sizeof kSignals, prepare,        signal_begin,    signal_end, step,
                                              set_transform,   step_with_rows, kMaxWholeFrames, 0};
constexpr asr_backend_fusion_api kFusion = {sizeof kFusion, fuse};
constexpr asr_backend_statistics_api kStatistics = {sizeof kStatistics, prepare_statistics, load_rows, free_rows,
                                                    sums_begin,         sums_end,           add,       read};
constexpr asr_backend_forced_api kForced = {sizeof kForced, load_forced, free_forced, score_forced};
constexpr asr_backend_given_api kGiven = {sizeof kGiven,    load_buffers, load_map, free_map,  read_given,
                                          check_given_slot, is_ready,     describe, make_rows, free_made_rows};

}  // namespace

// ---- the table ---------------------------------------------------------------------------------------------------------

void give_devices(const std::vector<asr_backend_device_info> &devices, const std::string &why_none,
                  asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  constexpr uint32_t kCapabilities = ASR_BACKEND_LATTICES | ASR_BACKEND_PIECES | ASR_BACKEND_COMMON_PATH | ASR_BACKEND_PLP |
                                     ASR_BACKEND_PATH_PIECES | (SearchLanes::kOverlaps ? ASR_BACKEND_OVERLAPS : 0) |
                                     (SearchLanes::kLeaves ? ASR_BACKEND_LEAVES : 0);
  if (devices.empty()) plugin_last_error().keep(why_none.c_str());
  for (size_t i = 0; i < std::min(capacity, devices.size()); ++i) {
    const size_t size = infos[i].size;
    infos[i] = devices[i];
    infos[i].size = size;
    infos[i].capabilities = kCapabilities;
  }
  *n_devices = devices.size();
}

asr_backend_api slots_table(const char *name) {
  asr_backend_api table{};
  table.abi = ASR_BACKEND_ABI, table.size = sizeof table, table.name = name;
  table.close = close, table.last_error = last_error, table.wait = wait;
  table.load_features = load_features, table.free_features = free_features, table.extract = extract;
  table.load_acoustic = load_acoustic, table.free_acoustic = free_acoustic, table.score = score;
  table.load_graph = load_graph, table.free_graph = free_graph;
  table.channel_begin = channel_begin, table.channel_end = channel_end, table.advance = advance;
  table.best_paths = best_paths, table.lattices = lattices, table.outcome = outcome;
  if (SearchLanes::kLeaves) table.left = left;
  return table;
}

const void *slots_extension(const char *name, const asr_backend_bench_api *bench) {
  if (strcmp(name, ASR_BACKEND_SIGNALS) == 0) return &kSignals;
  if (strcmp(name, ASR_BACKEND_FUSION) == 0) return &kFusion;
  if (strcmp(name, ASR_BACKEND_STATISTICS) == 0) return &kStatistics;
  if (strcmp(name, ASR_BACKEND_FORCED) == 0) return &kForced;
  if (strcmp(name, ASR_BACKEND_GIVEN) == 0) return &kGiven;
  return strcmp(name, ASR_BACKEND_BENCH) == 0 ? bench : nullptr;
}

asr_status memory_slot(asr_backend_device *device, asr_backend_memory *memory) try {
  OpenedDevice &d = use(device);
  *memory = {};
  memory->size = sizeof(*memory);
  memory->total_bytes = d.device.n_bytes();
  memory->graph_bytes = d.graph_bytes;
  memory->acoustic_bytes = d.acoustic_bytes;
  for (const LoadedAcoustic *acoustic : d.acoustics) memory->acoustic_bytes += acoustic->acoustic.part_bytes();
  memory->features_bytes = d.features_bytes;
  d.lanes.add_memory(memory);
  return ASR_OK;
} catch (...) {
  return failure();
}

}  // namespace asr::gpu
