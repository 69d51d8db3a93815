// SPDX-License-Identifier: Apache-2.0
// The state of a work-group that advances a channel, and the table in which it finds the token of a state. The table has open
// addressing: one compare-and-swap claims a slot, and search_keys.h finds the least candidate of a state. States and costs,
// which every arc asks for, lie in local memory. If tokens exceed it, a share of the states has a table there and the others
// one in global memory. The share follows the number of tokens of the frame before. If it was too large, the frame begins
// again.

#define ALL_LOCAL 0xffffffffu

// A slot belongs to a state with a token of the frame under construction. Its key is the least (cost, arc + 1); arc is 0 where
// a candidate must be cheaper, not equal, to replace the token. A slot in local memory has its cost and state in the
// LocalTable.
typedef struct {
  uint arc, cost;  // the key's lower and upper half
  uint state, record;
} Slot;

// The state of a work-group, in local memory.
typedef struct {
  SearchJob job;
  LatticeMemory lattice;  // lattice memory of the job's channel
  ulong list_size[2];     // items << 32 | arcs
  uint first_candidate;   // earlier candidates are kept for the frame's links
  uint n_used[2];         // slots in local memory, in global memory
  uint n_candidates[2];   // with the list of that number
  uint n_active, n_arcs;
  FrameCounts counts;
  StepTotals step_totals[2];  // in turns
  uint turn;
  uint best;  // ordered, so far
  float bound;
  uint n_records_before;
  PathCut path_cut;
  uint overflow;
  uint is_full;  // a work-item could not go on, the others need not

  KthKey kth;
  uint n_epsilon_links;
  uint least[2];  // costs of the ends of a lattice that is written
  WalkState walk;
  uint any[3];           // flags of block_any, in turns
  uint sums[MAX_WARPS];  // sums of warps
} SearchState;
typedef SearchState State;  // as search_driver.h names it

// The table in local memory: states and costs. While it is free, bins and few keys lie there.
typedef struct {
  uint states[LOCAL_SLOTS], costs[LOCAL_SLOTS];
} KERNEL_ALIGNED(8) LocalTable;

// The work-group's buffers, in global memory if not said otherwise. They are the graph, the job's rows and channel, and
// the scratch memory, whose slots are free between frames.
typedef struct {
  __global const SearchArc *arcs;
  __global const ArcBegins *begins;
  __global const float *final_costs;
  __global const float *rows;
  __global SearchToken *tokens;  // [2][job.max_tokens]
  __global TraceRecord *records;
  __global PathStep *settled;
  uint max_slots, max_candidates;
  __local LocalTable *table;
  __local uint *bins;           // [kBins]
  __local SearchKey *few_keys;  // [kFewKeys]
  __global Slot *slots;         // [max_slots]; slots in local memory first, from the middle on in global memory
  __global ExpandItem *items;   // [2][max_slots], the list that is followed and the one that is made
  __global Candidate *candidates;
  __global EpsilonLink *epsilon_links;  // [max_candidates / 4]
  __global uint *used;                  // [max_slots], the slots in use, as they are in `slots`
} Memory;

// Returns the scratch memory of a group, in global memory as scratch_layout() says and in local memory.
Memory scratch_of(__global uint4 *scratch, __local LocalTable *table, uint max_slots, uint max_candidates) {
  const ScratchLayout at = scratch_layout(max_slots, max_candidates);
  __global uint4 *const own = scratch + get_group_id(0) * at.end;
  Memory m;
  m.max_slots = max_slots;
  m.max_candidates = max_candidates;
  m.table = table;
  m.bins = table->states;
  m.few_keys = (__local SearchKey *)(m.bins + kBins);
  m.slots = (__global Slot *)own;
  m.items = (__global ExpandItem *)(own + at.items);
  m.candidates = (__global Candidate *)(own + at.candidates);
  m.epsilon_links = (__global EpsilonLink *)(own + at.epsilon_links);
  m.used = (__global uint *)(own + at.used);
  return m;
}

// Finds the buffers of a job's rows and channel. One work-item finds the lattice's.
void set_channel(__local SearchState *search, Memory *m, __global const float *rows, __global uint *channels) {
  __local const SearchJob *const job = &search->job;
  const ChannelLayout at =
      channel_layout(job->max_tokens, job->max_records, job->max_settled, job->lattice.max_links, job->lattice.max_frames);
  __global uint *const own = channels + job->channel;
  m->rows = rows + job->rows;
  m->tokens = (__global SearchToken *)(own + at.tokens);
  m->records = (__global TraceRecord *)(own + at.records);
  m->settled = (__global PathStep *)(own + at.settled);
  if (thread_number() != 0) return;
  search->lattice.links = (__global SearchLink *)own;
  search->lattice.acoustic_costs = (__global float *)(own + at.acoustic_costs);
  search->lattice.extras = (__global float *)(own + at.extras);
  search->lattice.frames = (__global SearchFrame *)(own + at.frames);
}

