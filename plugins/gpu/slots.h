// SPDX-License-Identifier: Apache-2.0
// DeviceSlots has the slots of a back end whose device has memory of its own. Each slot is a guarded call of the class that
// does the work, on the device of the call. The back end's file with the table uses them, and adds its own slots.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/backend/asr_backend_bench.h"
#include "core/backend/asr_backend_fusion.h"
#include "core/backend/asr_backend_signals.h"
#include "core/backend/asr_backend_statistics.h"
#include "core/base/error.h"
#include "plugins/common/fuse_call.h"
#include "plugins/common/guard.h"
#include "plugins/common/score_checks.h"
#include "plugins/gpu/runtime/memory_share.h"
#include "plugins/gpu/signals/returned_rows.h"
#include "plugins/gpu/signals/signal_plan.h"

// The C table's handles are base classes of DeviceSlots' objects.
struct asr_backend_device {};
struct asr_backend_features {};
struct asr_backend_signal {};
struct asr_backend_acoustic {};
struct asr_backend_graph {};
struct asr_backend_channel {};
struct asr_backend_rows {};
struct asr_backend_sums {};

namespace asr {

// Writes the output of `probe`; all devices have the same capabilities.
inline void give_devices(const std::vector<asr_backend_device_info> &devices, uint32_t capabilities,
                         const std::string &why_none, asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  if (devices.empty()) plugin_last_error().keep(why_none.c_str());
  for (size_t i = 0; i < std::min(capacity, devices.size()); ++i) {
    const size_t size = infos[i].size;
    infos[i] = devices[i];
    infos[i].size = size;
    infos[i].capabilities = capabilities;
  }
  *n_devices = devices.size();
}

// Platform names a back end's classes: Device, Mfcc, Signals, Acoustic, Fusion, Statistics, SearchGraph, Search and
// SearchLanes. The bodies below show their interfaces. kOverlaps says whether SearchLanes has two advances under way.
template <typename Platform>
class DeviceSlots {
 public:
  static constexpr uint32_t kCapabilities = ASR_BACKEND_LATTICES | ASR_BACKEND_PIECES | ASR_BACKEND_COMMON_PATH |
                                            ASR_BACKEND_PLP | ASR_BACKEND_PATH_PIECES |
                                            (Platform::kOverlaps ? ASR_BACKEND_OVERLAPS : 0);

  struct Acoustic;

  struct Device : asr_backend_device {
    template <typename... Args>
    explicit Device(Args &&...args) : device(std::forward<Args>(args)...) {}
    typename Platform::Device device;
    typename Platform::SearchLanes lanes{device};
    ReturnedRows<typename Platform::Device> returned_rows{device};
    std::unique_ptr<typename Platform::Fusion> fusion;                 // made by the first call
    std::unique_ptr<typename Platform::Statistics> statistics;         // made by the first call
    std::vector<Acoustic *> acoustics;                                 // acoustic models that are loaded
    uint64_t features_bytes = 0, acoustic_bytes = 0, graph_bytes = 0;  // device memory of all loaded objects
    std::string report;                                                // text of the last `tune`
  };
  struct Features : asr_backend_features {
    Features(Device &owner, const asr_features_view &view)
        : share(&owner.features_bytes, owner.device.n_bytes()), mfcc(owner.device, view) {
      using Signals = typename Platform::Signals;
      if (Signals::serves(owner.device, view)) signals = std::make_unique<Signals>(owner.device, mfcc, view);
      share.close(owner.device.n_bytes());
    }
    MemoryShare share;
    typename Platform::Mfcc mfcc;
    std::unique_ptr<typename Platform::Signals> signals;
  };
  struct Signal : asr_backend_signal {
    Features *features;
    std::unique_ptr<SignalProgress> progress;
  };
  struct Acoustic : asr_backend_acoustic {
    Acoustic(Device &owner, const asr_acoustic_view &view)
        : owner(owner), share(&owner.acoustic_bytes, owner.device.n_bytes()), acoustic(owner.device, view) {
      share.close(owner.device.n_bytes());
    }
    Device &owner;
    MemoryShare share;
    typename Platform::Acoustic acoustic;
  };
  struct Graph : asr_backend_graph {
    Graph(Device &owner, const asr_graph_view &view)
        : share(&owner.graph_bytes, owner.device.n_bytes()), graph(owner.device, view) {
      share.close(owner.device.n_bytes());
    }
    MemoryShare share;
    typename Platform::SearchGraph graph;
  };
  struct Channel : asr_backend_channel {
    Device *device;
    std::unique_ptr<typename Platform::Search> search;
  };
  struct Rows : asr_backend_rows {
    Device *device;
    std::unique_ptr<typename Platform::Statistics::Rows> rows;
  };
  struct Sums : asr_backend_sums {
    Device *device;
    std::unique_ptr<typename Platform::Statistics::Sums> sums;
  };

