// SPDX-License-Identifier: Apache-2.0
// `senone bench statistics`: the time of a round's statistics (T1 and T2 of docs/equations.md) on the host's threads
// and on a device, and how many sums differ.
#include <cmath>
#include <memory>
#include <random>

#include "builder/train/device_sums.h"
#include "tools/bench.h"

namespace asr::tool {
namespace {

struct StatisticsBench {
  BenchOptions common;
  uint32_t n_states = 300, n_gaussians = 8, n_dims = 39, n_frames = 200000;
  bool full = false;
};

// Problem has rows of random states in runs of 8, about the means of their Gaussians.
class Problem {
 public:
  explicit Problem(const StatisticsBench &bench) {
    std::normal_distribution<double> normal;
    model_.full = bench.full;
    model_.n_dims = bench.n_dims;
    model_.streams.emplace_back();
    for (uint32_t i = 0; i < bench.n_dims; ++i) model_.streams[0].dims.push_back(i);
    for (uint32_t state = 0; state < bench.n_states; ++state) {
      train::Mixture mixture;
      mixture.occupancies.resize(bench.n_gaussians);
      mixture.weights.assign(bench.n_gaussians, 1.0 / bench.n_gaussians);
      for (uint32_t i = 0; i < bench.n_gaussians * bench.n_dims; ++i) mixture.means.push_back(1.5 * normal(random_));
      add_covariances(bench, &mixture);
      model_.mixtures.push_back(std::move(mixture));
      model_.state_mixture.push_back(state);
      model_.state_weight_row.push_back(0);
    }
    values_.reserve(size_t{bench.n_frames} * bench.n_dims);
    rows_.states.reserve(bench.n_frames);
    for (uint32_t frame = 0; frame < bench.n_frames; ++frame) {
      rows_.states.push_back(frame % 8 > 0 ? rows_.states.back() : static_cast<uint32_t>(random_() % bench.n_states));
      const double *const mean = &model_.mixtures[rows_.states.back()].means[random_() % bench.n_gaussians * bench.n_dims];
      for (uint32_t i = 0; i < bench.n_dims; ++i) values_.push_back(static_cast<float>(mean[i] + normal(random_)));
    }
    rows_.n_dims = bench.n_dims;
    rows_.values = values_.data();
  }

  // Sums, and returns each mixture's log-likelihood.
  std::vector<double> sum(train::DeviceSums *device, ThreadPool *pool) {
    std::vector<double> log_likelihoods(model_.mixtures.size());
    sum(device, pool, [&](size_t mixture, const train::Statistics &sums) { log_likelihoods[mixture] = sums.log_likelihood; });
    return log_likelihoods;
  }

  // Returns the statistics of all mixtures.
  std::vector<double> all_sums(train::DeviceSums *device, ThreadPool *pool) {
    std::vector<std::vector<double>> sums(model_.mixtures.size());
    sum(device, pool, [&](size_t mixture, const train::Statistics &statistics) {
      std::vector<double> *const to = &sums[mixture];
      for (const auto *from : {&statistics.occupancies, &statistics.first, &statistics.second}) {
        to->insert(to->end(), from->begin(), from->end());
      }
      to->push_back(statistics.log_likelihood);
    });
    std::vector<double> all;
    for (const std::vector<double> &of_mixture : sums) all.insert(all.end(), of_mixture.begin(), of_mixture.end());
    return all;
  }

 private:
  template <typename Take>
  void sum(train::DeviceSums *device, ThreadPool *pool, const Take &take) {
    rows_.device = device;
    train::sum_statistics(rows_, model_, model_.full, pool, take);
  }

  static void add_covariances(const StatisticsBench &bench, train::Mixture *mixture) {
    for (uint32_t k = 0; k < bench.n_gaussians; ++k) {
      for (uint32_t r = 0; r < bench.n_dims; ++r) {
        for (uint32_t c = 0; bench.full && c < r; ++c) mixture->covariances.push_back(0.5 / bench.n_dims);
        mixture->covariances.push_back(1 + 0.5 * r / bench.n_dims);
      }
    }
  }

