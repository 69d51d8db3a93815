// SPDX-License-Identifier: Apache-2.0
// The CPU back end with the fused step, composed of extract, the core's features and score. So it gives the CPU's words
// bit for bit. It checks that the engine keeps the contract of `step`. Device stepping:N also has the fault kFaults[N].
// It is for tests/api/fused_step.cc, and for sanitizers, under which no GPU code runs.
#define asr_backend_entry cpu_backend_entry  // name of the CPU back end's entry in this plugin
#include "plugins/cpu/entry.cc"              // NOLINT(bugprone-suspicious-include): built in
#undef asr_backend_entry

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "core/backend/asr_backend_signals.h"
#include "core/feature/dynamic.h"
#include "core/feature/normalise.h"
#include "plugins/gpu/signals/signal_plan.h"

namespace {

using asr::fail;

struct Fault {
  const char *name;
  int nth_step;  // call that fails, from 1; 0: none
  asr_status status;
  bool makes_rows = true, serves_speakers = true;
  asr_status of_transforms = ASR_OK;  // result of set_transform
  asr_status of_wholes = ASR_OK;      // result of signal_begin of signals that are normalised as a whole
};
constexpr Fault kFaults[] = {{"steps", 0, ASR_OK},
                             {"a step fails", 3, ASR_INTERNAL},
                             {"is lost in a step", 3, ASR_DEVICE_LOST},
                             {"makes no rows", 0, ASR_OK, false},
                             {"serves no speakers", 0, ASR_OK, true, false},
                             {"a transform fails", 0, ASR_OK, true, true, ASR_INTERNAL},
                             {"a whole signal fails", 0, ASR_OK, true, true, ASR_OK, ASR_INTERNAL},
                             {"no room for whole signals", 0, ASR_OK, true, true, ASR_OK, ASR_OUT_OF_MEMORY}};

const asr_backend_api *g_cpu = nullptr;
const Fault *g_fault = &kFaults[0];
asr_backend_options g_options;
const asr_features_view *g_view = nullptr;  // view of the features loaded last
asr::DynamicsNumbers g_numbers;
std::vector<float> g_rows[2];  // rows of the score buffers
int g_n_steps = 0;
constexpr uint32_t kMaxWholeFrames = 150;  // some of the tests' streams have more

// Rows that `wait` returns, as they are without the transforms of signals.
struct ReturnedRows {
  float *to;
  std::vector<float> rows;
};
std::vector<ReturnedRows> g_returned;

// Throws if a call of the CPU back end failed within a call of this one.
void check_cpu(asr_status status) {
  if (status != ASR_OK) fail(status, "%s", g_cpu->last_error());
}

// Returns a front end with the settings that normalisation uses.
asr::FrontEnd normalisation_of(const asr_dynamics_view &dynamics) {
  asr::FrontEnd f;
  f.n_ceps = dynamics.n_ceps;
  f.cmn_lookahead_frames = 0;
  f.cmn_prior.assign(dynamics.prior_mean, dynamics.prior_mean + dynamics.n_ceps);
  f.cmn_prior_frames = dynamics.prior_frames, f.cmn_window_frames = dynamics.window_frames;
  f.cmn_variance = dynamics.whole_variance != 0;
  f.cmn_skip_negative_c0 = dynamics.counted_cepstrum >= 0, f.c0_last = dynamics.counted_cepstrum > 0;
  return f;
}

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  *n_devices = std::size(kFaults);
  for (size_t i = 0; i < capacity && i < *n_devices; ++i) {
    snprintf(infos[i].name, sizeof(infos[i].name), "%s", kFaults[i].name);
    infos[i].score = 1;
    infos[i].capabilities = ASR_BACKEND_LATTICES | ASR_BACKEND_PIECES | ASR_BACKEND_COMMON_PATH | ASR_BACKEND_PACKED_GRAPH;
  }
  return ASR_OK;
}

asr_status open(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  g_fault = &kFaults[index];
  g_options = *options;
  g_n_steps = 0;
  g_returned.clear();
  return g_cpu->open(0, options, device);
}

asr_status load_features(asr_backend_device *device, const asr_features_view *view, asr_backend_features **features) {
  g_view = view;
  return asr::guard([&] {
    g_numbers = asr::check_dynamics(*view, g_options.window_frames);
    g_numbers.n_whole = kMaxWholeFrames;
    check_cpu(g_cpu->load_features(device, view, features));
  });
}

asr::CmnKind kind_of(const asr_signal_options &options) {
  if (options.normalise_live != 0) return asr::CmnKind::kLive;
  return options.normalise_whole != 0 ? asr::CmnKind::kBatch : asr::CmnKind::kNone;
}

}  // namespace

struct asr_backend_signal {
  explicit asr_backend_signal(const asr_signal_options &options)
      : progress(g_numbers, g_view->n_warps, options, 0),
        normaliser(normalisation_of(*g_view->dynamics), kind_of(options)),
        dynamic(*g_view->dynamics) {}
  asr::SignalProgress progress;
  asr::Normaliser normaliser;
  asr::DynamicFeatures dynamic;
  asr::FeatureTransform transform;
};

