// SPDX-License-Identifier: Apache-2.0
// Implements `senone bench gmm` and `senone bench fullgmm`: log-likelihoods of a random model through the back end's
// `score`, in the papers' units. They are compared with the double reference and OpenBLAS.
#include <algorithm>
#include <cmath>

#include "core/base/limits.h"
#include "reference/gmm.h"
#include "reference/random_gmm.h"
#include "tools/bench.h"
#include "tools/bench_gmm_blas.h"
#include "tools/bench_gmm_models.h"

namespace asr::tool {
namespace {

struct GmmBench {
  BenchOptions common;
  asr_covariance covariance;
  uint32_t n_states = 5000, n_gaussians = 16, n_dims = 36, n_frames = 256, model_bits = 32, n_models = 1;
  std::vector<uint32_t> windows = {8, 64, 256};
  uint64_t seed = 1;
  float cluster_share = 1;
  uint32_t n_graph_states = 0;
  bool blas = true, tune = false;
};

constexpr uint32_t kCheckedScores = 2000;

// Returns the papers' count of floating-point operations per Gaussian and frame (Vaněk et al. 2012a, 2012b).
double operations_per_gaussian(const GmmBench &bench) {
  const double d = bench.n_dims;
  return (bench.covariance == ASR_COVARIANCE_FULL ? 5 * d * (d - 1) / 2 : 0) + 4 * d + 9;
}

asr_backend_options options_of(const GmmBench &bench) {
  asr_backend_options options = backend_options(bench.common, bench.n_frames, 1, bench.model_bits);
  options.cluster_share = bench.cluster_share;
  return options;
}

// DeviceScorer owns a model on a device and scores it a window at a time, like the engine.
class DeviceScorer {
 public:
  DeviceScorer(const DeviceEntry &entry, const GmmBench &bench, const asr_acoustic_view *view)
      : device_(entry, options_of(bench)), n_dims_(bench.n_dims), n_states_(bench.n_states) {
    if (bench.cluster_share < 1 && !device_.has(ASR_BACKEND_CLUSTERS))
      throw UsageError("--cluster-share: " + entry.id + " scores all states; use the CPU");
    device_.check(device_.api()->load_acoustic(device_.get(), view, &acoustic_));
  }
  ~DeviceScorer() {
    device_.api()->channel_end(channel_);
    device_.api()->free_graph(graph_);
    device_.api()->free_acoustic(acoustic_);
  }
  DeviceScorer(const DeviceScorer &) = delete;
  DeviceScorer &operator=(const DeviceScorer &) = delete;

  const Device &device() const { return device_; }

  // Uses both buffers in turn; copies every window's rows to the host unless loglikes is NULL.
  void score(const std::vector<float> &features, uint32_t n_frames, uint32_t window, float *loglikes) {
    for (uint32_t t = 0; t < n_frames; t += window) {
      const asr_score_job job{acoustic_, features.data() + size_t{t} * n_dims_, std::min(window, n_frames - t), t / window % 2,
                              loglikes != nullptr ? loglikes + size_t{t} * n_states_ : nullptr};
      device_.check(device_.api()->score(device_.get(), &job, 1));
    }
    device_.check(device_.api()->wait(device_.get(), 0));
  }

  // Searches a graph with n of the states, so that the device may score these alone where the host wants no scores.
  void search_some(uint32_t n, const std::vector<float> &features) {
    emitting_begin_[1] = epsilon_begin_[0] = epsilon_begin_[1] = n;
    for (uint32_t i = 0; i < n; ++i) {
      arcs_.push_back({0, i + 1, 0, 0});
      pdf_of_.push_back(static_cast<uint32_t>(uint64_t{i} * n_states_ / n));
    }
    asr_graph_view view{};
    view.size = sizeof view;
    view.n_states = 1, view.n_transition_ids = n, view.n_pdfs = n_states_, view.n_arcs = n;
    view.emitting_begin = emitting_begin_, view.epsilon_begin = epsilon_begin_, view.arcs = arcs_.data();
    view.final_costs = &final_cost_, view.pdf_of = pdf_of_.data();
    uint32_t in_use = 1;
    device_.require_search();
    device_.check(device_.api()->load_graph(device_.get(), &view, &graph_, &in_use));
    asr_search_options options{};
    options.size = sizeof options;
    options.beam = 10, options.acoustic_scale = 1, options.max_active = 1000;
    device_.check(device_.api()->channel_begin(device_.get(), graph_, &options, &channel_));
    const asr_score_job job{acoustic_, features.data(), 1, 0, nullptr};
    device_.check(device_.api()->score(device_.get(), &job, 1));
    const asr_advance_job advance{channel_, nullptr, 0, 0, 1, 0};
    device_.check(device_.api()->advance(device_.get(), acoustic_, &advance, 1));
    device_.check(device_.api()->wait(device_.get(), 0));
  }

