// SPDX-License-Identifier: Apache-2.0
// The Viterbi beam search: a work-group owns a channel and takes it through all frames of a window, with barriers of that group
// only (search_channel.clh). Nothing waits for the host or for other groups. So as many channels run beside each other as
// there are compute units, and the others after them. A frame selects tokens (search_select.clh) and expands and resolves
// their emitting arcs. It expands and resolves epsilon arcs until no cost falls (search_expand.clh), writes the tokens
// and frees their slots. Channels that make lattices keep the frame's links (search_links.clh), prune their lattice every
// few frames (search_prune.clh), and write it when it is wanted. On a CPU a group is one work-item and there are no
// barriers, so that PoCL compiles the kernel as a plain function.
//
// A frame that does not fit its memory leaves the channel as it was before it. The kernel ends there and the host, with
// more memory, goes on. The order of work-items changes only the numbers of tokens and records, and the order of links.
// Kinds of warps and of atomic operations are chosen by the host (search_program.cc).
//
// Floor, a frame of kaldi_20k (3000 active tokens, 10,500 arcs, 3300 new tokens): 0.9 MB. Arcs are 170 KB, their begins
// 100 KB of sectors. Tokens, candidates and records, written and read, are 600 KB. The chain of loads, not their size,
// bounds a frame's time.
#include "plugins/gpu/search/search_costs-inl.h"
#include "plugins/gpu/search/search_keys-inl.h"
#include "plugins/gpu/search/search_trace-inl.h"
#include "plugins/ocl/search/search_types.h"

// Each of these files uses those before it.
// clang-format off
#if WARP_KIND == 1
#include "plugins/ocl/search/search_warp_nvidia.clh"
#elif WARP_KIND == 2
#include "plugins/ocl/search/search_warp_subgroups.clh"
#else
#include "plugins/ocl/search/search_warp_one.clh"
#endif
#include "plugins/ocl/search/search_group.clh"
#include "plugins/ocl/search/search_state.clh"
#include "plugins/ocl/search/search_values.clh"
#include "plugins/ocl/search/search_keys.clh"
#if INT64_ATOMICS
#include "plugins/ocl/search/search_items_64.clh"
#else
#include "plugins/ocl/search/search_items_32.clh"
#endif
#include "plugins/ocl/search/search_expand.clh"
#include "plugins/ocl/search/search_select.clh"
#include "plugins/ocl/search/search_links.clh"
#include "plugins/ocl/search/search_prune.clh"
#include "plugins/ocl/search/search_path.clh"
#include "plugins/ocl/search/search_trace.clh"
#include "plugins/ocl/search/search_channel.clh"
// clang-format on

// Runs jobs[first_job ... end_job - 1]. arcs, begins and final_costs are the graph's. rows and channels hold the jobs'
// parts. scratch has scratch_of() for each group, with all bits of its slots set.
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
  for (uint number = first_job + get_group_id(0); number < end_job; number += get_num_groups(0)) {
    block_sync();
    if (thread_number() == 0) {
      search.job = jobs[number];
      search.turn = 0;
    }
    block_sync();
    set_channel(&search, &m, rows, channels);
    block_sync();
    group_advance(&search, &m);
    block_sync();
    if (thread_number() == 0) {
      note_settled_links(&search.job.lattice, search.lattice.frames);
      jobs[number] = search.job;
    }
  }
}
