// SPDX-License-Identifier: Apache-2.0
#include "reference/lattice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "reference/viterbi.h"

namespace asr::reference {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Link {
  uint32_t from, to;  // graph states
  uint32_t arc;
  float cost, acoustic_cost;
};

// State after a frame: the cost of each token, the links from the preceding frame and those within.
struct Frame {
  std::map<uint32_t, float> tokens;
  std::vector<Link> emitting, epsilon;
  std::map<uint32_t, float> extra;
};

class LatticeSearch {
 public:
  LatticeSearch(const asr_graph_view &graph, const asr_search_options &options) : graph_(graph), options_(options) {
    Frame frame;
    frame.tokens[graph.start_state] = 0.0f;
    follow_epsilons(frame, 0.0f + options.beam);
    frames_.push_back(frame);
  }

  // Consumes a row. `cut`: states whose tokens are cut when the frame ends.
  void consume(const float *loglike, const std::set<uint32_t> &cut) {
    if (died_) return;
    Frame frame;
    float best = kInfinity;
    for (const auto &[state, cost] : active()) {
      for (uint32_t a = graph_.emitting_begin[state]; a < graph_.emitting_begin[state + 1]; ++a) {
        const asr_graph_arc &arc = graph_.arcs[a];
        const float score = loglike[graph_.pdf_of[arc.transition_id]];
        const float scaled = -options_.acoustic_scale * score;
        if (!std::isfinite(scaled)) continue;
        frame.emitting.push_back({state, arc.next_state, a, (cost + graph_cost(a)) + scaled, -score});
        best = std::min(best, frame.emitting.back().cost);
      }
    }
    if (frame.emitting.empty()) {
      died_ = true;
      return;
    }
    const float bound = best + options_.beam;
    const auto above = [&](const Link &link) { return link.cost > bound; };
    frame.emitting.erase(std::remove_if(frame.emitting.begin(), frame.emitting.end(), above), frame.emitting.end());
    for (const Link &link : frame.emitting) lower(frame.tokens, link.to, link.cost);
    follow_epsilons(frame, bound);
    for (const uint32_t state : cut) frame.tokens.erase(state);
    const auto leads_nowhere = [&](const Link &link) { return cut.count(link.to) > 0; };
    const auto is_cut = [&](const Link &link) { return leads_nowhere(link) || cut.count(link.from) > 0; };
    frame.emitting.erase(std::remove_if(frame.emitting.begin(), frame.emitting.end(), leads_nowhere), frame.emitting.end());
    frame.epsilon.erase(std::remove_if(frame.epsilon.begin(), frame.epsilon.end(), is_cut), frame.epsilon.end());
    frames_.push_back(frame);
  }

  // Consumes rows loglike[n_frames][n_pdfs].
  void consume_all(const float *loglike, uint32_t n_frames) {
    const auto cut = cut_states(graph_, options_, loglike, n_frames);
    for (uint32_t t = 0; t < n_frames; ++t) {
      const auto of_frame = cut.find(t + 1);
      consume(loglike + size_t{t} * graph_.n_pdfs, of_frame != cut.end() ? of_frame->second : std::set<uint32_t>());
    }
  }

  // Starts at frame `first`, where a piece ended unless it is 0.
  RawLattice finish(bool use_final, size_t first = 0) {
    RawLattice lattice;
    lattice.n_frames = static_cast<uint32_t>(frames_.size() - 1);
    lattice.beam_died = died_;
    for (const auto &[state, cost] : frames_.back().tokens) {
      lattice.reached_final |= use_final && std::isfinite(graph_.final_costs[state]);
    }
    const std::map<uint32_t, float> end = end_extra(lattice.reached_final);
    find_extra(end, frames_.size() - 1);
    write(lattice, first, frames_.size() - 1);
    for (const auto &[rank, state] : in_order(frames_.back())) {
      const bool ends = end.at(state) <= options_.lattice_beam;
      lattice.final_costs.push_back(!ends ? kInfinity : lattice.reached_final ? graph_.final_costs[state] : 0.0f);
    }
    return lattice;
  }

