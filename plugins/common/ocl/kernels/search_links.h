// SPDX-License-Identifier: Apache-2.0
// The links of a frame ("The lattice" in docs/search.md), when its tokens have their last costs. Emitting ones are among the
// candidates of the frame, which are kept for that until it ends, epsilon ones among the arcs followed in all rounds: those
// that were followed when their source had the cost it kept. What is dearer than its destination's token by more than the
// lattice beam can be in no lattice and is left out, about half. They are appended to the channel's, in no order. By now the
// record of a slot is the number of its token.

// Appends links for the lanes that want to: of one kind, after those of the other.
void warp_add_link(__local Lane *lane, const Memory *m, uint kind, bool wanted, SearchLink link) {
  const uint before = lane->job.lattice.n_links + (kind == 1 ? lane->n_links[0] : 0);
  const uint place = before + warp_append(&lane->n_links[kind], wanted);
  if (wanted && place < lane->job.lattice.max_links) m->links[place] = link;
  if (wanted && place >= lane->job.lattice.max_links) report_full(lane, kLinksFull);
}

void group_make_emitting_links(__local Lane *lane, const Memory *m) {
  const float lattice_beam = lane->job.lattice.lattice_beam, bound = lane->bound;
  const uint n_candidates = lane->first_candidate;
  for (uint first = warp_number() * WARP; first < n_candidates; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    bool keep = false;
    SearchLink link = {0, 0, 0, 0.0f, 0.0f};
    if (i < n_candidates) {
      const Candidate candidate = m->candidates[i];
      const uint slot = candidate.slot & kCandidateSlot;
      link.source = candidate.from;
      link.destination = m->slots[slot].record;
      link.arc = candidate.arc;
      link.cost = candidate.cost - cost_of(cost_in(m, slot));
      keep = candidate.cost <= bound && link.cost <= lattice_beam;
      if (keep) link.acoustic_cost = arc_acoustic_cost(lane, m, candidate.arc);
    }
    warp_add_link(lane, m, 0, keep, link);
  }
}

void group_make_epsilon_links(__local Lane *lane, const Memory *m) {
  const SearchBeam beam = lane->job.beam;
  const float lattice_beam = lane->job.lattice.lattice_beam;
  const uint n_followed = lane->n_epsilon_links;
  for (uint first = warp_number() * WARP; first < n_followed; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    bool keep = false;
    SearchLink link = {0, 0, 0, 0.0f, 0.0f};
    if (i < n_followed) {
      const EpsilonLink followed = m->epsilon_links[i];
      const SearchArc arc = m->arcs[followed.arc];
      const float cost = arc_cost(&beam, false, 0.0f, &arc, followed.source_cost);
      link.source = m->slots[followed.source].record;
      link.destination = m->slots[followed.destination].record;
      link.arc = followed.arc;
      link.cost = cost - cost_of(cost_in(m, followed.destination));
      keep = followed.source_cost == cost_of(cost_in(m, followed.source)) && link.cost <= lattice_beam;
    }
    warp_add_link(lane, m, 1, keep, link);
  }
}

// The frame's links become the channel's: by one work-item.
void add_frame(__local Lane *lane, const Memory *m) {
  __local SearchLinks *const lattice = &lane->job.lattice;
  const SearchFrame frame = {lattice->n_links, lane->n_links[0], lane->n_links[1], lane->n_next, 0, 0};
  m->frames[lattice->n_frames++] = frame;
  lattice->n_links += lane->n_links[0] + lane->n_links[1];
  ++lattice->n_unpruned;
}
