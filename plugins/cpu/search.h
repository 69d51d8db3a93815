// SPDX-License-Identifier: Apache-2.0
// Search is the Viterbi beam search of one channel on the CPU, as docs/search.md defines it. entry.cc makes one per channel
// and advances channels in parallel; channels share only the SearchGraph. A frame takes three steps: select
// (search_select.cc), expand and follow_epsilons (search_expand.cc). Now and then paths that do not join are cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/cpu/gmm_asked.h"
#include "plugins/cpu/search_graph.h"
#include "plugins/cpu/search_lattice.h"
#include "plugins/cpu/search_tokens.h"
#include "plugins/cpu/search_trace.h"

namespace asr::cpu {

class Search {
 public:
  Search(const SearchGraph &graph, const asr_search_options &options);

  uint32_t n_pdfs() const { return graph_.packed().n_pdfs; }
  const StateSet &pdfs() const { return graph_.pdfs(); }
  uint64_t n_arcs_expanded() const { return n_arcs_expanded_; }

  // Consumes rows loglikes[t * stride ... + n_pdfs - 1]. A search whose beam has died consumes nothing.
  void advance(const float *loglikes, size_t stride, uint32_t n_frames);
  // Consumes the rows of a tile, whose states are scored when the search comes to them.
  void advance(AskedRows &tile);

  // See asr_backend_api::best_paths. The arcs are valid until the next call.
  void best_path(bool use_final, asr_path *path);

  // See ASR_WANTS_PIECE of asr_backend_api::best_paths.
  void path_piece(asr_path *path);

  // See ASR_WANTS_COMMON.
  uint64_t n_common_arcs() { return trace_.n_common_arcs(tokens_); }

  // See asr_backend_api::lattices. The arrays are valid until the next call.
  void lattice(bool use_final, asr_raw_lattice *lattice);
  void lattice_piece(asr_raw_lattice *piece);

 private:
  void begin();
  bool consume(SearchScratch &scratch);
  void put(const float *loglikes, uint32_t first_pdf, size_t n, SearchScratch &scratch) const;
  void put(const AskedRows::Scores &scores, SearchScratch &scratch) const;

  void select(SearchScratch &scratch);
  void select_beam(SearchScratch &scratch) const;
  void select_min_active(SearchScratch &scratch) const;
  void select_max_active(SearchScratch &scratch) const;

  template <bool kAsks>
  void expand(SearchScratch &scratch);
  void prefetch_arcs(uint32_t state) const;
  void insert_candidates(SearchScratch &scratch, size_t n_candidates) const;
  void follow_epsilons(TokenList &list, SearchScratch &scratch);
  void expand_epsilons(TokenList &list, SearchScratch &scratch);
  void cut_paths(SearchScratch &scratch, uint32_t frame) const;

  SearchLattice &links();
  const Token *best_token(const PagedVector<Token> &tokens, bool with_final) const;
  float scaled_cost(float loglike) const;
  void ask(const StateRecord &record, SearchScratch &scratch) const;
  // Returns the trace record of a token's path, which it adds if needed.
  uint32_t record(Token &token) {
    if (token.arc != 0) {
      token.previous = trace_.add(token.previous, token.arc - 1, acoustic_cost(token));
      token.arc = 0;
    }
    return token.previous;
  }
  float acoustic_cost(const Token &token) const { return 0.0f - loglike_[token.label & graph_.pdf_mask()]; }

  const SearchGraph &graph_;
  const asr_search_options options_;
  Trace trace_;
  std::optional<SearchLattice> lattice_;
  TokenList tokens_;            // tokens after n_frames_ frames
  std::vector<float> loglike_;  // the last row consumed, and a 0 for epsilon arcs
  uint32_t n_frames_ = 0;
  bool died_ = false;
  uint64_t n_tokens_ = 0, n_arcs_expanded_ = 0;
};

}  // namespace asr::cpu
