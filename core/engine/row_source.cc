// SPDX-License-Identifier: Apache-2.0
#include "core/engine/row_source.h"

#include <algorithm>

namespace asr {
namespace {

size_t length_of_rows(const LoadedModel &model, const StreamOptions &options) {
  return options.input == ASR_INPUT_LOGLIKES ? model.n_states() : model.n_dims();
}

}  // namespace

RowSource::RowSource(const LoadedModel &model, const StreamOptions &options, float warp, const LiveMeanState *start)
    : model_(model), options_(options), row_length_(length_of_rows(model, options)), signal_(nullptr, nullptr) {
  if (options.is_audio()) begin_features(warp, start);
}

// On the device where it can normalise as the stream wants, which of live means it can running ones alone, and nobody's rows
// are transformed, else here.
void RowSource::begin_features(float warp, const LiveMeanState *start) {
  const FeatureTables &tables = model_.tables();
  const CmnKind cmn = options_.cmn.value_or(tables.front_end().cmn);
  const uint32_t bank = tables.warp_index(static_cast<double>(warp));
  const bool is_live = cmn == CmnKind::kLive;
  const bool is_running = is_live && tables.front_end().cmn_lookahead_frames == 0 && !tables.front_end().cmn_variance;
  if (model_.has_step() && !options_.speaker && (cmn == CmnKind::kNone || is_running)) {
    const asr_signal_options signal_options{sizeof(signal_options), bank, is_live};
    asr_backend_signal *signal = nullptr;
    model_.device().check(model_.api()->signal_begin(model_.device().get(), model_.features(), &signal_options, &signal));
    signal_ = {signal, model_.api()->signal_end};
    feed_.emplace(tables, model_.options().window_frames);
  } else {
    pipeline_.emplace(tables, cmn, bank, start);
  }
}

size_t RowSource::n_waiting() const {
  if (feed_) return feed_->ready_rows();
  return pipeline_ ? pipeline_->ready_rows() : rows_.size() / row_length_;
}

size_t RowSource::n_wanted() const {
  const size_t n_ready = n_waiting(), window = model_.options().window_frames;
  if (n_ready >= window) return 0;
  return (window - n_ready) * (options_.is_audio() ? model_.tables().front_end().shift_samples : row_length_);
}

void RowSource::add(const float *values, size_t n) {
  if (feed_) {
    feed_->add_samples(values, n);
  } else if (pipeline_) {
    pipeline_->add_samples(values, n);
  } else {
    rows_.insert(rows_.end(), values, values + n);
  }
}

void RowSource::end() {
  if (ended_) return;
  ended_ = true;
  if (feed_) feed_->finish();
  if (pipeline_) pipeline_->finish();
}

bool RowSource::next_extract(asr_extract_job *job) {
  return pipeline_ && pipeline_->next_extract(job, model_.options().window_frames);
}

void RowSource::extracted() { pipeline_->extracted(); }

void RowSource::next_frames(asr_step_job *job) {
  if (!feed_) return;
  job->signal = signal_.get();
  feed_->next_frames(job);
}

size_t RowSource::n_ready() const { return std::min<size_t>(n_waiting(), model_.options().window_frames); }

void RowSource::take(size_t n, std::vector<float> *rows) {
  const auto n_values = static_cast<ptrdiff_t>(n * row_length_);
  if (feed_) {
    feed_->consume(n);
  } else if (pipeline_) {
    rows->insert(rows->end(), pipeline_->rows(), pipeline_->rows() + n_values);
    pipeline_->consume(n);
  } else {
    rows->insert(rows->end(), rows_.begin(), rows_.begin() + n_values);
    rows_.erase(rows_.begin(), rows_.begin() + n_values);
  }
}

void RowSource::release_waiting() {
  if (pipeline_) pipeline_->release_waiting();
}

bool RowSource::is_dry() const {
  if (n_waiting() > 0) return false;
  if (feed_) return feed_->n_pending_frames() == 0;
  return !pipeline_ || pipeline_->n_pending_frames() == 0;
}

bool RowSource::all_taken() const {
  if (!ended_) return false;
  if (feed_) return feed_->done();
  return pipeline_ ? pipeline_->done() : rows_.empty();
}

}  // namespace asr