  static Device &of(asr_backend_device *handle) { return *static_cast<Device *>(handle); }
  static Features &of(asr_backend_features *handle) { return *static_cast<Features *>(handle); }
  static Signal &of(asr_backend_signal *handle) { return *static_cast<Signal *>(handle); }
  static Acoustic &of(asr_backend_acoustic *handle) { return *static_cast<Acoustic *>(handle); }
  static Graph &of(asr_backend_graph *handle) { return *static_cast<Graph *>(handle); }
  static Channel &of(asr_backend_channel *handle) { return *static_cast<Channel *>(handle); }
  static Sums &of(asr_backend_sums *handle) { return *static_cast<Sums *>(handle); }
  static Rows &of(asr_backend_rows *handle) { return *static_cast<Rows *>(handle); }
  static const Rows &of(const asr_backend_rows *handle) { return *static_cast<const Rows *>(handle); }

  // Runs a slot's body on its device.
  template <typename Body>
  static asr_status guard_on(asr_backend_device *device, Body &&body) noexcept {
    return guard([&] {
      of(device).device.use();
      body(of(device));
    });
  }

  // Returns the table of these slots; the caller adds `probe`, `open` and `extension`.
  static constexpr asr_backend_api table(const char *name) {
    asr_backend_api table{};
    table.abi = ASR_BACKEND_ABI, table.size = sizeof table, table.name = name;
    table.close = close, table.last_error = last_error, table.wait = wait;
    table.load_features = load_features, table.free_features = free_features, table.extract = extract;
    table.load_acoustic = load_acoustic, table.free_acoustic = free_acoustic, table.score = score;
    table.load_graph = load_graph, table.free_graph = free_graph;
    table.channel_begin = channel_begin, table.channel_end = channel_end, table.advance = advance;
    table.best_paths = best_paths, table.lattices = lattices, table.outcome = outcome;
    return table;
  }

  // Returns the extension of a name, or NULL; `bench` is the caller's, and `memory` is among its slots.
  static const void *extension(const char *name, const asr_backend_bench_api *bench) {
    static constexpr asr_backend_signals_api kSignals = {sizeof kSignals, prepare,        signal_begin,    signal_end, step,
                                                         set_transform,   step_with_rows, kMaxWholeFrames, 0};
    static constexpr asr_backend_fusion_api kFusion = {sizeof kFusion, fuse};
    static constexpr asr_backend_statistics_api kStatistics = {sizeof kStatistics, prepare_statistics, load_rows, free_rows,
                                                               sums_begin,         sums_end,           add,       read};
    if (strcmp(name, ASR_BACKEND_SIGNALS) == 0) return &kSignals;
    if (strcmp(name, ASR_BACKEND_FUSION) == 0) return &kFusion;
    if (strcmp(name, ASR_BACKEND_STATISTICS) == 0) return &kStatistics;
    return strcmp(name, ASR_BACKEND_BENCH) == 0 ? bench : nullptr;
  }

  static asr_status memory(asr_backend_device *device, asr_backend_memory *memory) {
    return guard_on(device, [&](Device &d) {
      *memory = {};
      memory->size = sizeof(*memory);
      memory->total_bytes = d.device.n_bytes();
      memory->graph_bytes = d.graph_bytes;
      memory->acoustic_bytes = d.acoustic_bytes;
      for (const Acoustic *acoustic : d.acoustics) memory->acoustic_bytes += acoustic->acoustic.part_bytes();
      memory->features_bytes = d.features_bytes;
      d.lanes.add_memory(memory);
    });
  }

 private:
  // Makes the device current, for slots that cannot fail, on a thread that may have used another device last.
  static void use(Device &d) noexcept {
    static_cast<void>(guard([&] { d.device.use(); }));
  }

  static void close(asr_backend_device *device) {
    if (device == nullptr) return;
    use(of(device));
    delete static_cast<Device *>(device);
  }

  static const char *last_error() { return plugin_last_error().text; }

