// SPDX-License-Identifier: Apache-2.0
// SearchGraph is the packed graph that the search reads: the core's arrays in place, or arrays made from a view. All channels
// of the graph share it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/page_allocator.h"
#include "core/graph/packed/marked_places.h"
#include "core/graph/packed/pack.h"
#include "plugins/common/lattice_frames.h"
#include "plugins/common/state_set.h"
#include "plugins/cpu/mapped_array.h"
#include "plugins/cpu/search_tokens.h"

namespace asr::cpu {

class SearchGraph : public LatticeGraph {
 public:
  explicit SearchGraph(const asr_packed_graph &packed);  // reads the graph in place; it must outlive this
  explicit SearchGraph(const asr_graph_view &view);      // copies; the view's arrays may be freed afterwards

  const asr_packed_graph &packed() const { return packed_; }
  uint32_t pdf_mask() const { return pdf_mask_; }
  const StateSet &pdfs() const { return pdfs_; }  // of its transition-ids
  StateRecord state(uint32_t place) const { return packed_.state(place); }
  float final_cost(uint32_t place) const { return state(place).final_cost; }  // infinite: not final
  void prefetch_state(uint32_t place) const { __builtin_prefetch(packed_.records + place); }
  bool is_emitting(uint32_t arc) const {
    return packed_.is_loop(arc) || (packed_.records[arc / 2 + 1] & pdf_mask_) != packed_.n_pdfs;
  }

  // LatticeGraph's functions name a state by its offset in the records and an arc by its number.
  uint32_t start_state() const override { return packed_.start_state; }
  uint32_t next_state(size_t arc) const override { return packed_.next_state(static_cast<uint32_t>(arc)); }
  asr_graph_arc arc(uint32_t arc) const override { return packed_.arc(arc); }
  void prefetch(size_t arc) const override { __builtin_prefetch(packed_.records + arc / 2); }
  uint32_t epsilon_rank(uint32_t place) const override;

  // Returns true if epsilon arcs make no cycle. The first call computes the ranks that epsilon_rank needs.
  bool makes_lattices() const;

  // Take and return the scratch memory of a thread that advances a channel. Returned memory is reused.
  std::unique_ptr<SearchScratch> take_scratch() const;
  void give_scratch(std::unique_ptr<SearchScratch> scratch) const;

 private:
  // Epsilon ranks of the states that epsilon arcs enter.
  struct EpsilonRanks {
    explicit EpsilonRanks(const asr_packed_graph &graph);
    MarkedPlaces states;
    PagedVector<uint32_t> ranks;
    bool found = false;  // false: epsilon arcs make a cycle
  };

  PackedArrays own_;  // arrays made from a view, except for the records
  MappedArray<uint32_t> own_records_;
  std::vector<uint32_t> own_pdf_of_;
  asr_packed_graph packed_;
  uint32_t pdf_mask_;
  StateSet pdfs_;
  mutable std::once_flag ranked_;
  mutable std::optional<EpsilonRanks> epsilon_ranks_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<SearchScratch>> scratch_;
};

// Holds a scratch for the length of a scope.
class ScratchLease {
 public:
  explicit ScratchLease(const SearchGraph &graph) : graph_(graph), scratch_(graph.take_scratch()) {}
  ~ScratchLease() { graph_.give_scratch(std::move(scratch_)); }
  ScratchLease(const ScratchLease &) = delete;
  ScratchLease &operator=(const ScratchLease &) = delete;
  SearchScratch &operator*() const { return *scratch_; }

 private:
  const SearchGraph &graph_;
  std::unique_ptr<SearchScratch> scratch_;
};

}  // namespace asr::cpu
