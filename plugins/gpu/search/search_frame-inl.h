// SPDX-License-Identifier: Apache-2.0
// The steps of a frame, a warp at a time (docs/search.md): arcs become candidates, candidates that won become tokens, and
// followed arcs become links. The back end provides the loops over lists, and the barriers (search_driver-inl.h). Before it
// includes this file it defines log_likelihood_of(row, pdf), the warp functions of search_stretch-inl.h, and
// warp_append(size, wanted). The last one reserves an index in a list for each lane with `wanted`. For its type Search,
// a block's search and table, it defines the functions that search_frame_hooks-inl.h declares, and
//   warp_offer(s, followed, ...)      is warp_enter_own, or sends arcs to the block that owns their state
#ifndef SENONE_KERNELS_SEARCH_FRAME_H
#define SENONE_KERNELS_SEARCH_FRAME_H

#include "plugins/gpu/search/search_frame_hooks-inl.h"
#include "plugins/gpu/search/search_lattice-inl.h"
#include "plugins/gpu/search/search_stretch-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

// The counters of arcs that were followed from a list. Candidates begin at `first`.
typedef struct FollowedArcs {
  uint32_t first;
  LOCAL uint32_t *n_candidates, *n_epsilon_links;
} FollowedArcs;

DEVICE float arc_acoustic_cost(const FrameSteps *steps, uint32_t arc) {
  return acoustic_cost_of(log_likelihood_of(steps->row, steps->arcs[arc].label & kArcPdf));
}

// ---- expand ----------------------------------------------------------------------------------------------------------------

// Appends the epsilon arcs of lanes with `wanted` to the links for the lattice.
FOR_TYPE(Search)
DEVICE void warp_add_epsilon_link(const Search *s, LOCAL uint32_t *n, bool wanted, const EpsilonLink *link) {
  const uint32_t index = warp_append(n, wanted);
  if (wanted) put_epsilon_link(s, index, link);
}

// Enters arcs into the block's own table and appends the useful ones to the candidates. Returns true in the lanes that
// have one.
FOR_TYPE(Search)
DEVICE bool warp_enter_own(const Search *s, const FollowedArcs *followed, bool emitting, const ArcStep *step, float cost,
                           bool wanted) {
  const uint32_t slot = warp_enter(s, emitting, step->arc.next_state, wanted, step->arc_index, cost);
  const bool keep = slot != kNoSlot;
  const uint32_t from = emitting || !keep ? step->token : slot_record(s, step->token);
  const uint32_t index = followed->first + warp_append(followed->n_candidates, keep);
  const Candidate candidate = {slot | (step->arc.label & kArcEpsilon), step->arc_index, cost, from};
  if (keep) put_candidate(s, index, &candidate);
  if (!emitting && has_lattice(s)) {
    const EpsilonLink link = {step->token, slot, step->arc_index, from, cost};
    warp_add_epsilon_link(s, followed->n_epsilon_links, keep, &link);
  }
  return keep;
}

// Follows a stretch of a list's arcs into candidates. The loads of a step are under way while the one before enters the table.
FOR_TYPE(Search)
DEVICE void warp_expand(const Search *s, const FrameSteps *steps, const FollowedArcs *followed, bool emitting,
                        ArcStretch stretch) {
  if (stretch_ends(&stretch)) return;
  ArcStep step = warp_next_step(&stretch, steps->arcs);
  for (bool last = false; !last;) {
    ArcStep following = {false, 0, 0, 0.0f, {0, 0, 0.0f, 0}};
    last = stretch_ends(&stretch);
    if (!last) following = warp_next_step(&stretch, steps->arcs);
    const float log_likelihood = emitting && step.valid ? log_likelihood_of(steps->row, step.arc.label & kArcPdf) : 0.0f;
    const float cost = step.valid ? arc_cost(&steps->beam, emitting, log_likelihood, &step.arc, step.from_cost) : INFINITY;
    const float bound = emitting ? warp_lower_best(s, cost, step.valid) : steps->bound;
    const bool wanted = step.valid && cost <= bound;
    const bool keep = warp_offer(s, followed, emitting, &step, cost, acoustic_cost_of(log_likelihood), wanted);
    if (!emitting) warp_lower_best(s, cost, keep);
    step = following;
  }
}

// ---- resolve ---------------------------------------------------------------------------------------------------------------

