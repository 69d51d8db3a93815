// SPDX-License-Identifier: Apache-2.0
// Step 1 of a frame: which tokens are expanded. The beam, min_active and max_active all come down to one threshold of the
// keys (cost, state). Where one of the last two cuts, it is the k-th smallest key, found exactly: a histogram over the beam
// tells the bin of costs that it is in, and among the few tokens of that bin digits of 11 bits from the top tell the rest,
// until a bin is taken whole. Most frames need none of that.

uint bin_of_cost(__local const Lane *lane, float cost) {
  return (uint)fmin((cost - lane->job.best) * lane->job.bins_per_cost, (float)(kBins - 1));
}

// Bits of the next digit.
uint digit_width(__local const KthKey *kth) { return min(11u, kth->top); }

bool agrees(__local const Lane *lane, SearchToken token) {
  const uint top = lane->kth.top;
  return bin_of_cost(lane, token.cost) == lane->kth.bin &&
         (top == 64 || make_key(token.cost, token.state) >> top == lane->kth.prefix);
}

// The threshold if it is the beam's; else what is looked for. False if the k-th key must be found.
bool choose_threshold(__local Lane *lane) {
  const uint n_tokens = lane->job.n_tokens, n_within = lane->job.n_within;
  const uint max_active = lane->job.beam.max_active, min_active = lane->job.beam.min_active;
  lane->threshold = n_tokens <= min_active ? ~0ul : make_key(lane->job.best + lane->job.beam.beam, 0xffffffffu);
  if (n_tokens <= min_active || (n_within >= min_active && n_within <= max_active)) return true;
  const KthKey kth = {n_within < min_active ? min_active : max_active, false, 0, 64, 0};
  lane->kth = kth;
  return false;
}

void group_clear_bins(const Memory *m) {
  for (uint b = get_local_id(0); b < kBins; b += GROUP_SIZE) m->bins[b] = 0;
  for (uint b = get_local_id(0); b < kBins / kBinsOfBlock; b += GROUP_SIZE) m->blocks[b] = 0;
}

// Counts the tokens that agree with what is known by their cost, or by the next digit.
void group_fill_bins(__local Lane *lane, const Memory *m) {
  __global const SearchToken *const tokens = last_tokens(lane, m);
  const uint width = digit_width(&lane->kth), shift = lane->kth.top - width;
  for (uint i = get_local_id(0); i < lane->job.n_tokens; i += GROUP_SIZE) {
    const SearchToken token = tokens[i];
    uint bin = bin_of_cost(lane, token.cost);
    if (lane->kth.has_bin) {
      if (!agrees(lane, token)) continue;
      bin = (uint)(make_key(token.cost, token.state) >> shift) & ((1u << width) - 1);
    }
    atomic_inc(&m->bins[bin]);
    atomic_inc(&m->blocks[bin / kBinsOfBlock]);
  }
}

// The bin with the k-th: by one work-item. True if all that agree now are wanted.
bool narrow_kth(__local Lane *lane, const Memory *m) {
  __local KthKey *const kth = &lane->kth;
  uint block = 0, k = kth->k;
  while (m->blocks[block] < k) k -= m->blocks[block++];
  uint bin = block * kBinsOfBlock;
  while (m->bins[bin] < k) k -= m->bins[bin++];
  kth->k = k;
  if (!kth->has_bin) {
    kth->has_bin = true;
    kth->bin = bin;
  } else {
    const uint width = digit_width(kth);
    kth->prefix = kth->prefix << width | bin;
    kth->top -= width;
  }
  lane->most_cost = lane->most_state = 0;
  return kth->top == 0 || m->bins[bin] == k;
}

// The greatest key of the tokens that agree: its cost, and in the next step its state.
void group_find_most(__local Lane *lane, const Memory *m, bool has_cost) {
  __global const SearchToken *const tokens = last_tokens(lane, m);
  for (uint i = get_local_id(0); i < lane->job.n_tokens; i += GROUP_SIZE) {
    const SearchToken token = tokens[i];
    if (!agrees(lane, token)) continue;
    if (!has_cost) {
      atomic_max(&lane->most_cost, ordered(token.cost));
    } else if (ordered(token.cost) == lane->most_cost) {
      atomic_max(&lane->most_state, token.state);
    }
  }
}

// A first bound for the emitting arcs: few arcs of a best token are enough to keep most of what is beyond the beam out of the
// table.
void lower_best(__local Lane *lane, const Memory *m, uint first_arc, uint n_arcs) {
  const SearchBeam beam = lane->job.beam;
  for (uint a = 0; a < min(n_arcs, 4u); ++a) {
    const SearchArc arc = m->arcs[first_arc + a];
    const float cost = arc_cost(&beam, true, log_likelihood_of(row_of(lane, m), &arc), &arc, 0.0f);
    if (cost <= FLT_MAX) atomic_min(&lane->best, ordered(cost));
  }
}

// Puts the active tokens, with costs relative to the best one's, on list 0.
void group_select(__local Lane *lane, const Memory *m) {
  __global const SearchToken *const tokens = last_tokens(lane, m);
  const float best = lane->job.best;
  const uint n_tokens = lane->job.n_tokens;
  uint n_active = 0;
  for (uint first = warp_number() * WARP; first < n_tokens; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    SearchToken token = {0, 0.0f, 0};
    uint begin = 0, n_arcs = 0;
    bool active = false;
    if (i < n_tokens) {
      token = tokens[i];
      active = make_key(token.cost, token.state) <= lane->threshold;
    }
    if (active) {
      begin = m->begins[token.state].emitting;
      n_arcs = m->begins[token.state + 1].emitting - begin;
      if (token.cost == best) lower_best(lane, m, begin, n_arcs);
      ++n_active;
    }
    warp_add_item(lane, m, 0, begin, n_arcs, token.cost - best, i);
  }
  warp_add(&lane->n_active, n_active);
}