  // FirstFailure runs calls that do not depend on each other's success: scores are delivered after a channel has failed, too.
  // It keeps what the first call to fail threw.
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

  static asr_status wait(asr_backend_device *device, uint32_t n_left) {
    return guard_on(device, [&](Device &d) {
      if constexpr (Platform::kOverlaps) {
        if (n_left > 0) {
          d.lanes.finish_advances(n_left);
          return d.returned_rows.deliver(n_left);
        }
      }
      FirstFailure of_device, of_channel;
      of_device.run([&] { d.returned_rows.deliver(0); });
      of_channel.run([&] { d.lanes.wait(); });
      for (Acoustic *acoustic : d.acoustics) of_device.run([&] { acoustic->acoustic.finish(); });
      of_device.run([&] { d.device.finish(); });
      of_device.rethrow();  // first: a channel's failure is its outcome, too
      of_channel.rethrow();
    });
  }

  static asr_status load_features(asr_backend_device *device, const asr_features_view *view, asr_backend_features **features) {
    return guard_on(device, [&](Device &d) { *features = new Features(d, *view); });
  }

  static void free_features(asr_backend_features *features) { delete static_cast<Features *>(features); }

  static asr_status extract(asr_backend_device *device, asr_backend_features *features, const asr_extract_job *jobs,
                            size_t n_jobs) {
    return guard_on(device, [&](Device &) { of(features).mfcc.extract(jobs, n_jobs); });
  }

  static asr_status load_acoustic(asr_backend_device *device, const asr_acoustic_view *view, asr_backend_acoustic **acoustic) {
    return guard_on(device, [&](Device &d) {
      auto loaded = std::make_unique<Acoustic>(d, *view);
      d.acoustics.push_back(loaded.get());
      *acoustic = loaded.release();
    });
  }

  static void free_acoustic(asr_backend_acoustic *handle) {
    if (handle == nullptr) return;
    Acoustic *const acoustic = &of(handle);
    Device &d = acoustic->owner;
    use(d);
    for (const uint32_t buffer : {0u, 1u}) d.lanes.release(&acoustic->acoustic, buffer);
    d.acoustics.erase(std::remove(d.acoustics.begin(), d.acoustics.end(), acoustic), d.acoustics.end());
    delete acoustic;
  }

  static asr_status score(asr_backend_device *device, const asr_score_job *jobs, size_t n_jobs) {
    return guard_on(device, [&](Device &d) {
      std::vector<typename Platform::Acoustic::Job> list;
      for (size_t i = 0; i < n_jobs; ++i) {
        const asr_score_job &job = jobs[i];
        typename Platform::Acoustic *const acoustic = &of(job.acoustic).acoustic;
        d.lanes.release(acoustic, job.buffer);
        list.push_back({acoustic, job.features, job.n_rows, job.buffer, job.loglikes});
      }
      Platform::Acoustic::score(d.device, list);
    });
  }

  // Has a buffer's rows scored for all states.
  static void score_whole(Device &d, typename Platform::Acoustic *acoustic, uint32_t buffer) {
    if (acoustic->is_scored_whole(buffer)) return;
    d.lanes.release(acoustic, buffer);
    acoustic->score_whole(buffer);
  }

  // Scoring into the buffer has waited for the advances that read it. Models that are fused once will be fused again.
  static asr_status fuse(asr_backend_device *device, asr_backend_acoustic *to, const asr_fuse_job *jobs, size_t n_jobs,
                         uint32_t buffer, float *loglikes) {
    return guard_on(device, [&](Device &d) {
      if (!d.fusion) d.fusion = std::make_unique<typename Platform::Fusion>(d.device);
      typename Platform::Acoustic &acoustic = of(to).acoustic;
      const auto acoustic_of = [](asr_backend_acoustic *handle) ->
          typename Platform::Acoustic & { return of(handle).acoustic; };
      const FuseCall<typename Platform::Acoustic> call(acoustic, jobs, n_jobs, buffer, acoustic_of);
      std::vector<typename Platform::Acoustic *> models = call.models;
      models.push_back(&acoustic);
      for (typename Platform::Acoustic *model : models) {
        score_whole(d, model, buffer);
        model->stay_whole();
      }
      d.fusion->fuse(call, &acoustic, buffer, loglikes);
    });
  }

  static asr_status prepare_statistics(asr_backend_device *device, uint32_t *serves) {
    return guard_on(device, [&](Device &d) { *serves = Platform::Statistics::serves(d.device) ? 1 : 0; });
  }

