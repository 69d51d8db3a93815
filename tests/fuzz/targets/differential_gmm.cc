// SPDX-License-Identifier: Apache-2.0
// Compares scores of every usable back end with the double-precision reference. The model is an acoustic.bin in the input,
// damaged or not, and the rows are numbers after it.
#include <cmath>
#include <cstring>
#include <limits>

#include "core/model/acoustic_model.h"
#include "reference/gmm.h"
#include "reference/random_gmm.h"
#include "tests/fuzz/search_problem.h"
#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {
namespace {

constexpr uint32_t kMaxRows = 20;
constexpr uint64_t kMaxNumbers = 20000;

std::string packed(const std::vector<float> &rows) {
  return std::string(reinterpret_cast<const char *>(rows.data()), rows.size() * sizeof(float));
}

std::vector<float> unpack(const std::string &bytes) {
  std::vector<float> rows(bytes.size() / sizeof(float));
  if (!rows.empty()) memcpy(rows.data(), bytes.data(), rows.size() * sizeof(float));
  return rows;
}

std::vector<float> score(const Device &device, const AcousticView &view, const std::vector<float> &rows, uint32_t n_rows) {
  const asr_backend_api &api = *device.api();
  asr_backend_acoustic *acoustic = nullptr;
  device.check(api.load_acoustic(device.get(), view.get(), &acoustic));
  const std::unique_ptr<asr_backend_acoustic, decltype(api.free_acoustic)> owned(acoustic, api.free_acoustic);
  std::vector<float> scores(size_t{n_rows} * view.get()->n_states);
  for (uint32_t t = 0; t < n_rows; t += kWindow) {
    const uint32_t n = std::min(kWindow, n_rows - t);
    const asr_score_job job{acoustic, rows.data() + size_t{t} * view.get()->n_dims, n, 0,
                            scores.data() + size_t{t} * view.get()->n_states};
    device.check(api.score(device.get(), &job, 1));
    device.check(api.wait(device.get(), 0));
  }
  return scores;
}

// For values whose squares exceed a float, only wrong signs and non-finite numbers are findings.
constexpr double kMaxExact = 1e4;
constexpr double kMaxDeviations = 1000;  // within which a back end keeps its tolerance

bool moderate(const AcousticModel &model, const std::vector<float> &rows) {
  const auto small = [](const std::vector<float> &values, double least) {
    return std::all_of(values.begin(), values.end(),
                       [&](float v) { return std::abs(double{v}) <= kMaxExact && (v == 0 || std::abs(double{v}) >= least); });
  };
  const bool weights = std::all_of(model.log_weights.begin(), model.log_weights.end(),
                                   [](float w) { return std::isinf(w) || std::abs(double{w}) <= kMaxExact; });
  if (!small(model.means, 0) || !small(model.precisions, 1e-3) || !small(rows, 0) || !weights) return false;
  // Deviations from the features' centre, which is among the means, to the outermost mean (G4 of docs/equations.md).
  const auto most = [](const std::vector<float> &values) {
    double largest = 0;
    for (const float v : values) largest = std::max(largest, std::abs(double{v}));
    return largest;
  };
  return 2 * most(model.means) * std::sqrt(most(model.precisions)) <= kMaxDeviations;
}

}  // namespace

void score_all(const std::string &bytes) {
  const std::vector<std::string> pieces = split(bytes, 2);
  const AcousticModel model = read_acoustic_model(file("acoustic.bin", pieces[0]));
  const std::vector<float> rows = unpack(pieces[1]);
  const auto n_rows = static_cast<uint32_t>(std::min<size_t>(rows.size() / model.n_dims, kMaxRows));
  if (n_rows == 0 || model.means.size() + model.log_weights.size() > kMaxNumbers) return;
  const AcousticView view(model);
  const bool exact = moderate(model, rows);
  for (const auto &device : devices()) {
    const std::vector<float> scores = score(*device, view, rows, n_rows);
    for (uint32_t t = 0; exact && t < n_rows; ++t) {
      for (uint32_t s = 0; s < model.n_states; ++s) {
        const double expected = reference::log_likelihood(*view.get(), s, rows.data() + size_t{t} * model.n_dims);
        const double found = double{scores[size_t{t} * model.n_states + s]};
        if (std::abs(found - expected) <= 2e-3 + 1e-4 * std::abs(expected) || found == expected) continue;
        finding("%s: row %u, state %u: %.9g instead of %.9g", device->entry().id.c_str(), t, s, found, expected);
      }
    }
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  const std::string path = directory() + "/acoustic.bin";
  const auto add = [&](const AcousticModel &model, const std::vector<float> &rows) {
    write_acoustic_model(model, path);
    all.push_back(join({test::slurp(path), packed(rows)}));
  };
  for (const asr_covariance covariance : {ASR_COVARIANCE_DIAGONAL, ASR_COVARIANCE_FULL}) {
    add(test::small_acoustic_model(covariance), {1, 2, 3, -1, 0, 0.5f});
    reference::RandomGmm options;
    options.covariance = covariance;
    options.n_states = 3;
    options.max_gaussians = 3;
    options.stream_dims = {3};
    add(reference::random_gmm(options), reference::random_features(options, 3));
  }
  return all;
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  const fuzz::Budget budget = {600, 4096, 60, 1000};  // PoCL compiles kernels once
  return fuzz::run(data, size, budget, fuzz::score_all);
}
