// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "plugins/common/path_cuts-inl.h"
#include "plugins/common/search_options.h"

namespace asr::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNotAsked = std::numeric_limits<float>::quiet_NaN();

}  // namespace

Search::Search(const SearchGraph &graph, const asr_search_options &options)
    : graph_(graph),
      options_(checked(options)),
      trace_(graph, options.acoustic_scale, options.word_insertion_cost),
      loglike_(graph.packed().n_pdfs + size_t{1}) {
  if (options.lattice_beam > 0 && graph.makes_lattices()) lattice_.emplace(graph, options.lattice_beam);
  begin();
}

void Search::begin() {
  ScratchLease lease(graph_);
  SearchScratch &scratch = *lease;
  const uint32_t start = graph_.start_state();
  tokens_.tokens.assign(1, Token(start, 0.0f, 0, Trace::kRoot, n_pdfs() | PackedArc::kToEpsilons));
  tokens_.best = 0;
  tokens_.bound = options_.beam;
  scratch.slot_of.clear(1);
  scratch.slot_of[start] = 0;
  scratch.fallen.assign(1, 0);
  scratch.n_links = 0;
  follow_epsilons(tokens_, scratch);
  if (lattice_) lattice_->add_frame(tokens_.tokens, scratch, loglike_);
}

void Search::advance(const float *loglikes, size_t stride, uint32_t n_frames) {
  if (died_ || n_frames == 0) return;
  ScratchLease lease(graph_);
  (*lease).asked = nullptr;
  for (uint32_t t = 0; t < n_frames; ++t) {
    put(loglikes + t * stride, 0, n_pdfs(), *lease);
    if (!consume(*lease)) return;
  }
}

void Search::advance(AskedRows &tile) {
  if (died_) return;
  ScratchLease lease(graph_);
  SearchScratch &scratch = *lease;
  std::fill(scratch.acoustic_cost.begin(), scratch.acoustic_cost.end(), kNotAsked);
  scratch.asked = &tile;
  for (scratch.frame = 0; scratch.frame < tile.n_frames(); ++scratch.frame) {
    for (size_t i = 0; i < tile.n_asked(); ++i) put(tile.asked(i, scratch.frame), scratch);
    if (!consume(scratch)) return;
  }
}

// Returns the cost of a log-likelihood that is finite once scaled, or infinity.
float Search::scaled_cost(float loglike) const {
  const float cost = -options_.acoustic_scale * loglike;
  return std::abs(cost) < kInfinity ? cost : kInfinity;
}

// Puts log-likelihoods of n pdfs, and their costs, into the scratch.
void Search::put(const float *loglikes, uint32_t first_pdf, size_t n, SearchScratch &scratch) const {
  float *const loglike = scratch.loglike.data() + first_pdf, *const cost = scratch.acoustic_cost.data() + first_pdf;
  for (size_t i = 0; i < n; ++i) {
    loglike[i] = loglikes[i];
    cost[i] = scaled_cost(loglikes[i]);
  }
}

void Search::put(const AskedRows::Scores &scores, SearchScratch &scratch) const {
  const uint32_t first = scores.states.front();
  const size_t n = scores.states.size();
  if (are_consecutive(scores.states) && scores.states.back() < n_pdfs()) return put(scores.loglikes, first, n, scratch);
  for (size_t i = 0; i < n; ++i) {
    if (scores.states[i] < n_pdfs()) put(scores.loglikes + i, scores.states[i], 1, scratch);
  }
}

// Replaces tokens_ by the tokens of the next frame, whose row is in the scratch. If none survives, tokens_ stay unchanged.
bool Search::consume(SearchScratch &scratch) {
  died_ = true;  // remains set if an exception ends this call
  select(scratch);
  scratch.asked != nullptr ? expand<true>(scratch) : expand<false>(scratch);
  if (scratch.next.tokens.empty()) return false;
  loglike_.swap(scratch.loglike);
  follow_epsilons(scratch.next, scratch);
  if (cuts_paths(n_frames_ + 1)) cut_paths(scratch, n_frames_ + 1 - kCutDistance);
  if (lattice_) lattice_->add_frame(scratch.next.tokens, scratch, loglike_);
  std::swap(tokens_, scratch.next);
  trace_.compact(tokens_);
  ++n_frames_;
  died_ = false;
  return true;
}

