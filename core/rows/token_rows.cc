// SPDX-License-Identifier: Apache-2.0
#include "core/rows/token_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/engine/loaded_model.h"

namespace asr {

std::unique_ptr<TokenRows> TokenRows::make(const LoadedModel &model, const StreamOptions &options) {
  if (!model.scores() || options.input != ASR_INPUT_LOGLIKES) return nullptr;
  const ScoreModel &scores = *model.scores();
  std::unique_ptr<TokenRows> made(new TokenRows(scores, options));
  const bool has_offsets = std::any_of(made->offsets_.begin(), made->offsets_.end(), [](float offset) { return offset != 0; });
  if (made->sums_.empty() && !has_offsets && made->map_ == nullptr) return nullptr;
  return made;
}

TokenRows::TokenRows(const ScoreModel &model, const StreamOptions &options) : model_(model), offsets_(model.n_states, 0) {
  if (!model.state_of_column.empty()) {
    for (uint32_t state = 0; state < model.n_states; ++state) sums_.push_back({state, {}});
    for (uint32_t column = 0; column < model.n_columns(); ++column) {
      if (model.state_of_column[column] != kNoToken) sums_[model.state_of_column[column]].columns.push_back(column);
    }
  }
  const double prior_scale = options.prior_scale ? static_cast<double>(*options.prior_scale) : model.prior_scale;
  for (uint32_t state = 0; state < model.n_states && !model.log_priors.empty(); ++state) {
    offsets_[state] -= static_cast<float>(prior_scale * static_cast<double>(model.log_priors[state]));
  }
  if (model.has_blank()) {
    offsets_[model.blank] -= options.blank_penalty ? *options.blank_penalty : static_cast<float>(model.blank_penalty);
  }
  if (options.blank_skip > 0) {
    skip_from_ = std::log(options.blank_skip);
    map_ = std::make_shared<FrameMap>();
  }
}

// A state without a column is closed.
void TokenRows::convert(const float *columns, float *row) const {
  constexpr float kClosed = -std::numeric_limits<float>::infinity();
  if (sums_.empty()) std::copy_n(columns, model_.n_states, row);
  for (const Sum &sum : sums_) {
    float best = kClosed;
    for (const uint32_t column : sum.columns) best = std::max(best, columns[column]);
    float total = 0;
    if (sum.columns.size() > 1 && best > kClosed) {
      for (const uint32_t column : sum.columns) total += std::exp(columns[column] - best);
      best += std::log(total);
    }
    row[sum.state] = best;
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
    for (uint32_t state = 0; state < model_.n_states; ++state) row[state] += offsets_[state];
  }
}

}  // namespace asr
