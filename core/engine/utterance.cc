// SPDX-License-Identifier: Apache-2.0
#include "core/engine/utterance.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

size_t length_of_rows(const LoadedModel &model, const StreamOptions &options) {
  return options.input == ASR_INPUT_LOGLIKES ? model.n_states() : model.n_dims();
}

}  // namespace

Utterance::Utterance(const LoadedModel &model, const StreamOptions &options, RetiredChannels *retired)
    : model_(model), options_(options), row_length_(length_of_rows(model, options)), signal_(nullptr, nullptr) {
  if (options.is_audio()) begin_features();
  if (options.partial_interval_ms > 0) {
    const double frames = options.partial_interval_ms / (1000 * model.frame_shift_s());
    partial_frames_ = static_cast<uint32_t>(std::max(1.0, std::round(frames)));
  }
  if (options.lattice_beam > 0) {
    DeterminiseOptions determinise;
    determinise.acoustic_scale = static_cast<double>(*options.acoustic_scale);
    determinise.lattice_beam = static_cast<double>(options.lattice_beam);
    pieces_ = std::make_shared<LatticePieces>(determinise);
  }
  begin_channel(retired);
}

// On the device where it can normalise as the stream wants, else here.
void Utterance::begin_features() {
  const FeatureTables &tables = model_.tables();
  const CmnKind cmn = options_.cmn.value_or(tables.front_end().cmn);
  const uint32_t warp = tables.warp_index(static_cast<double>(options_.vtln_warp));
  const bool is_live = cmn == CmnKind::kLive;
  if (model_.has_step() && cmn != CmnKind::kBatch && !(is_live && tables.front_end().cmn_variance)) {
    const asr_signal_options signal_options{sizeof(signal_options), warp, is_live};
    asr_backend_signal *signal = nullptr;
    model_.device().check(model_.api()->signal_begin(model_.device().get(), model_.features(), &signal_options, &signal));
    signal_ = {signal, model_.api()->signal_end};
    feed_.emplace(tables, model_.options().window_frames);
  } else {
    pipeline_.emplace(tables, cmn, warp);
  }
}

void Utterance::begin_channel(RetiredChannels *retired) {
  asr_search_options search{};
  search.size = sizeof(search);
  search.beam = *options_.beam;
  search.lattice_beam = options_.lattice_beam;
  search.acoustic_scale = *options_.acoustic_scale;
  search.word_insertion_cost = *options_.word_insertion_cost;
  search.max_active = *options_.max_active;
  search.min_active = std::min(options_.min_active, search.max_active);
  asr_backend_channel *channel = nullptr;
  model_.device().check(model_.api()->channel_begin(model_.device().get(), model_.backend_graph(), &search, &channel));
  channel_ = retired->hold(channel);
}

size_t Utterance::n_waiting_rows() const {
  if (feed_) return feed_->ready_rows();
  return pipeline_ ? pipeline_->ready_rows() : rows_.size() / row_length_;
}

size_t Utterance::n_wanted() const {
  const size_t n_ready = n_waiting_rows(), window = model_.options().window_frames;
  if (n_ready >= window) return 0;
  return (window - n_ready) * (options_.is_audio() ? model_.tables().front_end().shift_samples : row_length_);
}

void Utterance::add(const float *values, size_t n) {
  if (feed_) {
    feed_->add_samples(values, n);
  } else if (pipeline_) {
    pipeline_->add_samples(values, n);
  } else {
    rows_.insert(rows_.end(), values, values + n);
  }
}

void Utterance::end() {
  if (ended_) return;
  ended_ = true;
  if (feed_) feed_->finish();
  if (pipeline_) pipeline_->finish();
}

bool Utterance::next_extract(asr_extract_job *job) {
  return pipeline_ && pipeline_->next_extract(job, model_.options().window_frames);
}

void Utterance::extracted() { pipeline_->extracted(); }

void Utterance::next_frames(asr_step_job *job) {
  if (!feed_) return;
  job->signal = signal_.get();
  feed_->next_frames(job);
}

size_t Utterance::n_ready_rows() const {
  size_t n = std::min<size_t>(n_waiting_rows(), model_.options().window_frames);
  if (partial_frames_ > 0) n = std::min<size_t>(n, partial_frames_ - n_frames_ % partial_frames_);
  return n;
}

void Utterance::take_rows(size_t n, std::vector<float> *rows) {
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
  n_frames_ += static_cast<uint32_t>(n);
}

bool Utterance::all_taken() const {
  if (!ended_) return false;
  if (feed_) return feed_->done();
  return pipeline_ ? pipeline_->done() : rows_.empty();
}

EventPointer Utterance::result(asr_event_kind kind, const asr_path &path) const {
  return path_event(path, options_, model_, kind);
}

bool Utterance::advanced(size_t n_frames) {
  constexpr size_t kPieceFrames = 256;  // "Pieces" in docs/search.md
  const size_t n_before = n_advanced_;
  n_advanced_ += n_frames;
  return pieces_ != nullptr && n_advanced_ >= 2 * kPieceFrames && n_advanced_ / kPieceFrames > n_before / kPieceFrames;
}

}  // namespace asr
