// SPDX-License-Identifier: Apache-2.0
// A graph as the search reads it: arcs repacked to 12 bytes with the pdf in the place of the transition-id, the two arc
// ranges of a state side by side. What only results need, transition-ids and words, is kept apart in 2 bytes an arc and 4 a
// word, so that the view's arcs need not stay in memory. Shared by all channels of the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/common/lattice_frames.h"
#include "plugins/common/mapped_array.h"
#include "plugins/cpu/search_tokens.h"

namespace asr::cpu {

class SearchGraph : public LatticeGraph {
 public:
  explicit SearchGraph(const asr_graph_view &view);  // its arrays may go afterwards

  const SearchArc *arcs() const { return arcs_.data(); }
  asr_graph_arc arc(uint32_t index) const override;  // as in the view
  uint32_t start_state() const override { return start_state_; }
  uint32_t n_pdfs() const { return n_pdfs_; }
  float final_cost(uint32_t state) const { return final_costs_[state]; }  // infinite: not final
  uint32_t next_state(size_t arc) const override { return arcs_[arc].next_state; }
  void prefetch(size_t arc) const override { __builtin_prefetch(&arcs_[arc]); }
  uint32_t n_states() const { return n_states_; }
  size_t n_arcs() const { return arcs_.size(); }
  uint32_t n_emitting_arcs() const { return begins_[n_states_].emitting; }
  uint32_t emitting_begin(uint32_t state) const { return begins_[state].emitting; }
  uint32_t emitting_end(uint32_t state) const { return begins_[state + size_t{1}].emitting; }
  uint32_t epsilon_begin(uint32_t state) const { return begins_[state].epsilon; }
  uint32_t epsilon_end(uint32_t state) const { return begins_[state + size_t{1}].epsilon; }
  void prefetch_begins(uint32_t state) const { __builtin_prefetch(&begins_[state]); }

  // Found at the first call.
  const uint32_t *epsilon_ranks() const override;

  // Working memory, one for each thread that advances a channel at the moment; given back to be used again.
  std::unique_ptr<SearchScratch> take_scratch() const;
  void give_scratch(std::unique_ptr<SearchScratch> scratch) const;

 private:
  static constexpr uint32_t kWordBlock = 64;
  struct Begins {
    uint32_t emitting, epsilon;
  };
  void add_transition_ids(const asr_graph_view &view);
  void add_words(const asr_graph_view &view);

  const uint32_t n_states_, start_state_, n_pdfs_;
  MappedArray<SearchArc> arcs_;
  MappedArray<Begins> begins_;                 // [n_states + 1]
  MappedArray<float> final_costs_;             // [n_states]
  std::vector<uint32_t> ids_by_pdf_;           // all transition-ids
  std::vector<uint32_t> first_id_;             // [n_pdfs + 1]: where those of a pdf begin
  MappedArray<uint16_t> id_of_arc_;            // [n_emitting_arcs]: which of its pdf's
  std::vector<uint32_t> words_;                // of the arcs that have one
  std::vector<uint32_t> first_word_of_block_;  // of kWordBlock arcs
  mutable std::once_flag ranked_;
  mutable std::vector<uint32_t> epsilon_ranks_;  // [n_states]; empty if there is a cycle
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<SearchScratch>> scratch_;
};

// Scratch for the length of a scope.
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