// Removes the next frame's tokens whose paths have another emitting arc in `frame` than the best token's, and their links.
void Search::cut_paths(SearchScratch &scratch, uint32_t frame) const {
  PagedVector<Token> &tokens = scratch.next.tokens;
  const std::vector<uint32_t> arcs = trace_.emitting_arcs(tokens, frame);
  const uint32_t best = arcs[static_cast<size_t>(best_token(tokens, false) - tokens.data())];
  std::vector<uint32_t> new_slot(tokens.size(), SlotTable::kNone);
  uint32_t n = 0;
  for (size_t slot = 0; slot < tokens.size(); ++slot) {
    if (arcs[slot] != best) continue;
    new_slot[slot] = n;
    tokens[n++] = tokens[slot];
  }
  if (n == tokens.size() || !lattice_) return tokens.resize(n);
  tokens.resize(n);
  size_t n_links = 0;
  for (size_t i = 0; i < scratch.n_links; ++i) {
    Token link = scratch.candidates[i];
    link.state = new_slot[link.state];
    if (link.state != SlotTable::kNone) scratch.candidates[n_links++] = link;
  }
  scratch.n_links = n_links;
  for (EpsilonLink &link : scratch.epsilon_links) {
    link.source = new_slot[link.source];
    link.destination = new_slot[link.destination];
  }
  const auto is_cut = [](const EpsilonLink &link) {
    return link.source == SlotTable::kNone || link.destination == SlotTable::kNone;
  };
  PagedVector<EpsilonLink> &links = scratch.epsilon_links;
  links.erase(std::remove_if(links.begin(), links.end(), is_cut), links.end());
}

// Returns the token of least cost; nullptr if with_final and no token is in a final state.
const Token *Search::best_token(const PagedVector<Token> &tokens, bool with_final) const {
  const Token *best = nullptr;
  float best_cost = kInfinity;
  for (const Token &token : tokens) {
    const float cost = token.cost + (with_final ? graph_.final_cost(token.state) : 0.0f);
    if (cost < best_cost || (cost == best_cost && best != nullptr && token.state < best->state)) {
      best = &token;
      best_cost = cost;
    }
  }
  return best;
}

void Search::path_piece(asr_path *path) {
  trace_.take_settled();
  path->arcs = trace_.arcs().data();
  path->n_arcs = trace_.arcs().size();
}

void Search::best_path(bool use_final, asr_path *path) {
  const Token *best = use_final ? best_token(tokens_.tokens, true) : nullptr;
  const bool reached_final = best != nullptr;
  if (!reached_final) best = best_token(tokens_.tokens, false);
  const double cost = trace_.path(best->previous, best->arc, acoustic_cost(*best));
  path->arcs = trace_.arcs().data();
  path->n_arcs = trace_.arcs().size();
  path->n_frames = n_frames_;
  path->reached_final = reached_final ? 1 : 0;
  path->beam_died = died_ ? 1 : 0;
  path->final_cost = reached_final ? graph_.final_cost(best->state) : 0.0f;
  path->total_cost = cost + double{path->final_cost};
  path->n_tokens = n_tokens_;
  path->n_arcs_expanded = n_arcs_expanded_;
}

SearchLattice &Search::links() {
  if (!(options_.lattice_beam > 0)) fail(ASR_INVALID_ARGUMENT, "lattice: the channel began with lattice_beam 0");
  if (!lattice_) fail(ASR_UNSUPPORTED, "lattice: the graph has a cycle of epsilon arcs; remove it to get lattices");
  return *lattice_;
}

void Search::lattice(bool use_final, asr_raw_lattice *lattice) {
  SearchLattice &links = this->links();
  const bool reached_final = use_final && best_token(tokens_.tokens, true) != nullptr;
  std::vector<float> costs, final_costs;
  for (const Token &token : tokens_.tokens) {
    costs.push_back(token.cost);
    final_costs.push_back(reached_final ? graph_.final_cost(token.state) : 0.0f);
  }
  links.output(costs, final_costs, lattice);
  lattice->n_frames = n_frames_;
  lattice->reached_final = reached_final ? 1 : 0;
  lattice->beam_died = died_ ? 1 : 0;
}

void Search::lattice_piece(asr_raw_lattice *piece) {
  *piece = {};
  links().take_piece(piece);
  piece->n_frames = n_frames_;
  piece->beam_died = died_ ? 1 : 0;
}

}  // namespace asr::cpu
