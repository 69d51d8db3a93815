// SPDX-License-Identifier: Apache-2.0
// TokenRows makes rows of a network's outputs log-likelihoods of a ScoreModel's states (S1 of docs/equations.md), and leaves
// out frames of blanks. FedRows has one if there is something to do.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/model/score_model.h"
#include "core/rows/frame_map.h"
#include "core/stream/stream_options.h"

namespace asr {

class TokenRows {
 public:
  // nullptr if the rows are taken as they are.
  static std::unique_ptr<TokenRows> make(const LoadedModel &model, const StreamOptions &options);

  // Appends the rows that n rows of columns become, at most n.
  void append(const float *columns, size_t n, std::vector<float> *rows);
  std::shared_ptr<const FrameMap> frame_map() const { return map_; }  // nullptr if no frame is left out

 private:
  TokenRows(const ScoreModel &model, const StreamOptions &options);
  void convert(const float *columns, float *row) const;

  const ScoreModel &model_;
  struct Sum {
    uint32_t state;
    std::vector<uint32_t> columns;
  };
  std::vector<Sum> sums_;       // empty: one column a state
  std::vector<float> offsets_;  // [n_states]
  float skip_from_ = 0;         // log-likelihood of a blank that is beyond the threshold
  std::shared_ptr<FrameMap> map_;
  bool was_blank_ = false;  // the frame before
  uint64_t n_rows_ = 0, n_skipped_ = 0;
};

}  // namespace asr
