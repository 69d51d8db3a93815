// SPDX-License-Identifier: Apache-2.0
#include "builder/train/state_shares.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/lattice/from_backend.h"
#include "core/lattice/posteriors.h"

namespace asr::train {
namespace {

constexpr double kMinShare = 1e-4;

// Appends the shares of a frame. Shares of one state are added, small ones left out, and the others scaled to add up to
// 1.
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
  all->erase(std::remove_if(begin, all->end(), [](const StateShare &s) { return static_cast<double>(s.share) < kMinShare; }),
             all->end());
  double sum = 0;
  for (size_t i = first; i < all->size(); ++i) sum += static_cast<double>((*all)[i].share);
  for (size_t i = first; i < all->size(); ++i) {
    (*all)[i].share = static_cast<float>(static_cast<double>((*all)[i].share) / sum);
  }
  frame->clear();
}

}  // namespace

std::vector<StateShare> state_shares(const asr_raw_lattice &raw, const std::vector<uint32_t> &pdf_of) {
  const Lattice lattice = lattice_from_backend(raw, 0);
  const LatticePosteriors posteriors = lattice_posteriors(lattice, 1);
  if (std::isinf(posteriors.log_sum)) fail(ASR_INTERNAL, "a lattice has no path");
  std::vector<StateShare> shares, frame;
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    if (!frame.empty() && frame.front().row != lattice.frames[s]) append_frame(&frame, &shares);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const uint32_t id = lattice.arcs[a].transition_id;
      if (id != 0) frame.push_back({lattice.frames[s], pdf_of[id], static_cast<float>(posteriors.arcs[a])});
    }
  }
  if (!frame.empty()) append_frame(&frame, &shares);
  return shares;
}

}  // namespace asr::train
