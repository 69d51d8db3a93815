// SPDX-License-Identifier: Apache-2.0
// Records and prunes links. A pass from the newest frame backwards, with 0 for all of its tokens, computes extra costs; they
// are at most the final ones. The pass ends at the first frame whose extra costs have not changed since the last pass.
#include "plugins/cpu/search_lattice.h"

#include <algorithm>
#include <limits>

#include "plugins/common/lattice_pieces-inl.h"

namespace asr::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Frames or links since the last pruning that start the next one. Rare pruning is fast; the links determine its memory.
constexpr size_t kPruneFrames = 32, kPruneLinks = size_t{1} << 18;

}  // namespace

void SearchLattice::add_frame(const PagedVector<Token> &tokens, const SearchScratch &scratch,
                              const std::vector<float> &loglike) {
  LatticeFrame &frame = lattice_.frames().emplace_back();
  frame.n_tokens = static_cast<uint32_t>(tokens.size());
  const size_t n_needed = n_recent_ + scratch.n_links;
  if (recent_.size() < n_needed) recent_.resize(n_needed + n_needed / 4);
  LatticeLink *const first = recent_.data() + n_recent_;
  size_t n = 0;
  for (size_t i = 0; i < scratch.n_links; ++i) {
    const Token &link = scratch.candidates[i];
    const float cost = link.cost - tokens[link.state].cost;
    first[n] = {link.previous, link.state, link.arc - 1, cost, 0.0f - loglike[link.label & pdf_mask_]};
    n += cost <= lattice_.lattice_beam() ? 1 : 0;
  }
  n_recent_of_.push_back(n);
  n_recent_ += n;
  for (const EpsilonLink &link : scratch.epsilon_links) {
    const float cost = link.cost - tokens[link.destination].cost;
    const bool is_last = link.source_cost == tokens[link.source].cost;
    if (is_last && cost <= lattice_.lattice_beam()) {
      frame.epsilon.push_back({link.source, link.destination, link.arc, cost, 0.0f});
    }
  }
  const auto newest = static_cast<uint32_t>(lattice_.first_frame() + lattice_.frames().size() - 1);
  if (n_recent_of_.size() >= kPruneFrames || n_recent_ >= kPruneLinks || ends_piece(newest)) prune();
  if (settles_piece(newest, 0)) lattice_.settle(newest - kPieceFrames);  // called once a frame
}

void SearchLattice::output(const std::vector<float> &costs, const std::vector<float> &final_costs, asr_raw_lattice *lattice) {
  prune();
  lattice_.output(costs, final_costs, lattice);
}

void SearchLattice::prune() {
  std::vector<LatticeFrame> &frames = lattice_.frames();
  const size_t n_fixed = lattice_.first_frame() + lattice_.n_settled() > 0 ? lattice_.n_settled() + 1 : 0;
  extra_.assign(frames.back().n_tokens, 0.0f);
  for (size_t t = frames.size(); t-- > n_fixed; extra_.swap(extra_before_)) {
    LatticeFrames::follow_back(frames[t].epsilon, extra_);
    if (frames[t].extra == extra_) break;
    extra_before_.assign(t > 0 ? frames[t - 1].n_tokens : 0, kInfinity);
    renumber(t);
    prune_links(t);
  }
}

// Numbers the tokens of frame t within the beam: new_number_.
void SearchLattice::renumber(size_t t) {
  std::vector<LatticeFrame> &frames = lattice_.frames();
  LatticeFrame &frame = frames[t];
  new_number_.resize(frame.n_tokens);
  kept_extra_.resize(frame.n_tokens + size_t{1});
  uint32_t n = 0;
  for (uint32_t i = 0; i < frame.n_tokens; ++i) {
    new_number_[i] = n;
    kept_extra_[n] = extra_[i];
    n += extra_[i] <= lattice_.lattice_beam() ? 1 : 0;
  }
  frame.n_tokens = n;
  frame.extra = Extra(kept_extra_.begin(), kept_extra_.begin() + n);
  if (t + 1 == frames.size()) return;
  for (LatticeLink &link : frames[t + 1].emitting) link.source = new_number_[link.source];
}

// Removes links into frame t by its extra costs, and computes the preceding frame's extra costs. Frames are processed from the
// newest backwards, so the recent links are taken from the end.
void SearchLattice::prune_links(size_t t) {
  LatticeFrame &frame = lattice_.frames()[t];
  const auto prune = [&](LatticeLink *first, LatticeLink *last, const auto &keep) {
    LatticeLink *end = first;
    for (; first != last; ++first) {
      const float extra = extra_[first->destination] + first->cost;
      if (!(extra <= lattice_.lattice_beam())) continue;
      *end = *first;
      end->destination = new_number_[first->destination];
      keep(*end++, extra);
    }
    return end;
  };
  const auto prune_all = [&](std::vector<LatticeLink> &links, const auto &keep) {
    LatticeLink *const first = links.data();
    const auto n = static_cast<size_t>(prune(first, first + links.size(), keep) - first);
    if (n < links.size()) links = std::vector<LatticeLink>(first, first + n);
  };
  const auto keep_emitting = [&](const LatticeLink &link, float extra) {
    extra_before_[link.source] = std::min(extra_before_[link.source], extra);
  };
  prune_all(frame.epsilon, [&](LatticeLink &link, float) { link.source = new_number_[link.source]; });
  if (n_recent_of_.empty()) return prune_all(frame.emitting, keep_emitting);
  n_recent_ -= n_recent_of_.back();
  LatticeLink *const first = recent_.data() + n_recent_;
  frame.emitting.assign(first, prune(first, first + n_recent_of_.back(), keep_emitting));
  n_recent_of_.pop_back();
}

}  // namespace asr::cpu
