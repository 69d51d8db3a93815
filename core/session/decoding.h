// SPDX-License-Identifier: Apache-2.0
// Decoding holds an utterance's graph and settings: the stream's settings, with the graph's as defaults. It is made when the
// utterance begins. Work on results keeps a copy, and thereby the graph.
#pragma once

#include <algorithm>
#include <memory>

#include "core/engine/loaded_graph.h"
#include "core/stream/stream_options.h"

namespace asr {

struct Decoding {
  Decoding(std::shared_ptr<LoadedGraph> utterance_graph, const StreamOptions &options, const LoadedModel &model)
      : graph(std::move(utterance_graph)),
        frame_shift_s(model.frame_shift_s()),
        beam(options.beam.value_or(static_cast<float>(graph->decoding().beam))),
        acoustic_scale(options.acoustic_scale.value_or(static_cast<float>(graph->decoding().acoustic_scale))),
        word_insertion_cost(options.word_insertion_cost.value_or(static_cast<float>(graph->decoding().word_insertion_cost))),
        max_active(options.max_active.value_or(graph->decoding().max_active)),
        min_active(std::min(options.min_active, max_active)),
        lattice_beam(options.lattice_beam),
        n_best(options.n_best),
        reject_threshold(
            options.reject_threshold.value_or(static_cast<float>(graph->decoding().reject_threshold.value_or(-1)))),
        background(reject_threshold < 0 ? nullptr : options.background) {}

  std::shared_ptr<LoadedGraph> graph;
  double frame_shift_s;
  float beam, acoustic_scale, word_insertion_cost;
  uint32_t max_active, min_active;
  float lattice_beam;
  uint32_t n_best;
  float reject_threshold;
  std::shared_ptr<LoadedGraph> background;  // the graph that results are compared with; nullptr: no comparison
};

}  // namespace asr
