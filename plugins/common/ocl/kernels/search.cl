// SPDX-License-Identifier: Apache-2.0
// The Viterbi beam search: a work-group owns a channel and takes it through all frames of a window, with barriers of that group
// only. Nothing waits for the host or for other groups, so as many channels run beside each other as there are compute units,
// and further ones after them. A frame is a sequence of steps: select (search_select.h), expand and resolve the emitting arcs,
// expand and resolve epsilon arcs until no cost falls (search_expand.h), write the tokens down and free their slots. Channels
// that make lattices keep the frame's links (search_links.h), every few frames prune what they have (search_prune.h), and write
// the lattice when it is wanted (search_output.h). Between two steps one work-item decides about the next (search_steps.h), so
// that the only barriers are the two below: compilers that copy code for every path between barriers have nothing to copy, and
// what happens rarely costs nothing.
//
// A frame that does not fit its memory leaves the channel as it was before it: the kernel ends there and the host, with more
// memory, goes on. What is found depends on the order of work-items in nothing but the numbers of tokens and records and the
// order of links. Kinds of warps and of atomic operations are chosen by the host (search_program.cc).
//
// Floor, a frame of kaldi_20k (3000 active tokens, 10,500 arcs, 3300 new tokens): arcs 170 KB, where they begin 100 KB of
// sectors, tokens, candidates and records, written and read, 600 KB: 0.9 MB. What a frame takes is the chain of its loads.
#include "plugins/common/kernels/search_costs.h"
#include "plugins/common/kernels/search_keys.h"
#include "plugins/common/kernels/search_trace.h"
#include "plugins/common/ocl/kernels/search_types.h"

// Each of these files uses those before it.
// clang-format off
#if WARP_KIND == 1
#include "plugins/common/ocl/kernels/search_warp_nvidia.h"
#elif WARP_KIND == 2
#include "plugins/common/ocl/kernels/search_warp_subgroups.h"
#else
#include "plugins/common/ocl/kernels/search_warp_one.h"
#endif
#include "plugins/common/ocl/kernels/search_group.h"
#include "plugins/common/ocl/kernels/search_state.h"
#include "plugins/common/ocl/kernels/search_values.h"
#include "plugins/common/ocl/kernels/search_keys.h"
#if INT64_ATOMICS
#include "plugins/common/ocl/kernels/search_items_64.h"
#else
#include "plugins/common/ocl/kernels/search_items_32.h"
#endif
#include "plugins/common/ocl/kernels/search_expand.h"
#include "plugins/common/ocl/kernels/search_select.h"
#include "plugins/common/ocl/kernels/search_links.h"
#include "plugins/common/ocl/kernels/search_prune.h"
#include "plugins/common/ocl/kernels/search_gaps.h"
#include "plugins/common/ocl/kernels/search_path.h"
#include "plugins/common/ocl/kernels/search_trace.h"
#include "plugins/common/ocl/kernels/search_prune_steps.h"
#include "plugins/common/ocl/kernels/search_output.h"
#include "plugins/common/ocl/kernels/search_steps.h"
// clang-format on

// Writes the tokens down and frees their slots, or, if there are links to be made, numbers their tokens.
void group_finish_tokens(__local SearchState *search, const Memory *m) {
  __global SearchToken *const tokens = next_tokens(search, m);
  const float cutoff = cost_of(search->best) + search->job.beam.beam;
  const bool frees = !makes_lattice(search);
  const uint n_used = n_used_of(search);
  uint n_within = 0;
  for (uint first = warp_number() * WARP; first < n_used; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    SearchToken token = {0, 0.0f, 0};
    bool keep = false;
    uint slot = 0;
    if (i < n_used) {
      slot = used_slot(search, m, i);
      token.state = state_in(m, slot);
      token.cost = cost_of(cost_in(m, slot));
      token.record = m->slots[slot].record;
      keep = token.cost <= search->bound;
      if (frees) free_slot(m, slot);
    }
    const uint index = warp_append(&search->n_next, keep);
    if (keep && !frees) m->slots[slot].arc = index;
    if (keep && index < search->job.max_tokens) tokens[index] = token;
    if (keep && index >= search->job.max_tokens) report_full(search, kTokensFull);
    n_within += keep && token.cost <= cutoff ? 1 : 0;
  }
  warp_add(&search->n_within, n_within);
}

