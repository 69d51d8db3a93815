// SPDX-License-Identifier: Apache-2.0
#include "core/session/results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/base/log.h"
#include "core/decode/path_words.h"
#include "core/lattice/confusion_network.h"
#include "core/lattice/from_backend.h"
#include "core/lattice/nbest.h"
#include "core/lattice/posteriors.h"

namespace asr {

namespace {

double time_s(uint64_t row, const Decoding &decoding) {
  const uint64_t frame = decoding.frame_map ? decoding.frame_map->frame_of(row) : row;
  return static_cast<double>(frame) * decoding.frame_shift_s;
}

// Sets the text and the tags of an alternative from its words.
void join_words(Alternative *alternative) {
  alternative->text.clear();
  alternative->tags.clear();
  for (const Word &word : alternative->words) {
    if (!alternative->text.empty()) alternative->text += ' ';
    alternative->text += word.text;
    if (!alternative->tags.empty() && !word.tags.empty()) alternative->tags += '\n';
    alternative->tags += word.tags;
  }
}

Alternative spell(const PathWords &path, uint64_t first_frame, const Decoding &decoding) {
  Alternative result;
  result.graph_cost = path.graph_cost;
  result.acoustic_cost = path.acoustic_cost;
  for (const WordSpan &span : path.words) {
    Word word;
    word.text = decoding.graph->words()[span.word];
    word.id = span.word;
    word.start_s = time_s(first_frame + span.begin, decoding);
    word.end_s = time_s(first_frame + span.end, decoding);
    if (const WordLabel *const label = decoding.graph->label(span.word)) {
      word.rule = label->rule;
      word.tags = label->tags;
    }
    result.words.push_back(std::move(word));
  }
  join_words(&result);
  return result;
}

void set_flags(asr_event *event, uint32_t n_frames, bool reached_final, bool beam_died) {
  if (n_frames == 0 || event->alternatives[0].words.empty()) event->flags |= ASR_FLAG_NO_SPEECH;
  if (beam_died) event->flags |= ASR_FLAG_BEAM_DIED;
  if (!reached_final && event->kind == ASR_EVENT_FINAL) event->flags |= ASR_FLAG_NOT_FINAL_STATE;
}

// Returns the times of a path's words from its arcs; the lattice has exactly one path with these words.
std::vector<WordPlace> places_of(const std::vector<uint32_t> &words, const CompactLattice &lattice) {
  std::vector<WordPlace> places;
  uint32_t state = 0;
  for (const uint32_t word : words) {
    uint64_t a = lattice.arc_begin[state];
    while (lattice.arcs[a].word != word) ++a;
    const uint32_t next = lattice.arcs[a].next_state;
    places.push_back({word, static_cast<double>(lattice.frames[state]), static_cast<double>(lattice.frames[next])});
    state = next;
  }
  return places;
}

Alternative make_alternative(const LatticePath &path, const CompactLattice &lattice, const LatticePosteriors &posteriors,
                             uint64_t first_frame, const Decoding &decoding, const StopToken &stop) {
  Alternative alternative = spell(words_of_path(path, transitions_of(decoding)), first_frame, decoding);
  const std::vector<double> confidences = word_confidences(lattice, posteriors, places_of(path.words, lattice), stop);
  for (size_t i = 0; i < confidences.size(); ++i) alternative.words[i].confidence = static_cast<float>(confidences[i]);
  return alternative;
}

uint32_t state_of(uint32_t transition_id, const Decoding &decoding) {
  const bool is_unknown = decoding.graph->is_silence(transition_id) ||
                          (decoding.graph->decoding().has_garbage && decoding.graph->is_garbage(transition_id));
  return is_unknown ? kNoState : decoding.graph->graph().transition(transition_id).pdf;
}

// Applies the boosts; on failure it logs a warning and the result stays unboosted. Phrases that are never heard bring one, too.
void boost(CompactLattice *lattice, const GivenBoosts &given, double lattice_beam, const Decoding &decoding,
           const StopToken &stop) {
  const auto text_of = [&decoding](uint32_t word) -> const std::string & { return decoding.graph->words()[word]; };
  try {
    Boosts boosts;
    for (const auto &one : given) {
      const std::shared_ptr<const GraphBoost> of_graph = one->of(decoding.graph);
      if (!of_graph->unheard.phrases.empty() && !one->is_standing())
        log(ASR_LOG_WARNING, "asr_boost: %s; a line of the text is a phrase, of words alone", of_graph->unheard.what().c_str());
      boosts.emplace_back(of_graph, &of_graph->boost);
    }
    BoostScores scores(boosts, text_of, stop);
    *lattice = boosted(*lattice, &scores, static_cast<double>(decoding.acoustic_scale), lattice_beam, stop);
  } catch (const Error &error) {
    if (error.code() == ASR_CANCELLED) throw;
    log(ASR_LOG_WARNING,
        "asr_boost: %s; the result is that without the phrases: boost fewer, or make the lattice_beam narrower", error.what());
  }
}

void add_texts(EventLattice *arrays, const Decoding &decoding) {
  std::map<uint32_t, size_t> index_of;
  for (const uint32_t word : arrays->arc_words) {
    if (index_of.emplace(word, arrays->texts.size()).second) arrays->texts.push_back(decoding.graph->words()[word]);
  }
  for (const uint32_t word : arrays->arc_words) arrays->arc_texts.push_back(arrays->texts[index_of[word]].c_str());
}

std::shared_ptr<const EventLattice> make_arrays(const Determinised &found, LatticePosteriors posteriors, double acoustic_scale,
                                                uint64_t first_frame, uint32_t n_frames, const Decoding &decoding) {
  const CompactLattice &lattice = found.lattice;
  auto arrays = std::make_shared<EventLattice>();
  arrays->n_frames = n_frames;
  arrays->beam = found.beam;
  arrays->acoustic_scale = acoustic_scale;
  const auto add_alignment = [&](const Alignment &ids) {
    arrays->alignment_begin.push_back(arrays->transition_ids.size());
    arrays->transition_ids.insert(arrays->transition_ids.end(), lattice.begin(ids), lattice.begin(ids) + ids.size);
  };
  for (const uint32_t frames : lattice.frames) arrays->state_times_s.push_back(time_s(first_frame + frames, decoding));
  for (uint32_t state = 0; state < lattice.n_states(); ++state) {
    for (uint64_t a = lattice.arc_begin[state]; a < lattice.arc_begin[state + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      arrays->arc_from.push_back(state);
      arrays->arc_to.push_back(arc.next_state);
      arrays->arc_words.push_back(arc.word);
      arrays->arc_graph_costs.push_back(arc.cost.graph);
      arrays->arc_acoustic_costs.push_back(arc.cost.acoustic);
      arrays->arc_starts_s.push_back(arrays->state_times_s[state]);
      arrays->arc_ends_s.push_back(arrays->state_times_s[arc.next_state]);
      add_alignment(arc.alignment);
    }
  }
  for (const CompactLattice::End &end : lattice.ends) {
    arrays->end_graph_costs.push_back(end.cost.graph);
    arrays->end_acoustic_costs.push_back(end.cost.acoustic);
    add_alignment(end.alignment);
  }
  arrays->alignment_begin.push_back(arrays->transition_ids.size());
  arrays->arc_posteriors = std::move(posteriors.arcs);
  arrays->end_posteriors = std::move(posteriors.ends);
  add_texts(arrays.get(), decoding);
  return arrays;
}

}  // namespace

TransitionLookup transitions_of(const Decoding &decoding) {
  return [&graph = decoding.graph->graph()](uint32_t id) -> const Transition & { return graph.transition(id); };
}

void add_states(const asr_path &path, const Decoding &decoding, std::vector<uint32_t> *states) {
  for (uint64_t i = 0; i < path.n_arcs; ++i) {
    if (path.arcs[i].transition_id != 0) states->push_back(state_of(path.arcs[i].transition_id, decoding));
  }
}

namespace {

// The row of the search at a time, counted from first_frame.
uint32_t row_of(double time_s, uint64_t first_frame, const Decoding &decoding) {
  const auto frame = static_cast<uint64_t>(std::llround(time_s / decoding.frame_shift_s));
  const uint64_t row = decoding.frame_map ? decoding.frame_map->row_of(frame) : frame;
  return static_cast<uint32_t>(static_cast<long long>(row) - static_cast<long long>(first_frame));
}

// Alternatives that differed only in words that were left out are one.
void drop_repeated(std::vector<Alternative> *alternatives) {
  std::set<std::vector<uint32_t>> seen;
  const auto is_repeated = [&seen](const Alternative &alternative) {
    std::vector<uint32_t> ids;
    for (const Word &word : alternative.words) ids.push_back(word.id);
    return !seen.insert(std::move(ids)).second;
  };
  alternatives->erase(std::remove_if(alternatives->begin(), alternatives->end(), is_repeated), alternatives->end());
}

// The words of a keyword follow each other, and have its name as their rule. One that goes on at the end of a PARTIAL is not
// heard yet.
void judge_keywords(const Comparison &comparison, uint64_t first_frame, const Decoding &decoding, asr_event *event) {
  float best = -1;
  size_t n_stable = 0;
  for (Alternative &alternative : event->alternatives) {
    const bool is_best = &alternative == &event->alternatives[0];
    std::vector<Word> kept;
    const std::vector<Word> &words = alternative.words;
    for (size_t begin = 0, end = 0; begin < words.size(); begin = end) {
      const std::string &name = words[begin].rule;
      const size_t n = 1 + static_cast<size_t>(std::count(name.begin(), name.end(), ' '));
      while (end < words.size() && end < begin + n && words[end].rule == name) ++end;
      const bool goes_on = event->kind != ASR_EVENT_FINAL && words[end - 1].end_s + decoding.frame_shift_s / 2 > event->time_s;
      const auto own = decoding.graph->decoding().keywords.find(name);
      if (end - begin < n || goes_on || own == decoding.graph->decoding().keywords.end()) continue;
      const float found = comparison.keyword_confidence(row_of(words[begin].start_s, first_frame, decoding),
                                                        row_of(words[end - 1].end_s, first_frame, decoding));
      if (is_best) best = std::max(best, found);
      if (found < decoding.keyword_threshold.value_or(static_cast<float>(own->second))) continue;
      for (size_t i = begin; i < end; ++i) {
        kept.push_back(words[i]);
        kept.back().confidence = found;
        if (is_best && i < event->n_stable_words) ++n_stable;
      }
    }
    alternative.words = std::move(kept);
    join_words(&alternative);
  }
  drop_repeated(&event->alternatives);
  event->n_stable_words = n_stable;
  if (best >= 0) event->out_of_grammar = 1 - best;
  if (event->alternatives[0].words.empty()) event->flags |= ASR_FLAG_NO_SPEECH;
}

}  // namespace

// Without words there is nothing to reject, except keywords of other alternatives. A search that died, or whose path stops in
// the middle of a sentence, found no sentence of the grammar.
void judge(const Comparison &comparison, uint64_t first_frame, const Decoding &decoding, asr_event *event) {
  if (decoding.finds_keywords) return judge_keywords(comparison, first_frame, decoding, event);
  if (event->alternatives[0].words.empty()) return;
  const bool is_sentence = (event->flags & (ASR_FLAG_BEAM_DIED | ASR_FLAG_NOT_FINAL_STATE)) == 0;
  event->out_of_grammar = is_sentence ? comparison.out_of_grammar() : 1;
  if (event->kind != ASR_EVENT_FINAL) return;
  if (event->out_of_grammar > decoding.reject_threshold) event->flags |= ASR_FLAG_REJECTED;
  for (Alternative &alternative : event->alternatives) {
    for (Word &word : alternative.words) {
      if (word.confidence > 0)
        word.confidence *=
            comparison.confidence(row_of(word.start_s, first_frame, decoding), row_of(word.end_s, first_frame, decoding));
    }
  }
}

void leave_out_keywords(const Decoding &decoding, asr_event *event) {
  if (!decoding.finds_keywords || !decoding.background) return;
  event->alternatives[0].words.clear();
  join_words(&event->alternatives[0]);
  event->n_stable_words = 0;
}

EventPointer path_event(const asr_path &path, const SpokenPath &before, uint64_t first_frame, const Decoding &decoding,
                        asr_event_kind kind) {
  EventPointer event = new_event(kind);
  event->alternatives.push_back(
      spell(words_of_path(path, transitions_of(decoding), decoding.acoustic_scale, before), first_frame, decoding));
  const bool has_positions = decoding.graph->graph().has_word_positions();
  event->n_stable_words = kind == ASR_EVENT_FINAL
                              ? event->alternatives[0].words.size()
                              : n_certain_words(path, path.n_common_arcs, transitions_of(decoding), has_positions, before);
  event->time_s = time_s(first_frame + path.n_frames, decoding);
  set_flags(event.get(), path.n_frames, path.reached_final != 0, path.beam_died != 0);
  return event;
}

SearchLattice search_lattice(std::optional<Comparison> comparison, GivenBoosts boosts, std::shared_ptr<LatticePieces> pieces,
                             const asr_raw_lattice &last, uint64_t first_frame, const Decoding &decoding) {
  SearchLattice found;
  found.comparison = std::move(comparison);
  found.boosts = std::move(boosts);
  found.pieces = std::move(pieces);
  found.last = lattice_from_backend(last, decoding.word_insertion_cost);
  found.first_frame = first_frame;
  found.n_frames = last.n_frames;
  found.reached_final = last.reached_final != 0;
  found.beam_died = last.beam_died != 0;
  return found;
}

EventPointer lattice_event(SearchLattice found, const Decoding &decoding, const StopToken &stop,
                           std::vector<uint32_t> *states) {
  if (found.pieces->failure) throw Error(*found.pieces->failure);
  const auto scale = static_cast<double>(decoding.acoustic_scale);
  Determinised determinised = found.pieces->determiniser.finish(std::move(found.last), stop);
  found.pieces.reset();
  if (!found.boosts.empty()) boost(&determinised.lattice, found.boosts, determinised.beam, decoding, stop);
  const CompactLattice &lattice = determinised.lattice;
  LatticePosteriors posteriors = lattice_posteriors(lattice, scale, stop);

  EventPointer event = new_event(ASR_EVENT_FINAL);
  uint32_t n_frames = 0;  // frames consumed by the paths
  const std::vector<LatticePath> paths = n_best_paths(lattice, scale, decoding.n_best, determinised.beam, stop);
  for (const LatticePath &path : paths) {
    n_frames = static_cast<uint32_t>(path.transition_ids.size());
    event->alternatives.push_back(make_alternative(path, lattice, posteriors, found.first_frame, decoding, stop));
  }
  if (event->alternatives.empty()) event->alternatives.emplace_back();
  if (states != nullptr && !paths.empty()) {
    for (const uint32_t id : paths[0].transition_ids) states->push_back(state_of(id, decoding));
  }
  event->n_stable_words = event->alternatives[0].words.size();
  event->lattice = make_arrays(determinised, std::move(posteriors), scale, found.first_frame, n_frames, decoding);
  set_flags(event.get(), found.n_frames, found.reached_final, found.beam_died);
  // Boosts do not change how well the sound fits the grammar: the comparison is with the search's path.
  if (found.comparison && !paths.empty()) judge(*found.comparison, found.first_frame, decoding, event.get());
  if (determinised.beam < static_cast<double>(decoding.lattice_beam)) event->flags |= ASR_FLAG_BEAM_NARROWED;
  return event;
}

}  // namespace asr
