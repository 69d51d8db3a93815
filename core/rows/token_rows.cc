// SPDX-License-Identifier: Apache-2.0
#include "core/rows/token_rows.h"

#include <algorithm>
#include <cmath>

#include "core/base/fused_rows.h"
#include "core/engine/loaded_model.h"

namespace asr {

TokenMap::TokenMap(const ScoreModel &model, const StreamOptions &options) : offsets(model.n_states, 0) {
  if (!model.state_of_column.empty()) {
    // Entry s + 2 counts the columns of state s. Then entry s + 1 says where they begin, and as they are filled in where they
    // end.
    begins.assign(size_t{model.n_states} + 2, 0);
    for (const uint32_t state : model.state_of_column) {
      if (state != kNoToken) ++begins[state + 2];
    }
    for (size_t i = 2; i < begins.size(); ++i) begins[i] += begins[i - 1];
    columns.resize(begins.back());
    for (uint32_t column = 0; column < model.n_columns(); ++column) {
      const uint32_t state = model.state_of_column[column];
      if (state != kNoToken) columns[begins[state + 1]++] = column;
    }
    begins.pop_back();
  }
  const double prior_scale = options.prior_scale ? static_cast<double>(*options.prior_scale) : model.prior_scale;
  for (uint32_t state = 0; state < model.n_states && !model.log_priors.empty(); ++state) {
    offsets[state] -= static_cast<float>(prior_scale * static_cast<double>(model.log_priors[state]));
  }
  if (model.has_blank()) {
    offsets[model.blank] -= options.blank_penalty ? *options.blank_penalty : static_cast<float>(model.blank_penalty);
  }
}

std::unique_ptr<TokenRows> TokenRows::make(const LoadedModel &model, const StreamOptions &options) {
  if (!model.scores() || options.input != ASR_INPUT_LOGLIKES) return nullptr;
  std::unique_ptr<TokenRows> made(new TokenRows(*model.scores(), options));
  const std::vector<float> &offsets = made->token_map_.offsets;
  const bool has_offsets = std::any_of(offsets.begin(), offsets.end(), [](float offset) { return offset != 0; });
  if (made->token_map_.is_one_to_one() && !has_offsets && made->map_ == nullptr) return nullptr;
  return made;
}

TokenRows::TokenRows(const ScoreModel &model, const StreamOptions &options) : model_(model), token_map_(model, options) {
  if (options.blank_skip == 0) return;
  skip_from_ = std::log(options.blank_skip);
  map_ = std::make_shared<FrameMap>();
}

// A state without a column is closed.
void TokenRows::convert(const float *columns, float *row) const {
  if (token_map_.is_one_to_one()) {
    std::copy_n(columns, model_.n_states, row);
    return;
  }
  const std::vector<uint32_t> &begins = token_map_.begins;
  for (uint32_t state = 0; state < model_.n_states; ++state) {
    row[state] = sum_of_columns(columns, token_map_.columns.data() + begins[state], begins[state + 1] - begins[state]);
  }
}

// The first blank of a row of them stays, so that the same token before and behind them is two tokens.
void TokenRows::append(const float *columns, size_t n, std::vector<float> *rows) {
  for (size_t t = 0; t < n; ++t, columns += model_.n_columns()) {
    const size_t at = rows->size();
    rows->resize(at + model_.n_states);
    float *const row = rows->data() + at;
    convert(columns, row);
    const bool is_blank = map_ != nullptr && row[model_.blank] >= skip_from_;
    const bool is_skipped = is_blank && was_blank_;
    was_blank_ = is_blank;
    if (is_skipped) {
      rows->resize(at);
      map_->skip_before(n_rows_, ++n_skipped_);
      continue;
    }
    ++n_rows_;
    for (uint32_t state = 0; state < model_.n_states; ++state) row[state] += token_map_.offsets[state];
  }
}

}  // namespace asr
