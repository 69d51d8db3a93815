// SPDX-License-Identifier: Apache-2.0
// Recording and pruning. Extra costs are found in one pass from the newest frame backwards, with 0 for all of its tokens, so
// they are at most the final ones. The pass ends at the first frame whose extra costs are what they were the last time.
#include "plugins/cpu/search_lattice.h"

#include <algorithm>
#include <limits>

namespace asr::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Pruned when there are as many frames or links since the last time: rarely is fast, the links are the memory it takes.
constexpr size_t kPruneFrames = 32, kPruneLinks = size_t{1} << 18;
// "Pieces" in docs/search.md.
constexpr size_t kPieceFrames = 256;

}  // namespace

// Extra costs of tokens that epsilon links leave, from those of their destinations: the least by the fixed point.
void SearchLattice::follow_back(const std::vector<Link> &epsilon, Extra &extra) {
  for (bool fell = true; fell;) {
    fell = false;
    for (size_t i = epsilon.size(); i-- > 0;) {
      const Link &link = epsilon[i];
      const float through = extra[link.destination] + link.cost;
      fell |= through < extra[link.source];
      extra[link.source] = std::min(extra[link.source], through);
    }
  }
}

void SearchLattice::add_frame(const std::vector<Token> &tokens, const SearchScratch &scratch,
                              const std::vector<float> &loglike) {
  Frame &frame = frames_.emplace_back();
  frame.n_tokens = static_cast<uint32_t>(tokens.size());
  const size_t n_needed = n_recent_ + scratch.n_links;
  if (recent_.size() < n_needed) recent_.resize(n_needed + n_needed / 4);
  Link *const first = recent_.data() + n_recent_;
  size_t n = 0;
  for (size_t i = 0; i < scratch.n_links; ++i) {
    const Token &link = scratch.candidates[i];
    const float cost = link.cost - tokens[link.state].cost;
    first[n] = {link.previous, link.state, link.arc - 1, cost, 0.0f - loglike[link.label & SearchArc::kPdfMask]};
    n += cost <= lattice_beam_ ? 1 : 0;
  }
  frame.n_recent = n;
  n_recent_ += n;
  for (const EpsilonLink &link : scratch.epsilon_links) {
    const float cost = link.cost - tokens[link.destination].cost;
    const bool is_last = link.source_cost == tokens[link.source].cost;
    if (is_last && cost <= lattice_beam_) frame.epsilon.push_back({link.source, link.destination, link.arc, cost, 0.0f});
  }
  const bool ends_piece = (first_frame_ + frames_.size() - 1) % kPieceFrames == 0;
  if (++n_added_ >= kPruneFrames || n_recent_ >= kPruneLinks || ends_piece) prune();
  if (ends_piece) settle_piece();
}

// Up to kPieceFrames before the newest frame.
void SearchLattice::settle_piece() {
  const size_t newest = first_frame_ + frames_.size() - 1;
  if (newest < 2 * kPieceFrames) return;
  n_settled_ = newest - kPieceFrames - first_frame_;
  pieces_.push_back({n_settled_ + first_frame_, frames_[n_settled_].extra});
}

void SearchLattice::prune() {
  const size_t n_fixed = first_frame_ + n_settled_ > 0 ? n_settled_ + 1 : 0;
  extra_.assign(frames_.back().n_tokens, 0.0f);
  for (size_t t = frames_.size(); t-- > n_fixed; extra_.swap(extra_before_)) {
    follow_back(frames_[t].epsilon, extra_);
    if (frames_[t].extra == extra_) break;
    extra_before_.assign(t > 0 ? frames_[t - 1].n_tokens : 0, kInfinity);
    renumber(t);
    prune_links(frames_[t]);
  }
  n_added_ = 0;
}

// Numbers the tokens of frame t that are within the beam: new_number_.
void SearchLattice::renumber(size_t t) {
  Frame &frame = frames_[t];
  new_number_.resize(frame.n_tokens);
  kept_extra_.resize(frame.n_tokens + size_t{1});
  uint32_t n = 0;
  for (uint32_t i = 0; i < frame.n_tokens; ++i) {
    new_number_[i] = n;
    kept_extra_[n] = extra_[i];
    n += extra_[i] <= lattice_beam_ ? 1 : 0;
  }
  frame.n_tokens = n;
  frame.extra = Extra(kept_extra_.begin(), kept_extra_.begin() + n);
  if (t + 1 == frames_.size()) return;
  for (Link &link : frames_[t + 1].emitting) link.source = new_number_[link.source];
}

// Removes links into a frame by its extra costs, and finds those of the tokens before.
void SearchLattice::prune_links(Frame &frame) {
  const auto prune = [&](Link *first, Link *last, const auto &keep) {
    Link *end = first;
    for (; first != last; ++first) {
      const float extra = extra_[first->destination] + first->cost;
      if (!(extra <= lattice_beam_)) continue;
      *end = *first;
      end->destination = new_number_[first->destination];
      keep(*end++, extra);
    }
    return end;
  };
  const auto prune_all = [&](std::vector<Link> &links, const auto &keep) {
    Link *const first = links.data();
    const auto n = static_cast<size_t>(prune(first, first + links.size(), keep) - first);
    if (n < links.size()) links = std::vector<Link>(first, first + n);
  };
  const auto keep_emitting = [&](const Link &link, float extra) {
    extra_before_[link.source] = std::min(extra_before_[link.source], extra);
  };
  prune_all(frame.epsilon, [&](Link &link, float) { link.source = new_number_[link.source]; });
  if (frame.n_recent == 0) return prune_all(frame.emitting, keep_emitting);
  n_recent_ -= frame.n_recent;
  Link *const first = recent_.data() + n_recent_;
  frame.emitting.assign(first, prune(first, first + frame.n_recent, keep_emitting));
  frame.n_recent = 0;
}

}  // namespace asr::cpu
