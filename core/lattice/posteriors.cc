// SPDX-License-Identifier: Apache-2.0
// Forward-backward algorithm in logarithms. Sums of path probabilities exceed the range of exp(), and differences of large sums
// have rounding errors above 1. So only the continuations of one state are compared with each other: backward sums give each
// continuation's share of the paths through the state. The forward pass distributes a state's probability in these shares. For
// any costs, no share exceeds 1, and the shares of a state or a frame add up.
#include "core/lattice/posteriors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asr {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

// Returns a log-probability that can be summed along any path; zero if the cost means "no path".
double log_weight(const LatticeCost &cost, double acoustic_scale) {
  constexpr double kMax = 1e290;
  if (!std::isfinite(cost.graph) || !std::isfinite(cost.acoustic)) return kLogZero;
  return std::clamp(-cost.total(acoustic_scale), -kMax, kMax);
}

const LatticeCost &end_cost(const CompactLattice &lattice, uint32_t state) { return lattice.ends[state].cost; }
const LatticeCost &end_cost(const Lattice &lattice, uint32_t state) { return lattice.final_costs[state]; }

template <typename AnyLattice>
class WaysOn {
 public:
  WaysOn(const AnyLattice &lattice, double acoustic_scale)
      : lattice_(lattice), acoustic_scale_(acoustic_scale), sums_(lattice.n_states(), kLogZero) {}

  // Logs of the sums over the paths from each state to the ends.
  const std::vector<double> &sums() const { return sums_; }

  void sum_up(uint32_t state) {
    const double largest = find(state);
    if (largest == kLogZero) return;
    double sum = 0;
    for (const double log : logs_) sum += std::exp(log - largest);
    sums_[state] = largest + std::log(sum);
  }

  // Returns the share of each continuation: of the arcs in order, then of ending. The shares add up to 1, or are all 0.
  const std::vector<double> &shares(uint32_t state) {
    const double largest = find(state);
    double sum = 0;
    for (double &log : logs_) sum += log = largest == kLogZero ? 0 : std::exp(log - largest);
    for (double &share : logs_) share /= std::max(sum, 1.0);
    return logs_;
  }

 private:
  const AnyLattice &lattice_;
  const double acoustic_scale_;
  std::vector<double> sums_, logs_;

  // Writes the logs of all continuations to logs_; returns the largest.
  double find(uint32_t state) {
    logs_.clear();
    for (uint64_t a = lattice_.arc_begin[state]; a < lattice_.arc_begin[state + 1]; ++a) {
      const auto &arc = lattice_.arcs[a];
      logs_.push_back(log_weight(arc.cost, acoustic_scale_) + sums_[arc.next_state]);
    }
    logs_.push_back(log_weight(end_cost(lattice_, state), acoustic_scale_));
    return *std::max_element(logs_.begin(), logs_.end());
  }
};

template <typename AnyLattice>
LatticePosteriors posteriors_of(const AnyLattice &lattice, double acoustic_scale, const StopToken &stop) {
  const uint32_t n_states = lattice.n_states();
  LatticePosteriors result;
  result.arcs.assign(lattice.arcs.size(), 0);
  result.states.assign(n_states, 0);
  result.ends.assign(n_states, 0);
  WaysOn<AnyLattice> ways(lattice, acoustic_scale);
  for (uint32_t s = n_states; s-- > 0;) {
    stop.check();
    ways.sum_up(s);
  }
  result.log_sum = n_states == 0 ? kLogZero : ways.sums()[0];
  if (result.log_sum == kLogZero) return result;

  result.states[0] = 1;
  for (uint32_t s = 0; s < n_states; ++s) {
    stop.check();
    const double through = result.states[s] = std::min(result.states[s], 1.0);
    if (through == 0) continue;
    const std::vector<double> &shares = ways.shares(s);
    const uint64_t begin = lattice.arc_begin[s], n = lattice.arc_begin[s + 1] - begin;
    for (uint64_t i = 0; i < n; ++i) {
      result.arcs[begin + i] = through * shares[i];
      result.states[lattice.arcs[begin + i].next_state] += result.arcs[begin + i];
    }
    result.ends[s] = through * shares[n];
  }
  return result;
}

}  // namespace

LatticePosteriors lattice_posteriors(const CompactLattice &lattice, double acoustic_scale, const StopToken &stop) {
  return posteriors_of(lattice, acoustic_scale, stop);
}

LatticePosteriors lattice_posteriors(const Lattice &lattice, double acoustic_scale, const StopToken &stop) {
  return posteriors_of(lattice, acoustic_scale, stop);
}

}  // namespace asr
