// SPDX-License-Identifier: Apache-2.0
// The lattice of a channel on the device ("The lattice" in docs/search.md): the links of a frame, pruning, and the counts of
// frames.
//
// A frame's links are made when its tokens have their last costs, and appended to the channel's in no order. Emitting links are
// among the frame's candidates, which are kept until it ends. Epsilon links are among the arcs followed in all rounds.
// An arc becomes a link if its source has kept its path.
//
// Pruning removes links that cannot be in the final lattice. It finds extra costs from the newest frame backwards, with 0 for
// all of its tokens. It ends at a frame with the extra costs of the last pruning. In a frame they are the fixed point of its
// epsilon links. Then the frame's tokens within the beam are renumbered, and its links within the beam move to the front of its
// range. Extra costs are at least 0, so that their bits order like they do.
//
// A lattice is written as it is if the utterance ends with the newest frame. It is pruned from the extra costs of the newest
// tokens with their final costs. It goes behind the channel's own links and frames, which stay as they are. Only this crosses
// to the host, a hundredth of the newest frames' links.
//
// The including file defines a type Values first, and its functions (search_values_hooks-inl.h).
#ifndef SENONE_KERNELS_SEARCH_LATTICE_H
#define SENONE_KERNELS_SEARCH_LATTICE_H

#include "plugins/common/lattice_pieces-inl.h"
#include "plugins/gpu/search/search_costs-inl.h"
#include "plugins/gpu/search/search_values_hooks-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

// ---- a frame's links -------------------------------------------------------------------------------------------------------

// Makes the link of an arc whose destination costs destination_cost. Returns false if it is dearer than the lattice beam
// allows, about half are: no lattice can have it. The destination was cut if it is dearer than its arc.
DEVICE bool make_link(uint32_t source, uint32_t destination, uint32_t arc, float cost, float destination_cost,
                      float lattice_beam, SearchLink *link) {
  link->source = source;
  link->destination = destination;
  link->arc = arc;
  link->cost = subtract_rounded(cost, destination_cost);
  return link->cost >= 0 && link->cost <= lattice_beam;
}

// Adds a frame to the counts and returns it; its links are behind all others.
DEVICE SearchFrame append_frame(LOCAL ChannelLattice *lattice, uint32_t n_emitting, uint32_t n_epsilon, uint32_t n_tokens) {
  const SearchFrame frame = {lattice->n_links, n_emitting, n_epsilon, n_tokens, 0};
  ++lattice->n_frames;
  ++lattice->n_unpruned;
  lattice->n_links += n_emitting + n_epsilon;
  return frame;
}

// ---- counts of frames ------------------------------------------------------------------------------------------------------

DEVICE uint32_t newest_frame(LOCAL const ChannelLattice *lattice) { return lattice->first_frame + lattice->n_frames - 1; }

// Count the frames at the front: frames that are pruned no more, and frames that the host has.
DEVICE uint32_t n_fixed_frames(LOCAL const ChannelLattice *lattice) {
  return n_settled_frames(lattice->last_settled, lattice->first_frame);
}
DEVICE uint32_t n_known_frames(LOCAL const ChannelLattice *lattice) {
  return lattice->first_frame + lattice->n_taken > 0 ? lattice->n_taken + 1 : 0;
}

// Forgets the frames that the host has taken, once the others have moved to the front.
DEVICE void drop_taken_frames(LOCAL ChannelLattice *lattice) {
  lattice->first_frame += lattice->n_taken;
  lattice->n_frames -= lattice->n_taken;
  lattice->n_taken = 0;
}

// Notes the links that the host takes next, so that it need not read the frames first.
DEVICE void note_settled_links(LOCAL ChannelLattice *lattice, GLOBAL const SearchFrame *frames) {
  if (lattice->lattice_beam <= 0 || lattice->last_settled == 0) return;
  const uint32_t first = n_known_frames(lattice), last = lattice->last_settled - lattice->first_frame;
  if (first > last) return;
  const SearchFrame frame = frames[last];
  lattice->settled_begin = frames[first].first_link;
  lattice->settled_end = frame.first_link + frame.n_emitting + frame.n_epsilon;
}

// Returns true if the buffer has entries for a lattice's frames behind the channel's own, without the first n_known.
DEVICE bool output_fits(LOCAL const ChannelLattice *lattice, uint32_t n_known) {
  return 2 * lattice->n_frames - n_known <= lattice->max_frames;
}
// Returns the entry of frame t: the newest comes first.
DEVICE uint32_t output_entry(LOCAL const ChannelLattice *lattice, uint32_t t) {
  return lattice->n_frames + (lattice->n_frames - 1 - t);
}

// ---- ends of paths ---------------------------------------------------------------------------------------------------------

// Lowers least[0] to a token's cost and, with use_final, least[1] to its cost with its final cost, if that is finite.
DEVICE void lower_end_costs(GLOBAL const SearchToken *token, bool use_final, GLOBAL const float *final_costs,
                            LOCAL uint32_t *least) {
  for (uint32_t with_final = 0; with_final <= (use_final ? 1 : 0); ++with_final) {
    const float cost = end_cost(token, with_final != 0, final_costs);
    if (cost <= FLT_MAX) atomic_min(&least[with_final], ordered(cost));
  }
}

// Returns true if one of the tokens can end with its final cost.
DEVICE bool reaches_final(LOCAL const uint32_t *least) { return least[1] != ordered(INFINITY); }

// Returns the bits of a token's extra cost if the utterance ends here.
DEVICE uint32_t end_extra(GLOBAL const SearchToken *token, GLOBAL const float *final_costs, LOCAL const uint32_t *least) {
  const bool with_final = reaches_final(least);
  return extra_of_end(end_cost(token, with_final, final_costs), cost_of(least[with_final ? 1 : 0]));
}

// ---- pruning ---------------------------------------------------------------------------------------------------------------

// Returns the bits of the extra cost of the best path through a link; of_frame: extra costs of its destination's frame.
FOR_TYPE(Values) DEVICE uint32_t extra_of_link(const Values *of_frame, const SearchLink *link) {
  return extra_through(value_now(of_frame, link->destination), link->cost);
}

// Lowers the extra cost of the token that an epsilon link leaves. Returns true if it fell.
FOR_TYPE(Values) DEVICE bool follow_back(const Values *of_frame, const SearchLink *link) {
  CHECK_HOOKS(ValuesHooks, Values);
  const uint32_t through = extra_of_link(of_frame, link);
  return through < value_now(of_frame, link->source) && lower_value(of_frame, link->source, through) > through;
}

// Renumbers the tokens of a link that stays. An emitting link lowers the extra cost of its source, in the frame before; its
// source is renumbered when that frame is pruned.
FOR_TYPE(Values)
DEVICE void renumber_link(const Values *before, const Values *new_number, bool emitting, uint32_t through, SearchLink *link) {
  if (emitting) {
    lower_value(before, link->source, through);
  } else {
    link->source = value_now(new_number, link->source);
  }
  link->destination = value_now(new_number, link->destination);
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_LATTICE_H
