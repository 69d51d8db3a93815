// SPDX-License-Identifier: Apache-2.0
// The rows of fused streams in a window of the scheduler: every model scores its rows of all streams in one call, the host
// fuses the scores into the window's log-likelihoods. Used by the engine's thread only.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/fused_models.h"
#include "core/engine/row_source.h"

namespace asr {

class FusedWindow {
 public:
  bool empty() const { return parts_.empty(); }
  void clear();

  // Adds the next n rows of a stream, which become rows first_row ... of the window's log-likelihoods.
  void add(std::shared_ptr<FusedModels> models, const RowSource &rows, size_t n, size_t first_row, size_t n_states);

  // Issues the scoring of all rows, through score buffer `buffer` of each model; the scores are there after wait(). A later
  // `score` may use the buffer again.
  void score(const LoadedModel &place, uint32_t buffer);

  // Fuses the scores of a part, which are one stream's: parts may be fused at once, by several threads.
  size_t n_scored_parts() const { return is_scored_ ? parts_.size() : 0; }
  void combine(size_t part, size_t n_states, float *loglikes) const noexcept;

 private:
  struct Scored {
    std::shared_ptr<asr_backend_acoustic> acoustic;
    uint32_t n_dims;
    std::vector<float> rows, loglikes;
    size_t n_rows() const { return rows.size() / n_dims; }
  };
  struct Place {
    size_t scored, first_row;
  };
  struct Part {
    std::shared_ptr<FusedModels> models;
    size_t first_row, n_rows;
    std::vector<Place> places;          // of each model's scores; kUnused for those that the stream no longer needs
    std::vector<const float *> scores;  // at these places, once they are made
  };
  static constexpr Place kUnused{SIZE_MAX, 0};

  Place add_rows(const FusedModels::Model &model, const float *rows, size_t n, size_t n_states);

  std::vector<Scored> scored_;  // a model each
  std::vector<Part> parts_;
  bool is_scored_ = false;
};

}  // namespace asr
