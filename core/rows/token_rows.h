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

// TokenMap says how columns of the network become states: state s is the sum of columns[begins[s]] ... of columns[begins[s + 1]
// - 1], plus offsets[s].
struct TokenMap {
  TokenMap(const ScoreModel &model, const StreamOptions &options);
  bool is_one_to_one() const { return begins.empty(); }  // state s is column s

  std::vector<uint32_t> begins, columns;
  std::vector<float> offsets;  // [n_states]: less the prior's share, and the penalty of the blank
};

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
  const TokenMap token_map_;
  float skip_from_ = 0;  // log-likelihood of a blank that is beyond the threshold
  std::shared_ptr<FrameMap> map_;
  bool was_blank_ = false;  // the frame before
  uint64_t n_rows_ = 0, n_skipped_ = 0;
};

}  // namespace asr
