// SPDX-License-Identifier: Apache-2.0
// An event of a stream. It is created once, waits in the stream's queue and is passed to the user unchanged, so that nothing
// can fail on its way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "asr.h"
#include "core/base/error.h"

namespace asr {

struct Word {
  std::string text;
  uint32_t id = 0;
  double start_s = 0, end_s = 0;
  float confidence = -1;
  std::string rule, tags;  // labels of the grammar; tags are joined by '\n'
};

struct Alternative {
  std::string text;  // words joined by blanks
  std::string tags;  // tags of the words, joined by '\n'
  std::vector<Word> words;
  double graph_cost = 0, acoustic_cost = 0;
};

// The arrays of asr_lattice, which documents them.
struct EventLattice {
  uint32_t n_frames = 0;
  double beam = 0, acoustic_scale = 1;
  std::vector<double> state_times_s, end_graph_costs, end_acoustic_costs, end_posteriors;
  std::vector<uint32_t> arc_from, arc_to, arc_words;
  std::vector<const char *> arc_texts;  // pointers into `texts`
  std::vector<double> arc_graph_costs, arc_acoustic_costs, arc_posteriors, arc_starts_s, arc_ends_s;
  std::vector<uint64_t> alignment_begin;
  std::vector<uint32_t> transition_ids;
  std::vector<std::string> texts;
};

// The arrays of asr_rows, which documents them.
struct EventRows {
  std::vector<float> values;
  uint32_t n_rows = 0, n_values = 0;
  uint64_t first_frame = 0;
};

}  // namespace asr

// The C handle is the event itself.
struct asr_event {
  asr_event_kind kind = ASR_EVENT_READY;
  uint32_t flags = 0;
  double time_s = 0;
  std::optional<asr::Error> error;                   // for ERROR
  std::vector<asr::Alternative> alternatives;        // for kinds with words
  size_t n_stable_words = 0;                         // for the first alternative
  float out_of_grammar = -1;                         // for FINAL, if compared with the background
  std::shared_ptr<const asr::EventLattice> lattice;  // for FINAL, if requested
  asr::EventRows rows;                               // for ROWS
  std::unique_ptr<asr_event> next;                   // link of a queue
};

namespace asr {

using EventPointer = std::unique_ptr<asr_event>;

// Throws std::bad_alloc.
inline EventPointer new_event(asr_event_kind kind) {
  auto event = std::make_unique<asr_event>();
  event->kind = kind;
  return event;
}

}  // namespace asr
