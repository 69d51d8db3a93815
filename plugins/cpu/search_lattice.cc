// SPDX-License-Identifier: Apache-2.0
// Recording and pruning. Extra costs are found in one pass from the newest frame backwards, with 0 for all of its tokens, so
// they are at most the final ones. The pass ends at the first frame whose extra costs are what they were the last time.
#include "plugins/cpu/search_lattice.h"

#include <algorithm>
#include <limits>

namespace asr::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr size_t kPruneFrames = 16;

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

void SearchLattice::add_frame(const std::vector<Token> &tokens, const SearchScratch &scratch) {
  Frame &frame = frames_.emplace_back();
  frame.n_tokens = static_cast<uint32_t>(tokens.size());
  const auto add = [&](Link link, std::vector<Link> &links) {
    link.cost -= tokens[link.destination].cost;
    if (link.cost <= lattice_beam_) links.push_back(link);
  };
  frame.emitting.reserve(scratch.emitting_links.size());
  for (const Link &link : scratch.emitting_links) add(link, frame.emitting);
  for (const EpsilonLink &followed : scratch.epsilon_links) {
    if (followed.source_cost == tokens[followed.link.source].cost) add(followed.link, frame.epsilon);
  }
  if (++n_added_ >= kPruneFrames) prune();
}

void SearchLattice::prune() {
  n_added_ = 0;
  Extra extra(frames_.back().n_tokens, 0.0f), extra_before;
  for (size_t t = frames_.size(); t-- > 0; extra.swap(extra_before)) {
    Frame &frame = frames_[t];
    follow_back(frame.epsilon, extra);
    if (frame.extra == extra) return;
    prune_frame(t, extra, extra_before);
  }
}

// Numbers the tokens within the beam anew and removes links into frame t; gives extra costs to the tokens before.
void SearchLattice::prune_frame(size_t t, Extra &extra, Extra &extra_before) {
  Frame &frame = frames_[t];
  std::vector<uint32_t> number(frame.n_tokens);
  uint32_t n = 0;
  frame.extra.clear();
  for (uint32_t i = 0; i < frame.n_tokens; ++i) {
    number[i] = n;
    if (!(extra[i] <= lattice_beam_)) continue;
    frame.extra.push_back(extra[i]);
    ++n;
  }
  frame.extra.shrink_to_fit();
  frame.n_tokens = n;
  if (t + 1 < frames_.size()) {
    for (Link &link : frames_[t + 1].emitting) link.source = number[link.source];
  }
  extra_before.assign(t > 0 ? frames_[t - 1].n_tokens : 0, kInfinity);
  const auto remove = [&](std::vector<Link> &links, bool emitting) {
    size_t n_kept = 0;
    for (Link link : links) {
      const float through = extra[link.destination] + link.cost;
      if (!(through <= lattice_beam_)) continue;
      link.destination = number[link.destination];
      if (emitting) {
        extra_before[link.source] = std::min(extra_before[link.source], through);
      } else {
        link.source = number[link.source];
      }
      links[n_kept++] = link;
    }
    links.resize(n_kept);
    links.shrink_to_fit();
  };
  remove(frame.epsilon, false);
  remove(frame.emitting, true);
}

}  // namespace asr::cpu
