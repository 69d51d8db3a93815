// SPDX-License-Identifier: Apache-2.0
// Makes the lattice's arrays: extra costs with the final costs of the newest frame, then states by frame, epsilon rank and
// graph state, then arcs.
#include "plugins/common/lattice_frames.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "plugins/common/lattice_pieces-inl.h"

namespace asr {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint32_t kNoState = 0xffffffffu;

}  // namespace

void LatticeFrames::follow_back(const std::vector<LatticeLink> &epsilon, Extra &extra) {
  for (bool fell = true; fell;) {
    fell = false;
    for (size_t i = epsilon.size(); i-- > 0;) {
      const LatticeLink &link = epsilon[i];
      const float through = extra[link.destination] + link.cost;
      fell |= through < extra[link.source];
      extra[link.source] = std::min(extra[link.source], through);
    }
  }
}

void LatticeFrames::settle(size_t last) {
  n_settled_ = last - first_frame_;
  pieces_.push_back({last, frames_[n_settled_].extra});
}

void LatticeFrames::settle_pieces(size_t first, size_t last) {
  const size_t piece = std::max<size_t>(1, (first + kPieceFrames - 1) / kPieceFrames);
  for (size_t end = piece * kPieceFrames; end <= last; end += kPieceFrames) settle(end);
}

void LatticeFrames::output(const std::vector<float> &costs, const std::vector<float> &final_costs, asr_raw_lattice *lattice) {
  std::vector<float> end_extra(costs.size());
  float least = kInfinity;
  for (size_t i = 0; i < costs.size(); ++i) {
    end_extra[i] = costs[i] + final_costs[i];
    least = std::min(least, end_extra[i]);
  }
  for (float &extra : end_extra) extra -= least;

  make_arrays(extra_costs(frames_.size(), end_extra), frames_.size());
  for (size_t i = 0; i < costs.size(); ++i) {
    if (end_extra[i] <= lattice_beam_) final_costs_[state_of_.back()[i]] = final_costs[i];
  }
  point_to_arrays(lattice);
}

void LatticeFrames::take_piece(asr_raw_lattice *piece) {
  if (pieces_.empty()) return;
  const size_t n_before = pieces_[0].last - first_frame_;
  const Extra &end_extra = pieces_[0].end_extra;
  make_arrays(extra_costs(n_before + 1, end_extra), n_before);
  for (size_t i = 0; i < end_extra.size(); ++i) final_costs_[state_of_.back()[i]] = end_extra[i];
  point_to_arrays(piece);
  frames_.erase(frames_.begin(), frames_.begin() + static_cast<ptrdiff_t>(n_before));
  first_frame_ += n_before;
  n_settled_ -= n_before;
  pieces_.erase(pieces_.begin());
}

// Returns the extra costs of all tokens of the first n_frames frames, from those at the end.
std::vector<LatticeFrames::Extra> LatticeFrames::extra_costs(size_t n_frames, const Extra &end_extra) const {
  std::vector<Extra> extra(n_frames);
  extra.back() = end_extra;
  for (size_t t = n_frames; t-- > 0;) {
    follow_back(frames_[t].epsilon, extra[t]);
    if (t == 0) break;
    extra[t - 1].assign(frames_[t - 1].n_tokens, kInfinity);
    for (const LatticeLink &link : frames_[t].emitting) {
      float &before = extra[t - 1][link.source];
      before = std::min(before, extra[t][link.destination] + link.cost);
    }
  }
  return extra;
}

// Fills the arrays. Only the first n_closed frames give their epsilon arcs.
void LatticeFrames::make_arrays(const std::vector<Extra> &extra, size_t n_closed) {
  // Prefetches the graph's arcs, which are scattered over more memory than any cache has.
  for (size_t t = 0; t < extra.size(); ++t) {
    for (const auto *links : {&frames_[t].emitting, &frames_[t].epsilon}) {
      for (const LatticeLink &link : *links) graph_.prefetch(link.arc);
    }
  }
  number_states(extra);
  output_arcs(extra, n_closed);
}

void LatticeFrames::point_to_arrays(asr_raw_lattice *lattice) const {
  lattice->n_states = static_cast<uint32_t>(frame_of_.size());
  lattice->n_arcs = arcs_.size();
  lattice->arc_begin = arc_begin_.data();
  lattice->arcs = arcs_.data();
  lattice->frames = frame_of_.data();
  lattice->final_costs = final_costs_.data();
}

// Fills state_of_ and frame_of_, and final_costs_ with none. All tokens that ended the piece before are states.
void LatticeFrames::number_states(const std::vector<Extra> &extra) {
  state_of_.resize(extra.size());
  frame_of_.clear();
  std::vector<uint32_t> graph_state, order;
  std::vector<uint64_t> keys;
  for (size_t t = 0; t < extra.size(); ++t) {
    const bool ended_piece = t == 0 && first_frame_ > 0;
    graph_state.assign(frames_[t].n_tokens, graph_.start_state());
    for (const auto *links : {&frames_[t].emitting, &frames_[t].epsilon}) {
      for (const LatticeLink &link : *links) graph_state[link.destination] = graph_.next_state(link.arc);
    }
    keys.clear();
    for (const uint32_t s : graph_state) keys.push_back(uint64_t{graph_.epsilon_rank(s)} << 32 | s);
    order.clear();
    for (uint32_t i = 0; i < frames_[t].n_tokens; ++i) {
      if (ended_piece || extra[t][i] <= lattice_beam_) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
    state_of_[t].assign(frames_[t].n_tokens, kNoState);
    for (const uint32_t i : order) {
      state_of_[t][i] = static_cast<uint32_t>(frame_of_.size());
      frame_of_.push_back(static_cast<uint32_t>(first_frame_ + t));
    }
  }
  final_costs_.assign(frame_of_.size(), kInfinity);
}

// Outputs arcs by source state, in the order of their index. Links are kept in that order, and emitting arcs come first.
void LatticeFrames::output_arcs(const std::vector<Extra> &extra, size_t n_closed) {
  const auto for_each_link = [&](const auto &call) {
    const auto offer = [&](const LatticeLink &link, size_t t_source, size_t t) {
      if (extra[t][link.destination] + link.cost <= lattice_beam_) {
        call(state_of_[t_source][link.source], state_of_[t][link.destination], link);
      }
    };
    for (size_t t = 1; t < extra.size(); ++t) {
      for (const LatticeLink &link : frames_[t].emitting) offer(link, t - 1, t);
    }
    for (size_t t = 0; t < n_closed; ++t) {
      for (const LatticeLink &link : frames_[t].epsilon) offer(link, t, t);
    }
  };
  arc_begin_.assign(frame_of_.size() + 1, 0);
  for_each_link([&](uint32_t source, uint32_t, const LatticeLink &) { ++arc_begin_[source + 1]; });
  std::partial_sum(arc_begin_.begin(), arc_begin_.end(), arc_begin_.begin());
  arcs_.resize(arc_begin_.back());
  std::vector<uint64_t> next(arc_begin_.begin(), arc_begin_.end() - 1);
  for_each_link([&](uint32_t source, uint32_t destination, const LatticeLink &link) {
    const asr_graph_arc arc = graph_.arc(link.arc);
    arcs_[next[source]++] = {destination, arc.transition_id, arc.word, arc.graph_cost, link.acoustic_cost};
  });
}

}  // namespace asr
