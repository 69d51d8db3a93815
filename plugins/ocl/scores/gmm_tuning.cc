// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/scores/gmm_tuning.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "plugins/ocl/runtime/program_cache.h"
#include "plugins/ocl/scores/gmm.h"

namespace asr::gpu {
namespace {

constexpr uint32_t kWindows[] = {8, 64, 256};
constexpr uint32_t kRepeats = 10;

std::string describe(const GmmTuning &t) {
  std::string tiles;
  for (const uint32_t rows : t.tile_rows) tiles += (tiles.empty() ? "" : "/") + std::to_string(rows);
  return format("%u lanes in %u parts, %s rows, groups of %u, shared by %u x %u", t.lanes, t.parts, tiles.c_str(), t.group_size,
                t.shared_rows, t.shared_entries);
}

// Returns a key of the candidates, the device and its driver: a change of any makes a stored choice void.
std::string cache_key(const Device &device, bool full) {
  std::string key = format("tuning of %s for %s covariances; %s", device.variant().name, full ? "full" : "diagonal",
                           device.facts().driver.c_str());
  for (const GmmTuning &candidate : device.variant().gmm_tunings(device.facts(), full)) key += "; " + describe(candidate);
  return key;
}

// Returns the seconds that one window takes, the least of several runs.
double time_of(Device &device, Gmm &gmm, uint32_t n_rows) {
  const Array<float> features(device.context(), std::vector<float>(size_t{n_rows} * gmm.n_dims(), 0.5f));
  const Array<float> scores(device.context(), size_t{n_rows} * gmm.n_states());
  double least = INFINITY;
  for (uint32_t i = 0; i <= kRepeats; ++i) {
    device.compute().kernel_seconds();
    Gmm::score(device, {{&gmm, &features, n_rows, &scores}});
    device.compute().finish();
    if (i > 0) least = std::min(least, device.compute().kernel_seconds());
  }
  return least;
}

}  // namespace

GmmTuning chosen_tuning(const Device &device, bool full) {
  const std::vector<GmmTuning> candidates = device.variant().gmm_tunings(device.facts(), full);
  const std::string wanted = ProgramCache().load(cache_key(device, full));
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const auto &c) { return describe(c) == wanted; });
  return found != candidates.end() ? *found : candidates.front();
}

std::string tune(Device &device, const asr_acoustic_view &view) {
  const bool full = view.covariance == ASR_COVARIANCE_FULL;
  std::string report, best;
  double least = INFINITY;
  for (const GmmTuning &candidate : device.variant().gmm_tunings(device.facts(), full)) {
    Gmm gmm(device, view, candidate, std::nullopt);
    double product = 1;
    report += describe(candidate) + ":";
    for (const uint32_t window : kWindows) {
      const double seconds = time_of(device, gmm, window);
      product *= seconds;
      report += format(" %.4f ms", 1e3 * seconds);
    }
    report += "\n";
    if (product < least) {
      least = product;
      best = describe(candidate);
    }
  }
  ProgramCache().store(cache_key(device, full), best);
  return report + "chosen: " + best + "\n";
}

}  // namespace asr::gpu
