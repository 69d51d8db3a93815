// SPDX-License-Identifier: Apache-2.0
// The event functions of asr.h: accessors of an event, which does not change.
#include "core/stream/event.h"

#include "api/fill.h"
#include "api/guard.h"

namespace {

using asr::Alternative;
using asr::api::guard;
using asr::api::require;

const Alternative *alternative_of(const asr_event *event, size_t index) {
  return event != nullptr && index < event->alternatives.size() ? &event->alternatives[index] : nullptr;
}

const Alternative &checked_alternative(const asr_event *event, size_t index, const char *function) {
  require(event, function, "event");
  const Alternative *alternative = alternative_of(event, index);
  if (alternative == nullptr) {
    asr::fail(ASR_INVALID_ARGUMENT, "%s: alternative %zu of %zu", function, index, event->alternatives.size());
  }
  return *alternative;
}

}  // namespace

asr_event_kind asr_event_get_kind(const asr_event *event) { return event ? event->kind : asr_event_kind{}; }
asr_status asr_event_status(const asr_event *event) {
  if (event == nullptr) return ASR_INVALID_ARGUMENT;
  return event->error ? event->error->code() : ASR_OK;
}
uint32_t asr_event_flags(const asr_event *event) { return event ? event->flags : 0; }
double asr_event_time_s(const asr_event *event) { return event ? event->time_s : 0; }

const char *asr_event_text(const asr_event *event) {
  if (event == nullptr) return "";
  if (event->error) return event->error->what();
  return event->alternatives.empty() ? "" : event->alternatives[0].text.c_str();
}

size_t asr_event_n_alternatives(const asr_event *event) { return event ? event->alternatives.size() : 0; }

const char *asr_event_alternative_text(const asr_event *event, size_t alternative) {
  const Alternative *found = alternative_of(event, alternative);
  return found ? found->text.c_str() : "";
}

asr_status asr_event_alternative_costs(const asr_event *event, size_t alternative, double *graph_cost, double *acoustic_cost) {
  return guard([&] {
    const Alternative &found = checked_alternative(event, alternative, "asr_event_alternative_costs");
    if (graph_cost != nullptr) *graph_cost = found.graph_cost;
    if (acoustic_cost != nullptr) *acoustic_cost = found.acoustic_cost;
  });
}

const char *asr_event_rule(const asr_event *event, size_t alternative) {
  const Alternative *found = alternative_of(event, alternative);
  return found && !found->words.empty() ? found->words[0].rule.c_str() : "";
}

const char *asr_event_tags(const asr_event *event, size_t alternative) {
  const Alternative *found = alternative_of(event, alternative);
  return found ? found->tags.c_str() : "";
}

size_t asr_event_n_words(const asr_event *event, size_t alternative) {
  const Alternative *found = alternative_of(event, alternative);
  return found ? found->words.size() : 0;
}

float asr_event_out_of_grammar(const asr_event *event) { return event ? event->out_of_grammar : -1; }

size_t asr_event_n_stable_words(const asr_event *event) { return event ? event->n_stable_words : 0; }

asr_status asr_event_word(const asr_event *event, size_t alternative, size_t index, asr_word *word) {
  return guard([&] {
    const Alternative &found = checked_alternative(event, alternative, "asr_event_word");
    require(word, "asr_event_word", "word");
    if (index >= found.words.size()) {
      asr::fail(ASR_INVALID_ARGUMENT, "asr_event_word: word %zu of %zu", index, found.words.size());
    }
    const asr::Word &w = found.words[index];
    asr::api::fill(
        word,
        asr_word{sizeof(asr_word), w.text.c_str(), w.start_s, w.end_s, w.confidence, w.id, w.rule.c_str(), w.tags.c_str()},
        "asr_event_word: word->size");
  });
}

asr_status asr_event_rows(const asr_event *event, asr_rows *rows) {
  return guard([&] {
    require(event, "asr_event_rows", "event");
    require(rows, "asr_event_rows", "rows");
    const asr::EventRows &found = event->rows;
    if (found.n_rows == 0) {
      asr::fail(ASR_NOT_FOUND,
                "asr_event_rows: no rows; events of the kind ASR_EVENT_ROWS have some, if the stream has an output");
    }
    asr_rows value{};
    value.values = found.values.data();
    value.n_rows = found.n_rows;
    value.n_values = found.n_values;
    value.first_frame = found.first_frame;
    asr::api::fill(rows, value, "asr_event_rows: rows->size");
  });
}

asr_status asr_event_lattice(const asr_event *event, asr_lattice *lattice) {
  return guard([&] {
    require(event, "asr_event_lattice", "event");
    require(lattice, "asr_event_lattice", "lattice");
    if (!event->lattice) asr::fail(ASR_NOT_FOUND, "asr_event_lattice: no lattice; FINAL has one if lattice_beam is above 0");
    const asr::EventLattice &found = *event->lattice;
    asr_lattice value{};
    value.n_states = static_cast<uint32_t>(found.state_times_s.size());
    value.n_frames = found.n_frames;
    value.n_arcs = found.arc_words.size();
    value.beam = found.beam;
    value.acoustic_scale = found.acoustic_scale;
    value.state_time_s = found.state_times_s.data();
    value.end_graph_cost = found.end_graph_costs.data();
    value.end_acoustic_cost = found.end_acoustic_costs.data();
    value.end_posterior = found.end_posteriors.data();
    value.arc_from = found.arc_from.data();
    value.arc_to = found.arc_to.data();
    value.arc_word_id = found.arc_words.data();
    value.arc_word = found.arc_texts.data();
    value.arc_graph_cost = found.arc_graph_costs.data();
    value.arc_acoustic_cost = found.arc_acoustic_costs.data();
    value.arc_posterior = found.arc_posteriors.data();
    value.arc_start_s = found.arc_starts_s.data();
    value.arc_end_s = found.arc_ends_s.data();
    value.alignment_begin = found.alignment_begin.data();
    value.transition_id = found.transition_ids.data();
    asr::api::fill(lattice, value, "asr_event_lattice: lattice->size");
  });
}

void asr_event_free(asr_event *event) { delete event; }