 private:
  Device device_;
  asr_backend_acoustic *acoustic_ = nullptr;
  asr_backend_graph *graph_ = nullptr;
  asr_backend_channel *channel_ = nullptr;
  uint32_t emitting_begin_[2] = {0, 0}, epsilon_begin_[2] = {0, 0};  // the graph: one state with an arc to itself for each
  std::vector<asr_graph_arc> arcs_;
  std::vector<uint32_t> pdf_of_ = {0};
  float final_cost_ = 0;
  uint32_t n_dims_, n_states_;
};

// Compares scores spread evenly over frames and states.
double largest_error(const asr_acoustic_view &view, const std::vector<float> &features, const std::vector<float> &loglikes) {
  double largest = 0;
  const size_t step = std::max<size_t>(1, loglikes.size() / kCheckedScores) | 1;
  for (size_t i = 0; i < loglikes.size(); i += step) {
    const size_t t = i / view.n_states;
    const double expected = reference::log_likelihood(view, uint32_t(i % view.n_states), features.data() + t * view.n_dims);
    largest = std::max(largest, std::abs(loglikes[i] - expected));
  }
  return largest;
}

// Returns the back end's measurements and choice for models like this one.
std::string tune(const DeviceEntry &entry, const GmmBench &bench, const asr_acoustic_view *view) {
  const auto *const slots = extension_of<asr_backend_bench_api>(*entry.api, ASR_BACKEND_BENCH);
  if (slots == nullptr || slots->tune == nullptr) throw UsageError("--tune: " + entry.id + " has nothing to choose from");
  const Device device(entry, backend_options(bench.common, bench.n_frames));
  const char *report = nullptr;
  device.check(slots->tune(device.get(), view, &report));
  return report;
}

void run(const GmmBench &bench) {
  reference::RandomGmm random;
  random.covariance = bench.covariance;
  random.n_states = bench.n_states;
  random.stream_dims = {bench.n_dims};
  random.min_gaussians = random.max_gaussians = bench.n_gaussians;
  random.seed = bench.seed;
  if (bench.n_graph_states > bench.n_states) throw UsageError("--graph-states: the model has fewer; raise --states");
  if (bench.n_models > 1 && (bench.cluster_share < 1 || bench.n_graph_states > 0))
    throw UsageError("--models: several models are scored whole; leave out --cluster-share and --graph-states");
  if (bench.n_models > 1)
    return run_gmm_models({bench.common, random, bench.n_models, bench.n_frames, bench.model_bits, bench.windows});
  const AcousticModel model = reference::random_gmm(random);
  const AcousticView view(model);
  const std::vector<float> features = reference::random_features(random, bench.n_frames);
  std::vector<float> loglikes(size_t{bench.n_frames} * bench.n_states), blas_loglikes(loglikes.size());

  const DeviceEntry entry = choose_device(bench.common.device);
  const std::string tuned = bench.tune ? tune(entry, bench, view.get()) : "";
  DeviceScorer device(entry, bench, view.get());
  if (bench.n_graph_states > 0) device.search_some(bench.n_graph_states, features);
  BenchReport report(bench.covariance == ASR_COVARIANCE_FULL ? "fullgmm" : "gmm", bench.common, entry,
                     {{"window", "window", 0},
                      {"us_per_frame", "us/frame", 1},
                      {"us_per_frame_median", "median", 1},
                      {"gflops", "GFLOPS", 1},
                      {"rtf", "RTF", 4},
                      {"kernel_ms_per_window", "kernel ms/window", 4},
                      {"kernel_gflops", "GFLOPS", 1},
                      {"largest_error", "error", -1},
                      {"openblas_us_per_frame", "OpenBLAS us/frame", 1},
                      {"openblas_largest_error", "error", -1},
                      {"openblas_ratio", "ratio", 2}});
  report.option("states", bench.n_states);
  report.option("gaussians", bench.n_gaussians);
  report.option("dims", bench.n_dims);
  report.option("frames", bench.n_frames);
  report.option("seed", bench.seed);
  report.option("model_bits", bench.model_bits);
  report.option("cluster_share", bench.cluster_share);
  report.option("graph_states", bench.n_graph_states);

  if (bench.tune) report.note(tuned);
  std::unique_ptr<BlasScorer> blas;
  if (bench.blas) blas = std::make_unique<BlasScorer>(*view.get());
  if (blas && !blas->missing().empty()) report.note(blas->missing());
  if (blas && blas->missing().empty()) {
    report.note("OpenBLAS " + blas->kernels() + ", one thread: sgemm of the expanded features, vectorised log-sum-exp");
  }
  for (uint32_t window : bench.windows) {
    const auto us = [&](double seconds) { return 1e6 * seconds / bench.n_frames; };
    const Timing time =
        time_repeats(bench.common.n_repeats, [&] { device.score(features, bench.n_frames, window, loglikes.data()); });
    const std::optional<Timing> kernels =
        time_kernels(device.device(), bench.common.n_repeats, [&] { device.score(features, bench.n_frames, window, nullptr); });
    nlohmann::json blas_us, blas_error, ratio, kernel_ms, kernel_gflops;
    if (blas && blas->missing().empty()) {
      const Timing blas_time = time_repeats(bench.common.n_repeats, [&] {
        for (uint32_t t = 0; t < bench.n_frames; t += window) {
          blas->score(features.data() + size_t{t} * bench.n_dims, std::min(window, bench.n_frames - t),
                      blas_loglikes.data() + size_t{t} * bench.n_states);
        }
      });
      blas_us = us(blas_time.min_s);
      blas_error = largest_error(*view.get(), features, blas_loglikes);
      ratio = blas_time.min_s / time.min_s;
    }
    const double operations = double(bench.n_states) * bench.n_gaussians * operations_per_gaussian(bench);
    if (kernels) {
      kernel_ms = 1e3 * kernels->median_s * window / bench.n_frames;
      kernel_gflops = operations / us(kernels->median_s) / 1e3;
    }
    nlohmann::json error;  // none where states are estimated
    if (bench.cluster_share == 1) error = largest_error(*view.get(), features, loglikes);
    report.row({window, us(time.min_s), us(time.median_s), operations / us(time.min_s) / 1e3, us(time.min_s) / 1e4, kernel_ms,
                kernel_gflops, error, blas_us, blas_error, ratio});
  }
  report.print();
}

void add(Command app, const char *name, const char *what, asr_covariance covariance) {
  const auto bench = std::make_shared<GmmBench>();
  bench->covariance = covariance;
  Command command = app.command(name, what);
  const uint32_t most = 100000000;
  command.option("--states", bench->n_states, "States of the model").range(1u, most).shows_default();
  command.option("--gaussians", bench->n_gaussians, "Gaussians of a state").range(1u, most).shows_default();
  command.option("--dims", bench->n_dims, "Features of a frame").range(1, 1000).shows_default();
  command.option("--window", bench->windows, "Frames scored at once; several make several rows")
      .range(1u, most)
      .shows_default();
  command.option("--frames", bench->n_frames, "Frames in all").range(1u, most).shows_default();
  command.option("--seed", bench->seed, "Of the random model").shows_default();
  command.option("--model-bits", bench->model_bits, "Of a parameter on the device; 16: half the model, where it can")
      .one_of({16u, 32u})
      .shows_default();
  command
      .option("--cluster-share", bench->cluster_share,
              "Of the clusters of states, those that a frame scores (asr_engine_config.cluster_share); 1: all. CPU only")
      .range(0.0001, 1.0)
      .shows_default();
  command
      .option("--graph-states", bench->n_graph_states,
              "Kernel times of scores that only the search of a graph with so many of the states reads; 0: of all scores")
      .range(0u, most)
      .shows_default();
  command.option("--models", bench->n_models, "Several: in one call, a call for each, and fused; and nothing else")
      .range(1u, static_cast<uint32_t>(kMaxModels))
      .shows_default();
  command.flag("!--no-openblas", bench->blas, "Do not compare with OpenBLAS");
  command.flag("--tune", bench->tune, "First choose the fastest way for this device, and keep the choice");
  bench->common.add_to(command);
  command.callback([bench] { run(*bench); });
}

void add_gmm(Command app) { add(app, "gmm", "Diagonal-covariance GMM scores", ASR_COVARIANCE_DIAGONAL); }
void add_full_gmm(Command app) { add(app, "fullgmm", "Full-covariance GMM scores", ASR_COVARIANCE_FULL); }

const Benchmark kGmm{"gmm", add_gmm};
const Benchmark kFullGmm{"fullgmm", add_full_gmm};

}  // namespace
}  // namespace asr::tool
