// SPDX-License-Identifier: Apache-2.0
#include "builder/train/state_shares.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace asr::train {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();
constexpr double kLeastShare = 1e-4;

double log_add(double a, double b) {
  const double most = std::max(a, b), least = std::min(a, b);
  return least == kLogZero ? most : most + std::log1p(std::exp(least - most));
}

double log_of(const asr_raw_arc &arc) { return -static_cast<double>(arc.graph_cost) - static_cast<double>(arc.acoustic_cost); }

// ln of the sum over all paths from the start to each state.
std::vector<double> sums_before(const asr_raw_lattice &lattice) {
  std::vector<double> before(lattice.n_states, kLogZero);
  before[0] = 0;
  for (uint32_t s = 0; s < lattice.n_states; ++s) {
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      double &next = before[lattice.arcs[a].next_state];
      next = log_add(next, before[s] + log_of(lattice.arcs[a]));
    }
  }
  return before;
}

// ln of the sum over all paths from each state to an end.
std::vector<double> sums_after(const asr_raw_lattice &lattice) {
  std::vector<double> after(lattice.n_states, kLogZero);
  for (uint32_t s = lattice.n_states; s-- > 0;) {
    if (std::isfinite(lattice.final_costs[s])) after[s] = -static_cast<double>(lattice.final_costs[s]);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      after[s] = log_add(after[s], after[lattice.arcs[a].next_state] + log_of(lattice.arcs[a]));
    }
  }
  return after;
}

// The shares of a frame: those of a state are added, small ones left out, and the others scaled to add up to 1.
void append_frame(std::vector<StateShare> *frame, std::vector<StateShare> *all) {
  std::sort(frame->begin(), frame->end(), [](const StateShare &a, const StateShare &b) { return a.state < b.state; });
  const size_t first = all->size();
  for (const StateShare &share : *frame) {
    if (all->size() > first && all->back().state == share.state) {
      all->back().share += share.share;
    } else {
      all->push_back(share);
    }
  }
  const auto begin = all->begin() + static_cast<ptrdiff_t>(first);
  all->erase(std::remove_if(begin, all->end(), [](const StateShare &s) { return static_cast<double>(s.share) < kLeastShare; }),
             all->end());
  double sum = 0;
  for (size_t i = first; i < all->size(); ++i) sum += static_cast<double>((*all)[i].share);
  for (size_t i = first; i < all->size(); ++i) {
    (*all)[i].share = static_cast<float>(static_cast<double>((*all)[i].share) / sum);
  }
  frame->clear();
}

}  // namespace

std::vector<StateShare> state_shares(const asr_raw_lattice &lattice, const std::vector<uint32_t> &pdf_of) {
  const std::vector<double> before = sums_before(lattice), after = sums_after(lattice);
  if (after[0] == kLogZero) fail(ASR_INTERNAL, "a lattice has no path");
  std::vector<StateShare> shares, frame;
  for (uint32_t s = 0; s < lattice.n_states; ++s) {
    if (!frame.empty() && frame.front().row != lattice.frames[s]) append_frame(&frame, &shares);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const asr_raw_arc &arc = lattice.arcs[a];
      if (arc.transition_id == 0) continue;
      const double share = std::exp(before[s] + log_of(arc) + after[arc.next_state] - after[0]);
      frame.push_back({lattice.frames[s], pdf_of[arc.transition_id], static_cast<float>(share)});
    }
  }
  if (!frame.empty()) append_frame(&frame, &shares);
  return shares;
}

}  // namespace asr::train
