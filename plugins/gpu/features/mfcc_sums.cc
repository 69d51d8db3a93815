// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/features/mfcc_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
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

// Returns the nearest number to the edge that has the number of the bins below it in its lowest bits.
double with_offset(double edge, uint32_t n_below) {
  constexpr uint64_t kHalf = uint64_t{1} << (kSumsOffsetBits - 1);
  uint64_t bits;
  std::memcpy(&bits, &edge, sizeof bits);
  bits = (bits + kHalf) >> kSumsOffsetBits << kSumsOffsetBits | n_below * kSumsFrames;
  std::memcpy(&edge, &bits, sizeof bits);
  return edge;
}

// Bank has the edges and gains of a filter bank.
class Bank {
 public:
  Bank(const asr_features_view &view, uint32_t warp)
      : n_quarter_(n_steps(view) * kSumsStep),
        gains_(view.triangles->gains + size_t{warp} * view.n_mel, view.triangles->gains + size_t{warp + 1} * view.n_mel) {
    const double *const x = view.triangles->positions, *const end = x + view.fft_samples / 2;
    const double *const edges = view.triangles->edges + size_t{warp} * (view.n_mel + 2);
    for (uint32_t e = 0; e < view.n_mel + 2; ++e)
      edges_.push_back(with_offset(edges[e], static_cast<uint32_t>(std::lower_bound(x, end, edges[e]) - x)));
    // The slopes around a band without a bin differ by rounding alone, and by how much depends on all that lies below.
    for (uint32_t m = 0; m < view.n_mel; ++m) {
      if (std::lower_bound(x, end, edges[m + 2]) <= std::upper_bound(x, end, edges[m])) gains_[m] = 0;
    }
    n_at_first_edge_ = static_cast<uint32_t>(std::upper_bound(x, end, edges[0]) - x);
  }

  // Returns true if no edges are so near that slopes between them are inexact: by 2^-53 of what lies below, over this width.
  bool has_width() const {
    for (size_t e = 1; e < edges_.size(); ++e) {
      if (!(edges_[e] - edges_[e - 1] > kMinWidth * std::abs(edges_[e]))) return false;
    }
    return true;
  }
  // Edge r of a quarter; edges beyond the bank's last repeat it.
  MfccEdge edge(uint32_t quarter, uint32_t r) const {
    const size_t e = size_t{quarter} * n_quarter_ + r;
    if (e >= edges_.size()) return {edges_.back(), 0};
    return {edges_[e], r == 0 ? 0 : 1 / (edges_[e] - edges_[e - 1])};
  }
  // Gain of band i of a quarter.
  float gain(uint32_t quarter, uint32_t i) const {
    const size_t band = size_t{quarter} * n_quarter_ + i;
    return band < gains_.size() ? gains_[band] : 1;
  }
  uint32_t n_at_first_edge() const { return n_at_first_edge_; }  // number of bins at the first edge and below it

 private:
  static constexpr double kMinWidth = 1e-3;
  uint32_t n_quarter_, n_at_first_edge_;
  std::vector<float> gains_;
  std::vector<double> edges_;
};

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
  if (view.size < offsetof(asr_features_view, triangles) + sizeof view.triangles || view.triangles == nullptr ||
      view.lpc_order > 0 || view.n_ceps > kSumsCepstra || n_steps(view) == 0)
    return {};
  MfccSums sums;
  sums.n_steps = n_steps(view);
  sums.n_bands = sums.n_steps * kSumsStep, sums.n_edges = sums.n_bands + 2;
  sums.first_bin = view.fft_samples / 2;
  sums.positions.assign(view.triangles->positions, view.triangles->positions + view.fft_samples / 2);
  for (uint32_t warp = 0; warp < view.n_warps; ++warp) {
    const Bank bank(view, warp);
    if (!bank.has_width()) return {};
    sums.first_bin = std::min(sums.first_bin, bank.n_at_first_edge());
    for (uint32_t r = 0; r < sums.n_edges; ++r) {
      MfccEdges edges;
      for (uint32_t quarter = 0; quarter < kSumsQuarters; ++quarter) {
        edges.edge[quarter] = bank.edge(quarter, r);
        if (r < sums.n_bands) sums.gains.push_back(bank.gain(quarter, r));
      }
      sums.edges.push_back(edges);
    }
  }
  if (std::all_of(sums.gains.begin(), sums.gains.end(), [](float gain) { return gain == 1; })) sums.gains.clear();
  sums.dct = make_dct(view);
  return sums;
}

}  // namespace asr
