// SPDX-License-Identifier: Apache-2.0
// Small random graphs and log-likelihoods for the search cases.
#pragma once

#include <limits>
#include <random>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr::test {

struct GraphShape {
  uint32_t n_states = 8, n_pdfs = 4, n_words = 5;
  double emitting_arcs = 2.5, epsilon_arcs = 0.6;  // average per state
  double final_states = 0.3;                       // fraction of final states
  bool ties = false;                               // true: costs and log-likelihoods come from a few values
};

class RandomGraph {
 public:
  RandomGraph(const GraphShape &shape, std::mt19937 &random) : shape_(shape), random_(random) {
    pdf_of_.push_back(0);
    for (uint32_t id = 1; id <= 2 * shape.n_pdfs; ++id) pdf_of_.push_back((id - 1) / 2);
    add_arcs(shape.emitting_arcs, true, emitting_begin_);
    add_arcs(shape.epsilon_arcs, false, epsilon_begin_);
    for (uint32_t s = 0; s < shape.n_states; ++s) {
      final_costs_.push_back(chance(shape.final_states) ? cost(0, 3) : std::numeric_limits<float>::infinity());
    }
    view_.size = sizeof(view_);
    view_.n_states = shape.n_states;
    view_.start_state = below(shape.n_states);
    view_.n_transition_ids = 2 * shape.n_pdfs;
    view_.n_pdfs = shape.n_pdfs;
    view_.n_arcs = arcs_.size();
    view_.emitting_begin = emitting_begin_.data();
    view_.epsilon_begin = epsilon_begin_.data();
    view_.arcs = arcs_.data();
    view_.final_costs = final_costs_.data();
    view_.pdf_of = pdf_of_.data();
  }
  RandomGraph(const RandomGraph &) = delete;
  RandomGraph &operator=(const RandomGraph &) = delete;

  const asr_graph_view &view() const { return view_; }

  std::vector<float> loglikes(uint32_t n_frames) {
    std::vector<float> rows(size_t{n_frames} * shape_.n_pdfs);
    for (float &x : rows) x = cost(-20, 2);
    return rows;
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool chance(double p) { return random_() % 10000 < p * 10000; }

  float cost(float low, float high) {
    if (shape_.ties) return low + static_cast<float>(below(4)) * (high - low) / 4;
    return std::uniform_real_distribution<float>(low, high)(random_);
  }

  // Graphs with an odd number of states may have epsilon cycles, with costs of at least 0. In the others costs may be negative,
  // and epsilon arcs lead only to higher states.
  void add_arcs(double mean, bool emitting, std::vector<uint32_t> &begin) {
    const bool cycles = shape_.n_states % 2 == 1;
    std::poisson_distribution<int> n_arcs(mean);
    for (uint32_t s = 0; s < shape_.n_states; ++s) {
      begin.push_back(static_cast<uint32_t>(arcs_.size()));
      for (int i = n_arcs(random_); i > 0; --i) {
        uint32_t next = emitting && chance(0.3) ? s : below(shape_.n_states);
        if (!emitting && !cycles) {
          if (s + 1 == shape_.n_states) break;
          next = s + 1 + below(shape_.n_states - s - 1);
        }
        const uint32_t id = emitting ? 1 + below(2 * shape_.n_pdfs) : 0;
        const uint32_t word = chance(0.3) ? below(shape_.n_words) : 0;
        arcs_.push_back({next, id, word, cost(emitting || !cycles ? -1.0f : 0.0f, 4)});
      }
    }
    begin.push_back(static_cast<uint32_t>(arcs_.size()));
  }

  const GraphShape shape_;
  std::mt19937 &random_;
  std::vector<uint32_t> emitting_begin_, epsilon_begin_, pdf_of_;
  std::vector<asr_graph_arc> arcs_;
  std::vector<float> final_costs_;
  asr_graph_view view_{};
};

}  // namespace asr::test
