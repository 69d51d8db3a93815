// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/mfcc_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/backend/asr_backend_banks.h"
#include "plugins/common/halves.h"

namespace asr {
namespace {

constexpr uint32_t kRows = 8, kLanes = 32;

// Returns 0 if there is no number of steps for so many bands.
uint32_t n_steps(const asr_features_view &view) {
  for (const uint32_t n : kSumsSteps) {
    if (view.n_mel <= n * kSumsQuarters * kSumsStep) return n;
  }
  return 0;
}

// Returns the edge with the number of the bins below it in its lowest bits.
double with_offset(double edge, uint32_t n_below) {
  uint64_t bits;
  std::memcpy(&bits, &edge, sizeof bits);
  bits = bits >> kSumsOffsetBits << kSumsOffsetBits | n_below * kSumsFrames;
  std::memcpy(&edge, &bits, sizeof bits);
  return edge;
}

// Bank has the edges of a filter bank.
class Bank {
 public:
  Bank(const asr_features_view &view, uint32_t warp) : n_quarter_(n_steps(view) * kSumsStep) {
    const double *const x = view.triangles->positions, *const edges = view.triangles->edges + size_t{warp} * (view.n_mel + 2);
    for (uint32_t e = 0; e < view.n_mel + 2; ++e) {
      const auto n_below = static_cast<uint32_t>(std::lower_bound(x, x + view.fft_samples / 2, edges[e]) - x);
      edges_.push_back(with_offset(edges[e], n_below));
    }
  }

  bool has_width() const {
    for (size_t e = 1; e < edges_.size(); ++e) {
      if (!(edges_[e] - edges_[e - 1] > 1e-6 * std::abs(edges_[e]))) return false;
    }
    return true;
  }
  // Edge r of a quarter; edges beyond the bank's last repeat it.
  MfccEdge edge(uint32_t quarter, uint32_t r) const {
    const size_t e = size_t{quarter} * n_quarter_ + r;
    if (e >= edges_.size()) return {edges_.back(), 0};
    return {edges_[e], r == 0 ? 0 : 1 / (edges_[e] - edges_[e - 1])};
  }

 private:
  uint32_t n_quarter_;
  std::vector<double> edges_;
};

// Returns nothing if all gains are 1.
std::vector<float> make_gains(const asr_features_view &view) {
  const float *const from = view.triangles->gains;
  if (std::all_of(from, from + size_t{view.n_warps} * view.n_mel, [](float gain) { return gain == 1; })) return {};
  const uint32_t n_quarter = n_steps(view) * kSumsStep;
  std::vector<float> gains;
  for (uint32_t warp = 0; warp < view.n_warps; ++warp) {
    for (uint32_t i = 0; i < n_quarter; ++i) {
      for (uint32_t band = i; band < kSumsQuarters * n_quarter; band += n_quarter)
        gains.push_back(band < view.n_mel ? from[size_t{warp} * view.n_mel + band] : 0);
    }
  }
  return gains;
}

// Returns a lane's factors of a step's two bands, for cepstra g and g + 8.
std::array<HalfPairs, 2> factors(const asr_features_view &view, uint32_t step, uint32_t lane) {
  const uint32_t m = (lane % kSumsQuarters * n_steps(view) + step) * kSumsStep;
  const auto at = [&](uint32_t cepstrum, uint32_t band) {
    return cepstrum < view.n_ceps && band < view.n_mel ? std::log(2.0) * view.dct[size_t{cepstrum} * view.n_mel + band] : 0;
  };
  const uint32_t g = lane / kSumsQuarters;
  return {split_halves(at(g, m), at(g, m + 1)), split_halves(at(g + kRows, m), at(g + kRows, m + 1))};
}

std::vector<MfccFour> make_dct(const asr_features_view &view) {
  std::vector<MfccFour> fours;
  for (uint32_t step = 0; step < n_steps(view); step += 2) {
    const bool two = step + 1 < n_steps(view);
    for (uint32_t part = 0; part < (two ? 2 : 1); ++part) {
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const auto a = factors(view, step, lane), b = factors(view, step + 1, lane);
        if (!two) {
          fours.push_back({a[0].hi, a[1].hi, a[0].lo, a[1].lo});
        } else if (part == 0) {
          fours.push_back({a[0].hi, a[1].hi, b[0].hi, b[1].hi});
        } else {
          fours.push_back({a[0].lo, a[1].lo, b[0].lo, b[1].lo});
        }
      }
    }
  }
  return fours;
}

}  // namespace

std::optional<MfccSums> make_mfcc_sums(const asr_features_view &view) {
  if (view.size < sizeof view || view.triangles == nullptr || view.lpc_order > 0 || view.n_ceps > kSumsCepstra ||
      n_steps(view) == 0)
    return {};
  MfccSums sums;
  sums.n_steps = n_steps(view);
  sums.n_bands = sums.n_steps * kSumsStep, sums.n_edges = sums.n_bands + 2;
  sums.positions.assign(view.triangles->positions, view.triangles->positions + view.fft_samples / 2);
  for (uint32_t warp = 0; warp < view.n_warps; ++warp) {
    const Bank bank(view, warp);
    if (!bank.has_width()) return {};
    for (uint32_t r = 0; r < sums.n_edges; ++r) {
      MfccEdges edges;
      for (uint32_t quarter = 0; quarter < kSumsQuarters; ++quarter) edges.edge[quarter] = bank.edge(quarter, r);
      sums.edges.push_back(edges);
    }
  }
  sums.gains = make_gains(view);
  sums.dct = make_dct(view);
  return sums;
}

}  // namespace asr
