// SPDX-License-Identifier: Apache-2.0
// What a stream tells its user; api/asr.h hands it out as asr_event.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "asr.h"

namespace asr {

struct Word {
  std::string text;
  uint32_t id = 0;
  double start_s = 0, end_s = 0;
  float confidence = -1;
};

struct Alternative {
  std::string text;  // words joined by blanks
  std::vector<Word> words;
  double graph_cost = 0, acoustic_cost = 0;
};

// The arrays of asr_lattice, which says what they hold.
struct EventLattice {
  uint32_t n_frames = 0;
  double beam = 0, acoustic_scale = 1;
  std::vector<double> state_times_s, end_graph_costs, end_acoustic_costs, end_posteriors;
  std::vector<uint32_t> arc_from, arc_to, arc_words;
  std::vector<const char *> arc_texts;  // of `texts`
  std::vector<double> arc_graph_costs, arc_acoustic_costs, arc_posteriors, arc_starts_s, arc_ends_s;
  std::vector<uint64_t> alignment_begin;
  std::vector<uint32_t> transition_ids;
  std::vector<std::string> texts;
};

struct Event {
  asr_event_kind kind = ASR_EVENT_READY;
  asr_status status = ASR_OK;
  uint32_t flags = 0;
  double time_s = 0;
  std::string message;                          // of an ERROR
  std::vector<Alternative> alternatives;        // of PARTIAL and FINAL
  std::shared_ptr<const EventLattice> lattice;  // of FINAL, where asked for
};

}  // namespace asr
