// SPDX-License-Identifier: Apache-2.0
// Trace records the paths of tokens: one record per arc, each with the index of the record before it. compact() removes records
// that no token can reach, and moves the part that all tokens share to the settled path. Paths that do not join are cut
// (docs/search.md). So memory depends on the living paths, not on the length of the audio. Lattices keep their own links
// (search_lattice.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/page_allocator.h"
#include "plugins/cpu/search_graph.h"

namespace asr::cpu {

class Trace {
 public:
  static constexpr uint32_t kRoot = 0xffffffffu;  // the end of the settled path

  Trace(const SearchGraph &graph, float acoustic_scale, float word_insertion_cost);

  // Adds a record of arc number `arc` after record `previous`; returns its index.
  uint32_t add(uint32_t previous, uint32_t arc, float acoustic_cost) {
    Record &record = records_.emplace_back();  // fields are set one by one, as in Token::set
    record.previous = previous;
    record.arc = arc;
    record.acoustic_cost = acoustic_cost;
    return static_cast<uint32_t>(&record - records_.data());
  }

  // Compacts the trace if it has grown enough: removes records that `tokens` cannot reach and renumbers those of `tokens`.
  void compact(TokenList &tokens);

  // Returns for each token its path's emitting arc in `frame`, which no path has in its last arc: equal numbers, equal arcs.
  std::vector<uint32_t> emitting_arcs(const PagedVector<Token> &tokens, uint32_t frame) const;

  // Fills arcs() with the whole path that ends with record `last` and then, unless arc is 0, with arc number arc - 1. Returns
  // its cost.
  double path(uint32_t last, uint32_t arc, float acoustic_cost);
  const std::vector<asr_path_arc> &arcs() const { return arcs_; }

  // Fills arcs() with the settled path, which leaves the trace: later paths list the arcs after it.
  void take_settled();

  // Returns the number of arcs that path() lists for the common part of all tokens' paths.
  size_t n_common_arcs(const TokenList &tokens);

 private:
  struct Record {
    uint32_t previous, arc;
    float acoustic_cost;
  };
  // End is the end of a path under construction: the number of its frames, the number of listed arcs that have not been taken,
  // and the cost of all its arcs.
  struct End {
    uint32_t n_frames = 0;
    size_t n_arcs = 0;
    double cost = 0;
  };
  uint32_t mark(const TokenList &tokens);
  void chain(uint32_t last);
  bool is_told(uint32_t arc) const;
  void append(const Record &record, End &end);

  const SearchGraph &graph_;
  const float acoustic_scale_, word_insertion_cost_;
  PagedVector<Record> records_;
  PagedVector<uint32_t> new_index_, chain_;
  std::vector<asr_path_arc> arcs_;
  End settled_;
  size_t compact_at_;
};

}  // namespace asr::cpu
