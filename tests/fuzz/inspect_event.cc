// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/inspect_event.h"

#include <cmath>

#include "tests/fuzz/target.h"

namespace asr::fuzz {
namespace {

void inspect_lattice(const asr_event *event) {
  asr_lattice lattice{};
  lattice.size = sizeof(lattice);
  if (asr_event_lattice(event, &lattice) != ASR_OK) return;
  for (uint64_t a = 0; a < lattice.n_arcs; ++a) {
    if (lattice.arc_to[a] <= lattice.arc_from[a] || lattice.arc_to[a] >= lattice.n_states) finding("a lattice arc leads back");
    if (!(lattice.arc_posterior[a] >= 0 && lattice.arc_posterior[a] <= 1 + 1e-6)) {
      finding("a posterior of %g", lattice.arc_posterior[a]);
    }
  }
}

}  // namespace

void inspect_words(const asr_event *event, size_t alternative) {
  for (size_t w = 0; w < asr_event_n_words(event, alternative); ++w) {
    asr_word word{};
    word.size = sizeof(word);
    if (asr_event_word(event, alternative, w, &word) != ASR_OK) finding("a word that is counted cannot be had");
    if (!(word.start_s <= word.end_s) || word.text == nullptr || *word.text == '\0') finding("a word without text or time");
    if (!(word.confidence == -1 || (word.confidence >= 0 && word.confidence <= 1))) {
      finding("a confidence of %g", double(word.confidence));
    }
  }
}

void inspect(const asr_event *event) {
  const asr_event_kind kind = asr_event_get_kind(event);
  if ((kind == ASR_EVENT_ERROR) == (asr_event_status(event) == ASR_OK))
    finding("an event of kind %d has the wrong status", kind);
  if (kind == ASR_EVENT_ERROR && *asr_event_text(event) == '\0') finding("an ERROR without a message");
  const size_t n = asr_event_n_alternatives(event);
  if (kind == ASR_EVENT_FINAL && n > 10000) finding("%zu alternatives", n);
  for (size_t i = 0; i < n; ++i) {
    if (asr_event_alternative_text(event, i) == nullptr) finding("an alternative without text");
    double graph = 0, acoustic = 0;
    if (asr_event_alternative_costs(event, i, &graph, &acoustic) != ASR_OK) finding("an alternative without costs");
    if (std::isnan(graph) || std::isnan(acoustic)) finding("a cost that is no number");
    inspect_words(event, i);
  }
  inspect_lattice(event);
  (void)asr_event_time_s(event);
  (void)asr_event_flags(event);
}

}  // namespace asr::fuzz
