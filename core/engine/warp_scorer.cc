// SPDX-License-Identifier: Apache-2.0
#include "core/engine/warp_scorer.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/feature/cepstral_rows.h"
#include "core/feature/framer.h"

namespace asr {
namespace {

constexpr double kUnits = 1 << 16;              // units of the sums per 1
constexpr double kMaxLogLikelihood = 1 << 20;   // limit of a row: sums over days of speech fit

std::vector<double> warps() {
  std::vector<double> result;
  for (size_t i = 0; i < WarpScorer::kWarps; ++i) result.push_back(WarpScorer::warp(i));
  return result;
}

const FrontEnd &with_warps(const FrontEnd &front_end) {
  require_warps(front_end);
  return front_end;
}

asr_backend_options one_thread() {
  asr_backend_options options{};
  options.size = sizeof(options);
  options.max_lanes = 1;
  options.window_frames = 32;
  options.n_threads = 1;
  return options;
}

int64_t in_units(double log_likelihood) {
  return std::llround(kUnits * std::clamp(log_likelihood, -kMaxLogLikelihood, kMaxLogLikelihood));
}

}  // namespace

void require_warps(const FrontEnd &front_end) {
  if (standard_warps(front_end).size() > 1) return;
  fail(ASR_UNSUPPORTED, "the model's filter bank from %g to %g Hz is too narrow to be warped; use no other warp than 1",
       front_end.low_hz, front_end.high_hz);
}

WarpScorer::WarpScorer(const FrontEnd &front_end)
    : tables_(with_warps(front_end), warps()),
      device_(choose_device("cpu"), one_thread()),
      features_(load_features(device_, tables_.for_many_banks())) {}

WarpScorer::Cepstra WarpScorer::extract(const std::vector<float> &samples, size_t n_frames, size_t stride) const {
  Framer framer(tables_.front_end());
  framer.push(samples.data(), samples.size());
  framer.finish();
  n_frames = std::min<size_t>(n_frames, framer.ready_frames());
  Cepstra cepstra(kWarps);
  std::vector<asr_extract_job> jobs;
  for (size_t w = 0; w < kWarps; w += stride) {
    cepstra[w].resize(n_frames * tables_.view()->n_ceps);
    jobs.push_back(
        {framer.samples(), framer.next_frame(), static_cast<uint32_t>(n_frames), static_cast<uint32_t>(w), cepstra[w].data()});
  }
  const std::lock_guard lock(mutex_);
  device_.begin_thread();
  device_.check(device_.api()->extract(device_.get(), features_.get(), jobs.data(), jobs.size()));
  return cepstra;
}

size_t WarpScorer::score(const std::vector<float> &samples, const std::vector<uint32_t> &states, bool normalises, size_t stride,
                         const GaussianPosteriors &posteriors, const StopToken &stop, std::vector<int64_t> *sums) const {
  const Cepstra cepstra = extract(samples, states.size(), stride);
  const size_t n_frames = cepstra[0].size() / tables_.view()->n_ceps;
  const CmnKind cmn = normalises ? CmnKind::kBatch : CmnKind::kNone;
  const auto n_streams = static_cast<uint32_t>(posteriors.model().streams.size());
  std::vector<double> shares;
  for (size_t w = 0; w < kWarps; w += stride) {
    CepstralRows rows(tables_, cmn);
    rows.add(cepstra[w], n_frames);
    rows.finish();
    for (size_t i = 0; i < n_frames; ++i, rows.consume(1)) {
      stop.check();
      if (states[i] == kNoState) continue;
      double log_likelihood = 0;
      for (uint32_t s = 0; s < n_streams; ++s) log_likelihood += posteriors.of(rows.rows(), states[i], s, &shares);
      if (!std::isnan(log_likelihood)) (*sums)[w] += in_units(log_likelihood);
    }
  }
  return static_cast<size_t>(std::count_if(states.begin(), states.begin() + static_cast<ptrdiff_t>(n_frames),
                                           [](uint32_t state) { return state != kNoState; }));
}

}  // namespace asr