void group_do(__local SearchState *search, const Memory *m) {
  // clang-format off
  switch (search->step) {
    case kStepFreeSlots: group_free_slots(m); break;
    case kStepClearMarks: group_clear_marks(search, m); break;
    case kStepMarkPaths: group_mark_paths(search, m); break;
    case kStepCountBits: group_count_bits(search, m); break;
    case kStepNumberBits: group_number_bits(search, m); break;
    case kStepMoveTokens: group_move_tokens(search, m); break;
    case kStepGatherRecords: group_gather_records(search, m); break;
    case kStepPutRecords: group_put_records(search, m); break;
    case kStepFreeLocal: group_free_local(m); break;
    case kStepClearBins: group_clear_bins(m); break;
    case kStepFillBins: group_fill_bins(search, m); break;
    case kStepFindMostCost: group_find_most(search, m, false); break;
    case kStepFindMostState: group_find_most(search, m, true); break;
    case kStepSelect: group_select(search, m); break;
#if !INT64_ATOMICS
    case kStepCountArcs: group_count_arcs(search, m); break;
    case kStepNumberArcs: group_number_arcs(search, m); break;
#endif
    case kStepSettleKeys: group_settle_keys(search, m); break;
    case kStepExpand: group_expand(search, m, true); break;
    case kStepResolve: group_resolve(search, m, true); break;
    case kStepExpandEpsilons: group_expand(search, m, false); break;
    case kStepResolveEpsilons: group_resolve(search, m, false); break;
    case kStepFinishTokens: group_finish_tokens(search, m); break;
    case kStepMakeEmittingLinks: group_make_emitting_links(search, m); break;
    case kStepMakeEpsilonLinks: group_make_epsilon_links(search, m); break;
    case kStepFreeUsed: group_free_used(search, m); break;
    case kStepGatherFrames: group_gather_frames(search, m); break;
    case kStepPutFrames: group_put_frames(search, m); break;
    case kStepClearNewest: group_clear_newest(search, m); break;
    case kStepFollowBack: group_follow_back(search, m); break;
    case kStepNumberKept: group_number_kept(search, m); break;
    case kStepPruneLinks: group_prune_links(search, m); break;
    case kStepPutLinks: group_put_links(search, m); break;
    case kStepFreeExtras: group_free_local(m); break;
    case kStepFindLeast: group_find_least(search, m); break;
    case kStepEndExtras: group_end_extras(search, m); break;
    case kStepCountLinks: group_count_links(search, m); break;
    case kStepPlaceFrames: group_place_frames(search, m); break;
    case kStepGatherPart: group_gather_part(search, m); break;
    case kStepPutPart: group_put_part(search, m); break;
    case kStepSettleFrames: group_settle_frames(search, m); break;
    default: break;
  }
  // clang-format on
}

// jobs[first_job ... end_job - 1]; arcs, begins and final_costs: the graph; rows and channels: where the jobs' parts lie;
// scratch: scratch_of() for each group, all bits of its slots set.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void search(
    __global SearchJob *jobs, uint first_job, uint end_job, __global const SearchArc *arcs, __global const ArcBegins *begins,
    __global const float *final_costs, __global const float *rows, __global uint *channels, __global uint4 *scratch,
    uint max_slots, uint max_candidates) {
  __local SearchState search;
  __local LocalTable table;
  Memory m = scratch_of(scratch, &table, max_slots, max_candidates);
  m.arcs = arcs;
  m.begins = begins;
  m.final_costs = final_costs;
  group_free_local(&m);
  if (get_local_id(0) == 0) {
    search.job_number = first_job + get_group_id(0);
    search.step = take_job(&search, jobs, end_job);
  }
  sync();
  while (search.step != kStepEnd) {
    set_channel(&m, &search.job, rows, channels);
    group_do(&search, &m);
    sync();
    if (get_local_id(0) == 0) {
      search.step = next_step(&search, &m);
      if (search.step == kStepEndJob) {
        note_settled_links(&search.job.lattice, m.frames);
        jobs[search.job_number] = search.job;
        search.job_number += get_num_groups(0);
        search.step = take_job(&search, jobs, end_job);
      }
    }
    sync();
  }
}