  // Runs a slot's body on the device's statistics, which keep no memory of launches after a failure.
  template <typename Body>
  static asr_status guard_statistics(asr_backend_device *device, Body &&body) noexcept {
    return guard_on(device, [&](Device &d) {
      if (!d.statistics) d.statistics = std::make_unique<typename Platform::Statistics>(d.device);
      try {
        body(*d.statistics);
      } catch (...) {
        d.statistics->give_up();
        throw;
      }
    });
  }

  static asr_status load_rows(asr_backend_device *device, const float *rows, uint32_t n_rows, uint32_t n_dims,
                              asr_backend_rows **loaded) {
    return guard_statistics(device, [&](auto &statistics) {
      *loaded = new Rows{{}, &of(device), statistics.load(rows, n_rows, n_dims)};
    });
  }

  static void free_rows(asr_backend_rows *rows) {
    if (rows == nullptr) return;
    use(*of(rows).device);
    delete static_cast<Rows *>(rows);
  }

  static asr_status sums_begin(asr_backend_device *device, const asr_sums_view *view, asr_backend_sums **sums) {
    return guard_statistics(device, [&](auto &statistics) { *sums = new Sums{{}, &of(device), statistics.begin(*view)}; });
  }

  static void sums_end(asr_backend_sums *sums) {
    if (sums == nullptr) return;
    use(*of(sums).device);
    of(sums).device->statistics->end(std::move(of(sums).sums));
    delete static_cast<Sums *>(sums);
  }

  static asr_status add(asr_backend_device *device, asr_backend_sums *sums, const asr_backend_rows *rows,
                        const asr_row_share *shares, const uint64_t *share_begin) {
    return guard_statistics(
        device, [&](auto &statistics) { statistics.add(of(sums).sums.get(), *of(rows).rows, shares, share_begin); });
  }

  static asr_status read(asr_backend_device *device, asr_backend_sums *sums, double *values) {
    return guard_statistics(device, [&](auto &statistics) { statistics.read(*of(sums).sums, values); });
  }

  static typename Platform::Signals &signals_of(asr_backend_features *features) {
    if (of(features).signals == nullptr) {
      fail(ASR_UNSUPPORTED, "signal_begin: these features have no dynamics, or none that the device can compute");
    }
    return *of(features).signals;
  }

  static asr_status prepare(asr_backend_device *device, asr_backend_features *features, uint32_t *makes_rows) {
    return guard_on(
        device, [&](Device &) { *makes_rows = of(features).signals != nullptr && of(features).signals->prepare() ? 1 : 0; });
  }

  static asr_status signal_begin(asr_backend_device *device, asr_backend_features *features, const asr_signal_options *options,
                                 asr_backend_signal **signal) {
    return guard_on(device, [&](Device &) { *signal = new Signal{{}, &of(features), signals_of(features).begin(*options)}; });
  }

  static void signal_end(asr_backend_signal *signal) {
    if (signal == nullptr) return;
    of(signal).features->signals->end(std::move(of(signal).progress));
    delete &of(signal);
  }

  static asr_status set_transform(asr_backend_device *device, asr_backend_signal *signal, const float *transform) {
    return guard_on(device, [&](Device &) { of(signal).progress->set_transform(transform); });
  }

  static asr_status step(asr_backend_device *device, asr_backend_features *features, asr_backend_acoustic *acoustic,
                         const asr_step_job *jobs, size_t n_jobs, uint32_t buffer) {
    return step_with_rows(device, features, acoustic, jobs, nullptr, n_jobs, buffer);
  }

  static asr_status step_with_rows(asr_backend_device *device, asr_backend_features *features, asr_backend_acoustic *acoustic,
                                   const asr_step_job *jobs, float *const *rows, size_t n_jobs, uint32_t buffer) {
    return guard_on(device, [&](Device &d) {
      typename Platform::Signals &signals = signals_of(features);
      std::vector<SignalProgress *> progress;
      for (size_t j = 0; j < n_jobs; ++j) {
        progress.push_back(jobs[j].signal != nullptr ? of(jobs[j].signal).progress.get() : nullptr);
      }
      d.lanes.release(&of(acoustic).acoustic, buffer);
      signals.step(of(acoustic).acoustic, jobs, rows, progress, buffer, &d.returned_rows);
    });
  }

