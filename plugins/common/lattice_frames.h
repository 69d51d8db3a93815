// SPDX-License-Identifier: Apache-2.0
// The links of a channel that makes lattices, frame by frame ("The lattice" in docs/search.md), as a back end's pruning left
// them, and what is given to the core: the lattice with exact extra costs, and its settled pieces, as plain arrays. Who
// searches appends frames; what their links are found by is the back end's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

// An arc between tokens. They are numbered in the source's frame and in the destination's.
struct LatticeLink {
  uint32_t source, destination;
  uint32_t arc;
  float cost;  // how much dearer than the destination's token
  float acoustic_cost;
};

// A frame's tokens have the numbers 0 ... n_tokens - 1, those that pruning removed left out. Links of either kind are in the
// order of their arcs where they have the same source.
struct LatticeFrame {
  std::vector<LatticeLink> emitting, epsilon;  // that lead to its tokens
  uint32_t n_tokens = 0;
  std::vector<float> extra;  // [n_tokens] when it was pruned last: at most the final extra costs; empty before
};

// The graph as lattices read it.
class LatticeGraph {
 public:
  virtual ~LatticeGraph() = default;
  virtual uint32_t start_state() const = 0;
  virtual uint32_t next_state(size_t arc) const = 0;
  virtual asr_graph_arc arc(uint32_t index) const = 0;
  virtual void prefetch(size_t arc) const = 0;              // it will be asked for
  virtual uint32_t epsilon_rank(uint32_t state) const = 0;  // such arcs make no cycle
};

class LatticeFrames {
 public:
  LatticeFrames(const LatticeGraph &graph, float lattice_beam) : graph_(graph), lattice_beam_(lattice_beam) {}

  float lattice_beam() const { return lattice_beam_; }
  // From the last frame of the piece taken last on; the number of the first of them is first_frame().
  std::vector<LatticeFrame> &frames() { return frames_; }
  const std::vector<LatticeFrame> &frames() const { return frames_; }
  size_t first_frame() const { return first_frame_; }

  // The frames up to frame `last`, whose extra costs are final for its piece, are pruned no more.
  void settle(size_t last);
  // Settles every piece that ends in frames first ... last.
  void settle_pieces(size_t first, size_t last);
  // Frames after the first that are settled.
  size_t n_settled() const { return n_settled_; }

  // The lattice whose newest tokens have these costs and final costs, +infinity where no path ends. Arrays are valid until the
  // next call.
  void output(const std::vector<float> &costs, const std::vector<float> &final_costs, asr_raw_lattice *lattice);
  // Fills the next settled piece and forgets it; leaves the lattice as it is if there is none.
  void take_piece(asr_raw_lattice *piece);

  // Extra costs of tokens that epsilon links leave, from those of their destinations: the least by the fixed point.
  static void follow_back(const std::vector<LatticeLink> &epsilon, std::vector<float> &extra);

 private:
  using Extra = std::vector<float>;
  // A piece that has not been taken.
  struct Piece {
    size_t last;      // its last frame
    Extra end_extra;  // of that frame's tokens, when the piece was settled
  };
  std::vector<Extra> extra_costs(size_t n_frames, const Extra &end_extra) const;
  void make_arrays(const std::vector<Extra> &extra, size_t n_closed);
  void number_states(const std::vector<Extra> &extra);
  void output_arcs(const std::vector<Extra> &extra, size_t n_closed);
  void point_to_arrays(asr_raw_lattice *lattice) const;

  const LatticeGraph &graph_;
  const float lattice_beam_;
  std::vector<LatticeFrame> frames_;
  size_t first_frame_ = 0, n_settled_ = 0;
  std::vector<Piece> pieces_;

  std::vector<std::vector<uint32_t>> state_of_;  // the last output: of each frame's tokens, kNoState where they are left out
  std::vector<uint32_t> frame_of_;
  std::vector<float> final_costs_;
  std::vector<uint64_t> arc_begin_;
  std::vector<asr_raw_arc> arcs_;
};

}  // namespace asr