// Makes tokens of the candidates that won, and a list of tokens whose epsilon arcs follow. In the next round only a
// lower cost replaces a token that an epsilon arc made. Emitting arcs need no such mark, since an epsilon arc of the
// same cost has the higher index. Lanes without a candidate have valid == false.
FOR_TYPE(Search)
DEVICE void warp_resolve(const Search *s, const FrameSteps *steps, bool emitting, uint32_t next_list, uint32_t index,
                         const Candidate *candidate, bool valid) {
  const uint32_t slot = candidate->slot & kCandidateSlot;
  bool won = valid && candidate->slot != kNoSlot && candidate->cost <= steps->bound;
  won = won && has_key(s, slot, candidate->cost, candidate->arc + 1);
  ArcBegins begin = {0, 0}, end = {0, 0};
  if (won && (candidate->slot & kCandidateEpsilon) != 0) {
    const uint32_t state = slot_state(s, slot);
    begin = steps->begins[state];
    end = steps->begins[state + 1];
  }
  TraceRecord record = {candidate->from, candidate->arc, 0.0f};
  if (emitting && won) {
    record.previous = steps->tokens[candidate->from].record;
    record.acoustic_cost = candidate_acoustic_cost(s, steps, index, candidate->arc);
  }
  const uint32_t number = warp_append(steps->n_records, won);
  if (won) {
    if (!emitting) must_undercut(s, slot, candidate->cost);
    set_slot_record(s, slot, number);
    put_record(s, number, &record);
  }
  warp_append_item(s, next_list, begin.epsilon, end.epsilon - begin.epsilon, candidate->cost, slot);
}

// ---- tokens ----------------------------------------------------------------------------------------------------------------

// Writes tokens within the bound to the channel's. Frees their slots, or numbers them if links are to lead to them. Returns
// whether the lane's token is written and has at most the cost `cutoff`.
FOR_TYPE(Search)
DEVICE bool warp_finish_token(const Search *s, float bound, float cutoff, uint32_t i, uint32_t n) {
  CHECK_HOOKS(FrameHooks, Search);
  const bool has_links = has_lattice(s);
  SearchToken token = {0, 0.0f, 0};
  uint32_t slot = 0;
  bool keep = false;
  if (i < n) {
    slot = used_slot(s, i);
    token.state = slot_state(s, slot);
    token.cost = slot_cost(s, slot);
    token.record = slot_record(s, slot);
    keep = token.cost <= bound;
    if (!has_links) free_slot(s, slot);
  }
  const uint32_t number = warp_number_token(s, &token, keep);
  if (keep && has_links) set_slot_number(s, slot, number);
  if (keep) put_token(s, number, &token);
  return keep && token.cost <= cutoff;
}

// ---- links -----------------------------------------------------------------------------------------------------------------

// Makes links of candidates of emitting arcs, once the tokens that they lead to are numbered. They are appended from first_link
// on.
FOR_TYPE(Search)
DEVICE void warp_link_candidate(const Search *s, const FrameSteps *steps, float lattice_beam, uint32_t first_link,
                                LOCAL uint32_t *n_links, uint32_t index, const Candidate *candidate, bool valid) {
  bool keep = valid && candidate->slot != kNoSlot && candidate->cost <= steps->bound;
  SearchLink link = {0, 0, 0, 0.0f};
  float acoustic_cost = 0.0f;
  if (keep) {
    const uint32_t slot = candidate->slot & kCandidateSlot;
    keep = make_link(candidate->from, slot_number(s, slot), candidate->arc, candidate->cost, slot_cost(s, slot), lattice_beam,
                     &link);
  }
  if (keep) acoustic_cost = candidate_acoustic_cost(s, steps, index, candidate->arc);
  const uint32_t number = first_link + warp_append(n_links, keep);
  if (keep) put_link(s, number, &link, acoustic_cost);
}

// Makes links of epsilon arcs, once all tokens are numbered. The source kept the path that was followed if it has the same
// record.
FOR_TYPE(Search)
DEVICE void warp_link_epsilon_arc(const Search *s, float lattice_beam, uint32_t first_link, LOCAL uint32_t *n_links,
                                  GLOBAL const EpsilonLink *arcs, uint32_t i, uint32_t n_arcs) {
  bool keep = false;
  SearchLink link = {0, 0, 0, 0.0f};
  if (i < n_arcs) {
    const EpsilonLink arc = arcs[i];
    const bool is_last_path = arc.from == source_record(s, arc.source);
    keep = make_link(source_number(s, arc.source), slot_number(s, arc.destination), arc.arc, arc.cost,
                     slot_cost(s, arc.destination), lattice_beam, &link) &&
           is_last_path;
  }
  const uint32_t number = first_link + warp_append(n_links, keep);
  if (keep) put_link(s, number, &link, 0.0f);
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_FRAME_H
