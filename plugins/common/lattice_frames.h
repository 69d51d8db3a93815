// SPDX-License-Identifier: Apache-2.0
// LatticeFrames has the links of a channel that makes lattices, frame by frame ("The lattice" in docs/search.md). A back end
// appends frames and prunes their links. LatticeFrames gives the core the lattice with exact extra costs, and its settled
// pieces, as plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/page_allocator.h"

namespace asr {

// LatticeLink is an arc between tokens: `source` is a token's number in its frame, `destination` one in the frame it leads to.
struct LatticeLink {
  uint32_t source, destination;
  uint32_t arc;
  float cost;  // cost of the path through it, less that of the destination's token
  float acoustic_cost;
};

// LatticeFrame numbers a frame's tokens 0 ... n_tokens - 1, without the tokens that pruning removed. Links of either kind with
// the same source are in the order of their arcs.
struct LatticeFrame {
  std::vector<LatticeLink> emitting, epsilon;  // links into its tokens
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
  virtual void prefetch(size_t arc) const = 0;              // hint: arc() follows
  virtual uint32_t epsilon_rank(uint32_t state) const = 0;  // only if epsilon arcs make no cycle
};

class LatticeFrames {
 public:
  LatticeFrames(const LatticeGraph &graph, float lattice_beam) : graph_(graph), lattice_beam_(lattice_beam) {}

  float lattice_beam() const { return lattice_beam_; }
  // Returns the frames from the last frame of the last piece taken on; first_frame() is the number of the first of them.
  std::vector<LatticeFrame> &frames() { return frames_; }
  const std::vector<LatticeFrame> &frames() const { return frames_; }
  size_t first_frame() const { return first_frame_; }

  // Ends the pruning of the frames up to `last`, whose extra costs are final for its piece.
  void settle(size_t last);
  // Settles every piece that ends in frames first ... last.
  void settle_pieces(size_t first, size_t last);
  // Returns the number of settled frames after the first.
  size_t n_settled() const { return n_settled_; }

  // Fills the lattice whose newest tokens have these costs and final costs, +infinity where no path ends. Arrays are valid
  // until the next call.
  void output(const std::vector<float> &costs, const std::vector<float> &final_costs, asr_raw_lattice *lattice);
  // Fills the next settled piece and forgets it; leaves the lattice as it is if there is none.
  void take_piece(asr_raw_lattice *piece);

  // Lowers the extra costs of tokens that epsilon links leave, to the costs of paths through these links.
  static void follow_back(const std::vector<LatticeLink> &epsilon, std::vector<float> &extra);

 private:
  using Extra = std::vector<float>;
  // Piece is a settled piece that has not been taken.
  struct Piece {
    size_t last;      // its last frame
    Extra end_extra;  // extra costs of that frame's tokens, when the piece was settled
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

  std::vector<std::vector<uint32_t>> state_of_;  // states of the last output: by frame and token, kNoState if left out
  std::vector<uint32_t> frame_of_;
  std::vector<float> final_costs_;
  std::vector<uint64_t> arc_begin_;
  PagedVector<asr_raw_arc> arcs_;
};

}  // namespace asr
