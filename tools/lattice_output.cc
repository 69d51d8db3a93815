// SPDX-License-Identifier: Apache-2.0
#include "tools/lattice_output.h"

#include <cmath>
#include <filesystem>

#include "core/lattice/kaldi_lattice.h"
#include "core/lattice/slf.h"
#include "tools/recognize.h"

namespace asr::tool {

CompactLattice copy_lattice(const asr_event *event, double frame_shift_s) {
  asr_lattice from;
  from.size = sizeof(from);
  check(asr_event_lattice(event, &from));
  CompactLattice lattice;
  const uint64_t *ids = from.alignment_begin;
  const auto alignment = [&](uint64_t i) { return Alignment{ids[i], static_cast<uint32_t>(ids[i + 1] - ids[i])}; };
  uint64_t a = 0;
  for (uint32_t state = 0; state < from.n_states; ++state) {
    lattice.frames.push_back(
        static_cast<uint32_t>(std::lround((from.state_time_s[state] - from.state_time_s[0]) / frame_shift_s)));
    const LatticeCost end = {from.end_graph_cost[state], from.end_acoustic_cost[state]};
    lattice.ends.push_back({end, alignment(from.n_arcs + state)});
    for (; a < from.n_arcs && from.arc_from[a] == state; ++a) {
      const LatticeCost cost = {from.arc_graph_cost[a], from.arc_acoustic_cost[a]};
      lattice.arcs.push_back({from.arc_to[a], from.arc_word_id[a], cost, alignment(a)});
    }
    lattice.arc_begin.push_back(a);
  }
  lattice.transition_ids.assign(from.transition_id, from.transition_id + ids[from.n_arcs + from.n_states]);
  return lattice;
}

LatticeOutput::LatticeOutput(const std::string &path, std::vector<std::string> words, double frame_shift_s)
    : extension_(std::filesystem::path(path).extension()),
      words_(std::move(words)),
      frame_shift_s_(frame_shift_s),
      file_(path) {}

void LatticeOutput::write(const std::string &id, const CompactLattice &lattice, double acoustic_scale) {
  if (extension_ == ".slf") {
    write_slf(file_, lattice, {id, &words_, frame_shift_s_, acoustic_scale});
  } else {
    write_kaldi_lattice(file_, id, lattice, extension_ == ".txt" ? KaldiForm::kText : KaldiForm::kBinary);
  }
}

}  // namespace asr::tool
