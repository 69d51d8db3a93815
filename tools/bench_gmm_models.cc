// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_gmm_models.h"

#include <algorithm>
#include <memory>

namespace asr::tool {
namespace {

// Models on one device; all score the same features, as in model fusion (paper 000).
class Models {
 public:
  Models(const DeviceEntry &entry, const GmmModelsBench &bench)
      : device_(entry, backend_options(bench.common, bench.n_frames)),
        n_frames_(bench.n_frames),
        features_(reference::random_features(bench.model, bench.n_frames)) {
    for (uint32_t i = 0; i < bench.n_models; ++i) {
      reference::RandomGmm options = bench.model;
      options.seed += i;
      const AcousticModel model = reference::random_gmm(options);
      const AcousticView view(model);
      n_dims_ = model.n_dims, n_states_ = model.n_states;
      device_.check(device_.api()->load_acoustic(device_.get(), view.get(), &acoustics_.emplace_back()));
      loglikes_.emplace_back(size_t{n_frames_} * n_states_);
    }
  }
  ~Models() {
    for (asr_backend_acoustic *acoustic : acoustics_) device_.api()->free_acoustic(acoustic);
  }
  Models(const Models &) = delete;
  Models &operator=(const Models &) = delete;

  const Device &device() const { return device_; }

  // Uses both buffers in turn; copies rows to the host if `fetch`.
  void score(uint32_t window, bool together, bool fetch) {
    std::vector<asr_score_job> jobs(acoustics_.size());
    for (uint32_t t = 0; t < n_frames_; t += window) {
      for (size_t i = 0; i < jobs.size(); ++i) {
        jobs[i] = {acoustics_[i], features_.data() + size_t{t} * n_dims_, std::min(window, n_frames_ - t), t / window % 2,
                   fetch ? loglikes_[i].data() + size_t{t} * n_states_ : nullptr};
      }
      const size_t n_at_once = together ? jobs.size() : 1;
      for (size_t i = 0; i < jobs.size(); i += n_at_once) {
        device_.check(device_.api()->score(device_.get(), &jobs[i], n_at_once));
      }
    }
    device_.check(device_.api()->wait(device_.get(), 0));
  }

 private:
  Device device_;
  uint32_t n_frames_, n_dims_ = 0, n_states_ = 0;
  std::vector<float> features_;
  std::vector<asr_backend_acoustic *> acoustics_;
  std::vector<std::vector<float>> loglikes_;
};

}  // namespace

void run_gmm_models(const GmmModelsBench &bench) {
  const DeviceEntry entry = choose_device(bench.common.device);
  Models models(entry, bench);
  BenchReport report("gmm_models", bench.common, entry,
                     {{"window", "window", 0},
                      {"us_per_window_each", "us/window, a call each", 1},
                      {"us_per_window_together", "in one call", 1},
                      {"gain", "gain", 2},
                      {"kernel_us_each", "kernel us, a call each", 1},
                      {"kernel_us_together", "in one call", 1},
                      {"kernel_gain", "gain", 2}});
  report.option("models", bench.n_models);
  report.option("states", bench.model.n_states);
  report.option("gaussians", bench.model.max_gaussians);
  report.option("dims", bench.model.stream_dims[0]);
  report.option("frames", bench.n_frames);
  for (const uint32_t window : bench.windows) {
    const double scale = 1e6 * window / bench.n_frames;
    double us[2], kernel_us[2];
    bool measured = true;
    for (const bool together : {false, true}) {
      us[together] = scale * time_repeats(bench.common.n_repeats, [&] { models.score(window, together, true); }).min_s;
      const std::optional<Timing> kernels =
          time_kernels(models.device(), bench.common.n_repeats, [&] { models.score(window, together, false); });
      measured = measured && kernels;
      kernel_us[together] = kernels ? scale * kernels->median_s : 0;
    }
    std::vector<nlohmann::json> row = {window, us[0], us[1], us[0] / us[1]};
    if (measured) row.insert(row.end(), {kernel_us[0], kernel_us[1], kernel_us[0] / kernel_us[1]});
    row.resize(7);
    report.row(row);
  }
  report.print();
}

}  // namespace asr::tool