  std::mt19937_64 random_{1};
  train::MixtureModel model_;
  std::vector<float> values_;
  train::TrainingRows rows_;
};

size_t n_different(const std::vector<double> &a, const std::vector<double> &b) {
  size_t n = a.size() == b.size() ? 0 : a.size();
  for (size_t i = 0; n < a.size() && i < a.size(); ++i) n += a[i] != b[i] ? 1 : 0;
  return n;
}

void run(const StatisticsBench &bench) {
  const DeviceEntry entry = choose_device(bench.common.device);
  const Device device(entry, backend_options(bench.common, 64));
  ThreadPool pool(bench.common.n_threads);
  Problem problem(bench);
  BenchReport report("statistics", bench.common, entry,
                     {{"by", "summed by", 0},
                      {"ms", "ms", 2},
                      {"median_ms", "median", 2},
                      {"frames_per_us", "frames/us", 2},
                      {"kernel_ms", "kernels ms", 3},
                      {"different", "sums that differ", 0}});
  report.option("states", bench.n_states);
  report.option("gaussians", bench.n_gaussians);
  report.option("dims", bench.n_dims);
  report.option("frames", bench.n_frames);
  report.option("full", bench.full);
  const std::vector<double> expected = problem.all_sums(nullptr, &pool);
  const auto add_row = [&](const std::string &by, const Timing &time, const nlohmann::json &kernel_ms, size_t different) {
    report.row({by, 1e3 * time.min_s, 1e3 * time.median_s, 1e-6 * bench.n_frames / time.min_s, kernel_ms, different});
  };
  add_row(format("host, %u threads", pool.n_threads()),
          time_repeats(bench.common.n_repeats, [&] { problem.sum(nullptr, &pool); }), nullptr, 0);
  const std::unique_ptr<train::DeviceSums> sums = train::DeviceSums::of(device);
  if (sums == nullptr) report.note(entry.id + " has no statistics of its own: the host sums");
  if (sums != nullptr) {
    const auto sum = [&] { problem.sum(sums.get(), &pool); };
    const size_t different = n_different(problem.all_sums(sums.get(), &pool), expected);
    const Timing loading = time_repeats(bench.common.n_repeats, [&] {
      sums->forget_rows();
      sum();
    });
    add_row(entry.id + ", rows loaded", loading, nullptr, different);
    const Timing later = time_repeats(bench.common.n_repeats, sum);
    const std::optional<Timing> kernels = time_kernels(device, bench.common.n_repeats, sum);
    const nlohmann::json kernel_ms = kernels ? nlohmann::json(1e3 * kernels->min_s) : nlohmann::json(nullptr);
    add_row(entry.id + ", rows there", later, kernel_ms, different);
    if (!sums->failure().empty()) fail(ASR_DEVICE_LOST, "%s", sums->failure().c_str());
  }
  report.print();
}

void add_statistics(Command app) {
  const auto bench = std::make_shared<StatisticsBench>();
  Command command = app.command("statistics", "Statistics of a round of training, on the host and on a device");
  command.option("--states", bench->n_states, "States of the model").range(1u, 100000u).shows_default();
  command.option("--gaussians", bench->n_gaussians, "Gaussians of a state").range(1u, 4096u).shows_default();
  command.option("--dims", bench->n_dims, "Features of a frame").range(1u, 512u).shows_default();
  command.option("--frames", bench->n_frames, "Frames").range(1u, 100000000u).shows_default();
  command.flag("--full", bench->full, "Full covariances");
  bench->common.add_to(command);
  command.callback([bench] { run(*bench); });
}

const Benchmark kStatistics{"statistics", add_statistics};

}  // namespace
}  // namespace asr::tool