// Tokens after the last frame, if `which` is job.current, or after the next.
__global SearchToken *tokens_of(__local const SearchState *search, const Memory *m, uint which) {
  return m->tokens + which * search->job.max_tokens;
}

__global ExpandItem *items_of(const Memory *m, uint list) { return m->items + (size_t)list * m->max_slots; }
uint n_items_of(__local const SearchState *search, uint list) { return (uint)(search->list_size[list] >> 32); }
uint n_arcs_of(__local const SearchState *search, uint list) { return (uint)search->list_size[list]; }
// The candidates of a list. Candidates of emitting arcs come first and stay for the links of the frame.
uint first_candidate_of(__local const SearchState *search, bool emitting) { return emitting ? 0 : search->first_candidate; }
uint n_candidates_of(__local const SearchState *search, const Memory *m, bool emitting, uint list) {
  return min(search->n_candidates[list], m->max_candidates - first_candidate_of(search, emitting));
}

__global const float *row_of(__local const SearchState *search, const Memory *m) {
  return m->rows + (size_t)search->job.n_consumed * search->job.row_stride;
}

void report_full(__local SearchState *search, uint overflow) {
  atomic_or(&search->overflow, overflow);
  *(volatile __local uint *)&search->is_full = 1;
}

bool is_local(const Memory *m, uint slot) { return slot < m->max_slots / 2; }

uint cost_in(const Memory *m, uint slot) { return is_local(m, slot) ? m->table->costs[slot] : m->slots[slot].cost; }
uint state_in(const Memory *m, uint slot) { return is_local(m, slot) ? m->table->states[slot] : m->slots[slot].state; }

void group_free_local(const Memory *m) {
  for (uint slot = get_local_id(0); slot < LOCAL_SLOTS; slot += GROUP_SIZE) {
    m->table->states[slot] = kFreeSlot;
    m->table->costs[slot] = 0xffffffffu;
  }
}

// Read and claim a slot's state while others may change it. claim() stores the state if the slot was free, and returns
// the earlier value.
uint state_now(const Memory *m, uint slot) {
  return is_local(m, slot) ? now(&m->table->states[slot]) : *(volatile __global const uint *)&m->slots[slot].state;
}
uint claim(const Memory *m, uint slot, uint state) {
  return is_local(m, slot) ? atomic_cmpxchg(&m->table->states[slot], kFreeSlot, state)
                           : atomic_cmpxchg(&m->slots[slot].state, kFreeSlot, state);
}

// Finds the slot of a state and claims one if it has none. Returns kNoSlot, and the frame is void, when more slots are used
// than the table allows. Probing visits every slot once: global memory has a power of two of them, local memory an odd number.
// A full table ends it. All slots can be claimed before the claims are counted, and lanes with uncounted claims may
// wait for this one.
uint find_slot(__local SearchState *search, const Memory *m, uint wanted) {
  const bool is_global = wanted * 0x85ebca6bu > search->job.local_share;
  const uint begin = is_global ? m->max_slots / 2 : 0, n_slots = is_global ? m->max_slots / 2 : LOCAL_SLOTS;
  const uint hash = hash_of(wanted), step = is_global ? (hash >> 3 | 1) & (n_slots - 1) : 1u << (hash >> 3 & 7);
  uint index = mul_hi(hash, n_slots);
  for (uint n_seen = 0; n_seen < n_slots && now(&search->is_full) == 0; ++n_seen) {
    const uint slot = begin + index;
    uint found = state_now(m, slot);
    if (found == kFreeSlot) {
      found = claim(m, slot, wanted);
      if (found == kFreeSlot) {
        const uint n = atomic_inc(&search->n_used[is_global ? 1 : 0]);
        if (n < n_slots / 8 * 7) {
          m->used[begin + n] = slot;
        } else {
          report_full(search, is_global ? kTableFull : kLocalFull);
        }
        return slot;
      }
    }
    if (found == wanted) return slot;
    index += step;
    if (index >= n_slots) index -= n_slots;
  }
  if (now(&search->is_full) == 0) report_full(search, is_global ? kTableFull : kLocalFull);
  return kNoSlot;
}