  // Returns the piece of frames first ... last, with the knowledge at frame `newest`.
  RawLattice piece(size_t first, size_t last, size_t newest) {
    std::map<uint32_t, float> end;
    for (const auto &[state, cost] : frames_[newest].tokens) end[state] = 0.0f;
    find_extra(end, newest);
    RawLattice lattice;
    write(lattice, first, last);
    ended_piece_ = in_order(frames_[last]);
    for (const auto &[rank, state] : ended_piece_) lattice.final_costs.push_back(frames_[last].extra.at(state));
    return lattice;
  }

  size_t n_frames() const { return frames_.size() - 1; }

 private:
  float graph_cost(uint32_t a) const {
    const asr_graph_arc &arc = graph_.arcs[a];
    return arc.graph_cost + (arc.word != 0 ? options_.word_insertion_cost : 0.0f);
  }

  // Lowers a cost; returns true if it fell.
  static bool lower(std::map<uint32_t, float> &costs, uint32_t state, float cost) {
    const auto [at, is_new] = costs.try_emplace(state, cost);
    if (!is_new && !(cost < at->second)) return false;
    at->second = cost;
    return true;
  }

  // Returns the selected tokens with their active costs.
  std::vector<std::pair<uint32_t, float>> active() const {
    std::vector<std::pair<float, uint32_t>> order;
    for (const auto &[state, cost] : frames_.back().tokens) order.push_back({cost, state});
    std::sort(order.begin(), order.end());
    const float best = order[0].first;
    std::vector<std::pair<uint32_t, float>> selected;
    for (const auto &[cost, state] : order) {
      const size_t n = selected.size();
      const bool within = cost <= best + options_.beam && n < std::max(options_.max_active, options_.min_active);
      if (within || n < options_.min_active) selected.push_back({state, cost - best});
    }
    return selected;
  }

  // Computes the costs as the fixed point, then the links.
  void follow_epsilons(Frame &frame, float bound) const {
    for (bool fell = true; fell;) {
      fell = false;
      frame.epsilon.clear();
      for (const auto &[state, token_cost] : std::map<uint32_t, float>(frame.tokens)) {
        for (uint32_t a = graph_.epsilon_begin[state]; a < graph_.epsilon_begin[state + 1]; ++a) {
          const float cost = token_cost + graph_cost(a);
          if (cost > bound) continue;
          frame.epsilon.push_back({state, graph_.arcs[a].next_state, a, cost, 0.0f});
          fell |= lower(frame.tokens, graph_.arcs[a].next_state, cost);
        }
      }
    }
  }

  // Returns extra costs; +infinity for tokens that cannot end the utterance.
  std::map<uint32_t, float> end_extra(bool reached_final) const {
    std::map<uint32_t, float> extra;
    float least = kInfinity;
    for (const auto &[state, cost] : frames_.back().tokens) {
      extra[state] = reached_final ? cost + graph_.final_costs[state] : cost;
      least = std::min(least, extra[state]);
    }
    for (auto &[state, cost] : extra) cost -= least;
    return extra;
  }

  static float link_extra(const Link &link, const Frame &frame) {
    return frame.extra.at(link.to) + (link.cost - frame.tokens.at(link.to));
  }

  void find_extra(const std::map<uint32_t, float> &end, size_t newest) {
    frames_[newest].extra = end;
    for (size_t t = newest + 1; t-- > 0;) {
      Frame &frame = frames_[t];
      if (t < newest) {
        for (const auto &[state, cost] : frame.tokens) frame.extra[state] = kInfinity;
        for (const Link &link : frames_[t + 1].emitting) lower(frame.extra, link.from, link_extra(link, frames_[t + 1]));
      }
      for (bool fell = true; fell;) {
        fell = false;
        for (const Link &link : frame.epsilon) fell |= lower(frame.extra, link.from, link_extra(link, frame));
      }
    }
  }

  using Order = std::set<std::pair<uint32_t, uint32_t>>;  // ordered by epsilon rank, then state

