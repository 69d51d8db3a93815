// SPDX-License-Identifier: Apache-2.0
// The event functions of asr.h: accessors of an Event that does not change.
#include "api/asr_event.h"

#include <algorithm>
#include <cstring>

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
asr_status asr_event_status(const asr_event *event) { return event ? event->status : ASR_INVALID_ARGUMENT; }
uint32_t asr_event_flags(const asr_event *event) { return event ? event->flags : 0; }
double asr_event_time_s(const asr_event *event) { return event ? event->time_s : 0; }

const char *asr_event_text(const asr_event *event) {
  if (event == nullptr) return "";
  return event->alternatives.empty() ? event->message.c_str() : event->alternatives[0].text.c_str();
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

size_t asr_event_n_words(const asr_event *event, size_t alternative) {
  const Alternative *found = alternative_of(event, alternative);
  return found ? found->words.size() : 0;
}

asr_status asr_event_word(const asr_event *event, size_t alternative, size_t index, asr_word *word) {
  return guard([&] {
    const Alternative &found = checked_alternative(event, alternative, "asr_event_word");
    require(word, "asr_event_word", "word");
    if (index >= found.words.size()) {
      asr::fail(ASR_INVALID_ARGUMENT, "asr_event_word: word %zu of %zu", index, found.words.size());
    }
    const asr::Word &w = found.words[index];
    asr::api::fill(word, asr_word{sizeof(asr_word), w.text.c_str(), w.start_s, w.end_s, w.confidence, w.id},
                   "asr_event_word: word->size");
  });
}

void asr_event_free(asr_event *event) { delete event; }