namespace {

asr_status prepare(asr_backend_device *, asr_backend_features *, uint32_t *makes_rows) {
  *makes_rows = g_fault->makes_rows ? 1 : 0;
  return ASR_OK;
}

asr_status signal_begin(asr_backend_device *, asr_backend_features *, const asr_signal_options *options,
                        asr_backend_signal **signal) {
  return asr::guard([&] {
    if (!g_fault->makes_rows) fail(ASR_UNSUPPORTED, "signal_begin: this device makes no rows");
    if (options->normalise_whole != 0 && g_fault->of_wholes != ASR_OK) {
      fail(g_fault->of_wholes, "a fault of whole signals made for this test");
    }
    *signal = new asr_backend_signal(*options);
  });
}

void signal_end(asr_backend_signal *signal) { delete signal; }

asr_status set_transform(asr_backend_device *, asr_backend_signal *signal, const float *transform) {
  return asr::guard([&] {
    if (g_fault->of_transforms != ASR_OK) fail(g_fault->of_transforms, "a fault of transforms made for this test");
    const uint32_t n = g_numbers.n_dims;
    signal->transform = {};
    if (transform != nullptr) signal->transform = {n, {transform, transform + size_t{n} * (n + 1)}};
  });
}

// Appends the rows that a job of a signal requests. plain: where `wait` puts them without its transform; may be NULL.
void make_rows(asr_backend_device *device, asr_backend_features *features, const asr_step_job &job, float *plain,
               std::vector<float> *rows) {
  asr_backend_signal &signal = *job.signal;
  signal.progress.check(job);
  const asr::SignalJob taken = signal.progress.take(job);
  std::vector<float> cepstra(size_t{job.n_frames} * g_view->n_ceps), normalised;
  const asr_extract_job extract{job.samples, taken.first_frame, job.n_frames, signal.progress.warp(), cepstra.data()};
  if (job.n_frames > 0) check_cpu(g_cpu->extract(device, features, &extract, 1));
  signal.normaliser.push(cepstra.data(), job.n_frames, &normalised);
  if (taken.ends != 0 && taken.ended == 0) {
    signal.normaliser.finish(&normalised);
    while (signal.normaliser.take(&normalised)) {
    }
  }
  signal.dynamic.push(normalised.data(), normalised.size() / g_view->n_ceps);
  if (taken.ends != 0 && taken.ended == 0) signal.dynamic.finish();
  std::vector<float> made(signal.dynamic.rows(), signal.dynamic.rows() + size_t{job.n_rows} * g_numbers.n_dims);
  signal.dynamic.consume(job.n_rows);
  if (plain != nullptr) g_returned.push_back({plain, made});
  signal.transform.apply(made.data(), job.n_rows);
  rows->insert(rows->end(), made.begin(), made.end());
}

asr_status step_with_rows(asr_backend_device *device, asr_backend_features *features, asr_backend_acoustic *acoustic,
                          const asr_step_job *jobs, float *const *plain, size_t n_jobs, uint32_t buffer) {
  return asr::guard([&] {
    if (++g_n_steps == g_fault->nth_step) fail(g_fault->status, "a fault made for this test");
    const uint32_t n_rows = asr::check_step_rows(jobs, n_jobs, g_options.max_lanes * g_options.window_frames);
    std::vector<float> &rows = g_rows[buffer];
    rows.clear();
    for (size_t i = 0; i < n_jobs; ++i) {
      if (jobs[i].signal != nullptr) {
        make_rows(device, features, jobs[i], plain != nullptr ? plain[i] : nullptr, &rows);
      } else {
        rows.insert(rows.end(), jobs[i].rows, jobs[i].rows + size_t{jobs[i].n_rows} * g_numbers.n_dims);
      }
    }
    const asr_score_job score{acoustic, rows.data(), n_rows, buffer, nullptr};
    check_cpu(g_cpu->score(device, &score, 1));
  });
}

asr_status step(asr_backend_device *device, asr_backend_features *features, asr_backend_acoustic *acoustic,
                const asr_step_job *jobs, size_t n_jobs, uint32_t buffer) {
  return step_with_rows(device, features, acoustic, jobs, nullptr, n_jobs, buffer);
}

asr_status wait(asr_backend_device *device, uint32_t n_left) {
  for (const ReturnedRows &returned : g_returned) std::copy(returned.rows.begin(), returned.rows.end(), returned.to);
  g_returned.clear();
  return g_cpu->wait(device, n_left);
}

const asr_backend_signals_api kSignals = {sizeof kSignals, prepare,        signal_begin,    signal_end, step,
                                          set_transform,   step_with_rows, kMaxWholeFrames, 0};
// The table of a back end that was built before speakers were served.
const asr_backend_signals_api kOldSignals = {
    offsetof(asr_backend_signals_api, set_transform), prepare, signal_begin, signal_end, step, nullptr, nullptr, 0, 0};
const void *extension(const char *name) {
  if (strcmp(name, ASR_BACKEND_SIGNALS) != 0) return nullptr;
  return g_fault->serves_speakers ? &kSignals : &kOldSignals;
}

}  // namespace

extern "C" ASR_API const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host);

const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host) {
  static asr_backend_api api;
  g_cpu = cpu_backend_entry(host_abi, host);
  if (g_cpu == nullptr) return nullptr;
  api = *g_cpu;
  api.name = "stepping";
  api.probe = probe;
  api.open = open;
  api.load_features = load_features;
  api.wait = wait;
  api.extension = extension;
  return &api;
}