  // Writes everything except the final costs of the last frame. A piece that does not end in the newest frame has no arcs in
  // its last frame.
  void write(RawLattice &lattice, size_t first, size_t last) const {
    std::vector<std::map<uint32_t, uint32_t>> number(frames_.size());  // number of each token's state
    const auto states = [&](size_t t) { return t == first && first > 0 ? ended_piece_ : in_order(frames_[t]); };
    uint32_t n_states = 0;
    for (size_t t = first; t <= last; ++t) {
      for (const auto &[rank, state] : states(t)) number[t][state] = n_states++;
    }
    for (size_t t = first; t <= last; ++t) {
      for (const auto &[rank, state] : states(t)) {
        lattice.arc_begin.push_back(lattice.arcs.size());
        lattice.frames.push_back(static_cast<uint32_t>(t));
        if (t < last) lattice.final_costs.push_back(kInfinity);
        if (t < last) write_arcs(state, frames_[t + 1].emitting, frames_[t + 1], number[t + 1], lattice.arcs);
        if (t < last || t == n_frames()) write_arcs(state, frames_[t].epsilon, frames_[t], number[t], lattice.arcs);
      }
    }
    lattice.arc_begin.push_back(lattice.arcs.size());
  }

  Order in_order(const Frame &frame) const {
    Order order;
    for (const auto &[state, extra] : frame.extra) {
      if (extra <= options_.lattice_beam) order.insert({rank_[state], state});
    }
    return order;
  }

  // Writes the links of a state in the order of their arcs.
  void write_arcs(uint32_t from, const std::vector<Link> &links, const Frame &frame, const std::map<uint32_t, uint32_t> &number,
                  std::vector<asr_raw_arc> &arcs) const {
    for (const Link &link : links) {
      if (link.from != from || link_extra(link, frame) > options_.lattice_beam) continue;
      const asr_graph_arc &arc = graph_.arcs[link.arc];
      arcs.push_back({number.at(link.to), arc.transition_id, arc.word, arc.graph_cost, link.acoustic_cost});
    }
  }

  const asr_graph_view &graph_;
  const asr_search_options options_;
  const std::vector<uint32_t> rank_ = *epsilon_ranks(graph_);
  std::vector<Frame> frames_;
  Order ended_piece_;  // last states of the preceding piece
  bool died_ = false;
};

}  // namespace

std::optional<std::vector<uint32_t>> epsilon_ranks(const asr_graph_view &graph) {
  std::vector<uint32_t> rank(graph.n_states, 0);
  for (uint32_t round = 0; round <= graph.n_states; ++round) {
    bool rose = false;
    for (uint32_t s = 0; s < graph.n_states; ++s) {
      for (uint32_t a = graph.epsilon_begin[s]; a < graph.epsilon_begin[s + 1]; ++a) {
        uint32_t &to = rank[graph.arcs[a].next_state];
        rose |= to < rank[s] + 1;
        to = std::max(to, rank[s] + 1);
      }
    }
    if (!rose) return rank;
  }
  return std::nullopt;
}

RawLattice lattice(const asr_graph_view &graph, const asr_search_options &options, const float *loglike, uint32_t n_frames,
                   bool use_final) {
  LatticeSearch search(graph, options);
  search.consume_all(loglike, n_frames);
  return search.finish(use_final);
}

std::vector<RawLattice> lattice_pieces(const asr_graph_view &graph, const asr_search_options &options, const float *loglike,
                                       uint32_t n_frames, bool use_final) {
  constexpr size_t kPieceFrames = 256;
  LatticeSearch search(graph, options);
  search.consume_all(loglike, n_frames);
  std::vector<RawLattice> pieces;
  size_t first = 0;
  for (size_t newest = 2 * kPieceFrames; newest <= search.n_frames(); newest += kPieceFrames) {
    pieces.push_back(search.piece(first, newest - kPieceFrames, newest));
    first = newest - kPieceFrames;
  }
  pieces.push_back(search.finish(use_final, first));
  return pieces;
}

}  // namespace asr::reference
