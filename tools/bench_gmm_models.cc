// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_gmm_models.h"

#include <algorithm>
#include <memory>

#include "core/backend/asr_backend_fusion.h"

namespace asr::tool {
namespace {

// Models on one device; all score the same features, as in model fusion (Vaněk et al. 2012a).
class Models {
 public:
  Models(const DeviceEntry &entry, const GmmModelsBench &bench)
      : device_(entry, backend_options(bench.common, bench.n_frames, 1, bench.model_bits)),
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
  bool can_fuse() const { return fusion_ != nullptr; }

  enum class Then { kNothing, kFetch, kFuse };

  // Uses both buffers in turn; then copies the rows to the host, or fuses the models' rows (G6 with equal weights).
  void score(uint32_t window, bool together, Then then) {
    std::vector<asr_score_job> jobs(acoustics_.size());
    for (uint32_t t = 0; t < n_frames_; t += window) {
      for (size_t i = 0; i < jobs.size(); ++i) {
        jobs[i] = {acoustics_[i], features_.data() + size_t{t} * n_dims_, std::min(window, n_frames_ - t), t / window % 2,
                   then == Then::kFetch ? loglikes_[i].data() + size_t{t} * n_states_ : nullptr};
      }
      const size_t n_at_once = together ? jobs.size() : 1;
      for (size_t i = 0; i < jobs.size(); i += n_at_once) {
        device_.check(device_.api()->score(device_.get(), &jobs[i], n_at_once));
      }
      if (then == Then::kFuse) fuse(jobs[0].n_rows, jobs[0].buffer);
    }
    device_.check(device_.api()->wait(device_.get(), 0));
  }

 private:
  void fuse(uint32_t n_rows, uint32_t buffer) {
    const float weight = 1.0f / static_cast<float>(acoustics_.size());
    std::vector<asr_fuse_term> terms;
    for (asr_backend_acoustic *acoustic : acoustics_) terms.push_back({acoustic, 0, weight});
    const asr_fuse_job job{terms.data(), static_cast<uint32_t>(terms.size()), ASR_FUSE_LOG_SUM, 0, n_rows};
    device_.check(fusion_->fuse(device_.get(), acoustics_[0], &job, 1, buffer, nullptr));
  }

  Device device_;
  const asr_backend_fusion_api *fusion_ = extension_of<asr_backend_fusion_api>(*device_.api(), ASR_BACKEND_FUSION);
  uint32_t n_frames_, n_dims_ = 0, n_states_ = 0;
  std::vector<float> features_;
  std::vector<asr_backend_acoustic *> acoustics_;
  std::vector<std::vector<float>> loglikes_;
};

}  // namespace

void run_gmm_models(const GmmModelsBench &bench) {
  using Then = Models::Then;
  const DeviceEntry entry = choose_device(bench.common.device);
  Models models(entry, bench);
  GmmModelsBench one_bench = bench;
  one_bench.n_models = 1;
  one_bench.model.min_gaussians *= bench.n_models, one_bench.model.max_gaussians *= bench.n_models;
  Models one(entry, one_bench);
  BenchReport report("gmm_models", bench.common, entry,
                     {{"window", "window", 0},
                      {"us_per_window_each", "us/window, a call each", 1},
                      {"us_per_window_together", "in one call", 1},
                      {"us_per_window_fused", "fused there", 1},
                      {"us_per_window_one", "one model of all Gaussians", 1},
                      {"kernel_us_each", "kernel us, a call each", 1},
                      {"kernel_us_together", "in one call", 1},
                      {"kernel_us_fused", "fused there", 1},
                      {"kernel_us_one", "one model", 1},
                      {"kernel_ratio", "fused to one", 2}});
  report.option("models", bench.n_models);
  report.option("states", bench.model.n_states);
  report.option("gaussians", bench.model.max_gaussians);
  report.option("dims", bench.model.stream_dims[0]);
  report.option("frames", bench.n_frames);
  report.option("model_bits", bench.model_bits);
  for (const uint32_t window : bench.windows) {
    const double scale = 1e6 * window / bench.n_frames;
    const auto us = [&](Models &of, bool together, Then then) {
      return scale * time_repeats(bench.common.n_repeats, [&] { of.score(window, together, then); }).min_s;
    };
    const auto kernel_us = [&](Models &of, bool together, Then then) {
      const auto time = time_kernels(of.device(), bench.common.n_repeats, [&] { of.score(window, together, then); });
      return time ? nlohmann::json(scale * time->median_s) : nlohmann::json();
    };
    std::vector<nlohmann::json> row = {window, us(models, false, Then::kFetch), us(models, true, Then::kFetch)};
    row.push_back(models.can_fuse() ? nlohmann::json(us(models, true, Then::kFuse)) : nlohmann::json());
    row.push_back(us(one, true, Then::kNothing));
    row.push_back(kernel_us(models, false, Then::kNothing));
    row.push_back(kernel_us(models, true, Then::kNothing));
    row.push_back(models.can_fuse() ? kernel_us(models, true, Then::kFuse) : nlohmann::json());
    row.push_back(kernel_us(one, true, Then::kNothing));
    const bool measured = !row[7].is_null() && !row[8].is_null();
    row.push_back(measured ? nlohmann::json(row[7].get<double>() / row[8].get<double>()) : nlohmann::json());
    report.row(row);
  }
  report.print();
}

}  // namespace asr::tool
