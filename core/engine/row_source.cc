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
// are transformed and no models are fused, else here.
void RowSource::begin_features(float warp, const LiveMeanState *start) {
  const FeatureTables &tables = model_.tables();
  const CmnKind cmn = options_.cmn_of(tables.front_end());
  const bool is_live = cmn == CmnKind::kLive;
  const bool is_running = is_live && tables.front_end().cmn_lookahead_frames == 0 && !tables.front_end().cmn_variance;
  const bool is_plain = !options_.speaker && !options_.fusion;
  const asr_backend_signals_api *const signals = model_.signals();
  if (signals != nullptr && is_plain && (cmn == CmnKind::kNone || is_running)) {
    const asr_signal_options signal_options{sizeof(signal_options), tables.warp_index(static_cast<double>(warp)), is_live};
    asr_backend_signal *signal = nullptr;
    model_.device().check(signals->signal_begin(model_.device().get(), model_.features(), &signal_options, &signal));
    signal_ = {signal, signals->signal_end};
    feed_.emplace(tables, model_.options().window_frames);
  } else {
    begin_pipelines(warp, start);
  }
}

void RowSource::begin_pipelines(float warp, const LiveMeanState *start) {
  const auto begin = [&](const FeatureTables &tables) {
    const uint32_t bank = tables.warp_index(static_cast<double>(warp));
    pipelines_.add(std::make_unique<FeaturePipeline>(tables, options_.cmn_of(tables.front_end()), bank, start));
  };
  if (!options_.fusion) return begin(model_.tables());
  for (const auto &front_end : options_.fusion->front_ends) begin(front_end ? front_end->tables() : model_.tables());
}

size_t RowSource::n_waiting() const {
  if (feed_) return feed_->ready_rows();
  return pipelines_.empty() ? rows_.size() / row_length_ : pipelines_.ready_rows();
}

size_t RowSource::n_wanted() const {
  const size_t n_ready = n_waiting(), window = model_.options().window_frames;
  if (n_ready >= window) return 0;
  return (window - n_ready) * (options_.is_audio() ? model_.tables().front_end().shift_samples : row_length_);
}

void RowSource::add(const float *values, size_t n) {
  if (feed_) {
    feed_->add_samples(values, n);
  } else if (!pipelines_.empty()) {
    pipelines_.add_samples(values, n);
  } else {
    rows_.insert(rows_.end(), values, values + n);
  }
}

void RowSource::end() {
  if (ended_) return;
  ended_ = true;
  if (feed_) feed_->finish();
  pipelines_.finish();
}

bool RowSource::next_extract(size_t pipeline, asr_extract_job *job) {
  return pipelines_[pipeline].next_extract(job, model_.options().window_frames);
}

void RowSource::extracted(size_t pipeline) { pipelines_[pipeline].extracted(); }

const LiveMeanState *RowSource::live_state() const { return pipelines_.size() == 1 ? pipelines_[0].live_state() : nullptr; }

void RowSource::next_frames(asr_step_job *job) {
  if (!feed_) return;
  job->signal = signal_.get();
  feed_->next_frames(job);
}

size_t RowSource::n_ready() const { return std::min<size_t>(n_waiting(), model_.options().window_frames); }

const float *RowSource::rows(size_t pipeline) const { return pipelines_.empty() ? rows_.data() : pipelines_[pipeline].rows(); }

void RowSource::drop(size_t n) {
  if (feed_) {
    feed_->consume(n);
  } else if (!pipelines_.empty()) {
    pipelines_.consume(n);
  } else {
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(n * row_length_));
  }
}

void RowSource::take(size_t n, std::vector<float> *rows) {
  if (!feed_) rows->insert(rows->end(), this->rows(0), this->rows(0) + n * row_length_);
  drop(n);
}

void RowSource::release_waiting() { pipelines_.release_waiting(); }

bool RowSource::is_dry() const {
  if (n_waiting() > 0) return false;
  return feed_ ? feed_->n_pending_frames() == 0 : !pipelines_.has_pending_frames();
}

bool RowSource::all_taken() const {
  if (!ended_) return false;
  if (feed_) return feed_->done();
  return pipelines_.empty() ? rows_.empty() : pipelines_.done();
}

}  // namespace asr