  static asr_status load_graph(asr_backend_device *device, const asr_graph_view *view, asr_backend_graph **graph, uint32_t *) {
    return guard_on(device, [&](Device &d) { *graph = new Graph(d, *view); });
  }

  static void free_graph(asr_backend_graph *graph) { delete static_cast<Graph *>(graph); }

  static asr_status channel_begin(asr_backend_device *device, asr_backend_graph *graph, const asr_search_options *options,
                                  asr_backend_channel **channel) {
    return guard_on(device, [&](Device &d) { *channel = new Channel{{}, &d, d.lanes.begin(of(graph).graph, *options)}; });
  }

  static void channel_end(asr_backend_channel *channel) {
    if (channel == nullptr) return;
    of(channel).device->lanes.end(std::move(of(channel).search));
    delete &of(channel);
  }

  static void check_rows(asr_backend_acoustic *acoustic, const asr_advance_job &job) {
    if (job.loglikes != nullptr || job.n_frames == 0) return;
    if (acoustic == nullptr) fail(ASR_INVALID_ARGUMENT, "advance: a job names a score buffer but there is no acoustic model");
    check_model(of(job.channel).search->n_pdfs(), of(acoustic).acoustic.n_states());
  }

  // Has rows scored for all states if a job's graph has some that they were not scored for.
  static void complete_scores(Device &d, typename Platform::Acoustic *acoustic, const asr_advance_job *jobs, size_t n_jobs) {
    bool lacks[2] = {false, false};
    const void *last[2] = {nullptr, nullptr};  // graphs: channels of one mostly come together
    for (size_t j = 0; j < n_jobs; ++j) {
      const asr_advance_job &job = jobs[j];
      if (job.loglikes != nullptr || job.n_frames == 0) continue;
      acoustic->check_rows("advance", job.buffer, job.first_row, job.n_frames);
      const auto &graph = of(job.channel).search->graph();
      if (std::exchange(last[job.buffer], &graph) == &graph) continue;
      if (acoustic->lacks_scores(job.buffer, graph.pdfs())) lacks[job.buffer] = true;
    }
    for (const uint32_t buffer : {0u, 1u}) {
      if (lacks[buffer]) score_whole(d, acoustic, buffer);
    }
  }

  static asr_status advance(asr_backend_device *device, asr_backend_acoustic *acoustic, const asr_advance_job *jobs,
                            size_t n_jobs) {
    return guard_on(device, [&](Device &d) {
      d.returned_rows.note_advance();
      std::vector<typename Platform::SearchLanes::Task> tasks;
      for (size_t j = 0; j < n_jobs; ++j) {
        const asr_advance_job &job = jobs[j];
        check_rows(acoustic, job);
        tasks.push_back({of(job.channel).search.get(), job.loglikes, job.buffer, job.first_row, job.n_frames, job.wants});
      }
      if (acoustic != nullptr) complete_scores(d, &of(acoustic).acoustic, jobs, n_jobs);
      d.lanes.start(acoustic != nullptr ? &of(acoustic).acoustic : nullptr, tasks);
    });
  }

  static asr_status outcome(asr_backend_device *, asr_backend_channel *channel) {
    return guard([&] { of(channel).search->check_outcome(); });
  }

  static std::vector<typename Platform::Search *> searches_of(asr_backend_channel *const *channels, size_t n_channels) {
    std::vector<typename Platform::Search *> searches;
    for (size_t i = 0; i < n_channels; ++i) searches.push_back(of(channels[i]).search.get());
    return searches;
  }

  static asr_status best_paths(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels,
                               uint32_t wants, asr_path *paths) {
    return guard_on(device, [&](Device &d) {
      if ((wants & ASR_WANTS_PIECE) == 0) return d.lanes.best_paths(searches_of(channels, n_channels), wants, paths);
      for (size_t i = 0; i < n_channels; ++i) of(channels[i]).search->path_piece(&paths[i]);
    });
  }

  static asr_status lattices(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels,
                             uint32_t wants, asr_raw_lattice *lattices) {
    return guard_on(device, [&](Device &d) {
      if ((wants & ASR_WANTS_PIECE) == 0) {
        return d.lanes.lattices(searches_of(channels, n_channels), (wants & ASR_WANTS_FINAL) != 0, lattices);
      }
      for (size_t i = 0; i < n_channels; ++i) d.lanes.lattice_piece(of(channels[i]).search.get(), &lattices[i]);
    });
  }
};

}  // namespace asr
