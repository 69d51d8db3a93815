// SPDX-License-Identifier: Apache-2.0
// Makes events from search results: the best path so far, or the lattice at the end. Utterance calls it and, for lattices,
// Session on a thread of the engine's pool.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "core/adapt/gaussian_posteriors.h"
#include "core/base/stop.h"
#include "core/decode/path_words.h"
#include "core/decode/rejection.h"
#include "core/engine/given_boost.h"
#include "core/engine/loaded_graph.h"
#include "core/lattice/boost.h"
#include "core/lattice/determinise.h"
#include "core/rows/frame_map.h"
#include "core/stream/event.h"
#include "core/stream/stream_options.h"

namespace asr {

// An utterance's graph and settings: the stream's settings, with the graph's as defaults. It is made when the utterance begins.
// Work on results keeps a copy, and thereby the graph.
struct Decoding {
  Decoding(std::shared_ptr<LoadedGraph> utterance_graph, const StreamOptions &options, const LoadedModel &model,
           std::shared_ptr<const FrameMap> frames = nullptr)
      : graph(std::move(utterance_graph)),
        frame_shift_s(model.frame_shift_s()),
        frame_map(std::move(frames)),
        beam(options.beam.value_or(static_cast<float>(graph->decoding().beam))),
        acoustic_scale(options.acoustic_scale.value_or(static_cast<float>(graph->decoding().acoustic_scale))),
        word_insertion_cost(options.word_insertion_cost.value_or(static_cast<float>(graph->decoding().word_insertion_cost))),
        max_active(options.max_active.value_or(graph->decoding().max_active)),
        min_active(std::min(options.min_active, max_active)),
        lattice_beam(options.lattice_beam),
        n_best(options.n_best),
        reject_threshold(options.reject_threshold.value_or(
            graph->decoding().compares() ? static_cast<float>(*graph->decoding().reject_threshold) : -1)),
        finds_keywords(!graph->decoding().keywords.empty()),
        keyword_threshold(options.reject_threshold ? std::optional<float>(1 - *options.reject_threshold) : std::nullopt),
        background(reject_threshold < 0 ? nullptr : options.background) {}

  std::shared_ptr<LoadedGraph> graph;
  double frame_shift_s;
  std::shared_ptr<const FrameMap> frame_map;  // frames of the search's rows; nullptr: they are the same
  float beam, acoustic_scale, word_insertion_cost;
  uint32_t max_active, min_active;
  float lattice_beam;
  uint32_t n_best;
  float reject_threshold;
  bool finds_keywords;                      // its words are those of keywords
  std::optional<float> keyword_threshold;   // of all keywords, instead of the graph's
  std::shared_ptr<LoadedGraph> background;  // the graph that results are compared with; nullptr: no comparison
};

// Makes an event with the words of a path, whose arcs follow those of `before`. first_frame: of the utterance, in its stream.
// Words of the path's common arcs are stable, and all words of a FINAL.
EventPointer path_event(const asr_path &path, const SpokenPath &before, uint64_t first_frame, const Decoding &decoding,
                        asr_event_kind kind);

// The pieces of an utterance's lattice that settled while it was fed.
struct LatticePieces {
  explicit LatticePieces(const DeterminiseOptions &options) : determiniser(options) {}

  PieceDeterminiser determiniser;
  std::optional<Error> failure;  // failure of work on the pieces; no more are added after it
};

// Search output of an utterance, taken from the device.
struct SearchLattice {
  std::optional<Comparison> comparison;  // of the search's best path with the background
  GivenBoosts boosts;
  std::shared_ptr<LatticePieces> pieces;
  Lattice last;              // the last piece
  uint64_t first_frame = 0;  // first frame of the utterance, in its stream
  uint32_t n_frames = 0;
  bool reached_final = false, beam_died = false;
};

TransitionLookup transitions_of(const Decoding &decoding);

SearchLattice search_lattice(std::optional<Comparison> comparison, GivenBoosts boosts, std::shared_ptr<LatticePieces> pieces,
                             const asr_raw_lattice &last, uint64_t first_frame, const Decoding &decoding);

// Appends the acoustic model's state of each frame of a path; kNoState in silence and noise.
void add_states(const asr_path &path, const Decoding &decoding, std::vector<uint32_t> *states);

// Sets the score of an event with words, and of a FINAL event its flag, and the confidences of its words. Of keywords it keeps
// those that reach their thresholds. first_frame: of the utterance.
void judge(const Comparison &comparison, uint64_t first_frame, const Decoding &decoding, asr_event *event);

// Leaves out the words of a PARTIAL that is not compared with the background, if they would be keywords.
void leave_out_keywords(const Decoding &decoding, asr_event *event);

// Makes a FINAL event with alternatives, confidences and the lattice. Takes from milliseconds to seconds. Throws ASR_CANCELLED
// soon after it is stopped, and the pieces' failure if there was one. *states: the states of the first alternative's path.
EventPointer lattice_event(SearchLattice found, const Decoding &decoding, const StopToken &stop = {},
                           std::vector<uint32_t> *states = nullptr);

}  // namespace asr
