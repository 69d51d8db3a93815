// SPDX-License-Identifier: Apache-2.0
#include "core/engine/utterance.h"

#include <algorithm>
#include <cmath>

#include "core/lattice/from_backend.h"

namespace asr {
namespace {

size_t length_of_rows(const LoadedModel &model, const StreamOptions &options) {
  return options.input == ASR_INPUT_LOGLIKES ? model.n_states() : model.n_dims();
}

}  // namespace

Utterance::Utterance(const LoadedModel &model, const StreamOptions &options)
    : model_(model), options_(options), row_length_(length_of_rows(model, options)), channel_(nullptr, nullptr) {
  if (options.is_audio()) {
    const FeatureTables &tables = model.tables();
    const CmnKind cmn = options.cmn.value_or(tables.front_end().cmn);
    pipeline_.emplace(tables, cmn, tables.warp_index(static_cast<double>(options.vtln_warp)));
  }
  if (options.partial_interval_ms > 0) {
    const double frames = options.partial_interval_ms / (1000 * model.frame_shift_s());
    partial_frames_ = static_cast<uint32_t>(std::max(1.0, std::round(frames)));
  }
  if (options.lattice_beam > 0) {
    DeterminiseOptions determinise;
    determinise.acoustic_scale = static_cast<double>(*options.acoustic_scale);
    determinise.lattice_beam = static_cast<double>(options.lattice_beam);
    pieces_ = std::make_unique<PieceDeterminiser>(determinise);
  }
  begin_channel();
}

void Utterance::begin_channel() {
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
  channel_ = {channel, model_.api()->channel_end};
}

size_t Utterance::n_wanted() const {
  const size_t n_ready = pipeline_ ? pipeline_->ready_rows() : rows_.size() / row_length_;
  const size_t window = model_.options().window_frames;
  if (n_ready >= window) return 0;
  if (!pipeline_) return (window - n_ready) * row_length_;
  return (window - n_ready) * model_.tables().front_end().shift_samples;
}

void Utterance::add(const float *values, size_t n) {
  if (pipeline_) {
    pipeline_->add_samples(values, n);
  } else {
    rows_.insert(rows_.end(), values, values + n);
  }
}

void Utterance::end() {
  if (ended_) return;
  ended_ = true;
  if (pipeline_) pipeline_->finish();
}

bool Utterance::next_extract(asr_extract_job *job) {
  return pipeline_ && pipeline_->next_extract(job, model_.options().window_frames);
}

void Utterance::extracted() { pipeline_->extracted(); }

size_t Utterance::n_ready_rows() const {
  size_t n = pipeline_ ? pipeline_->ready_rows() : rows_.size() / row_length_;
  n = std::min<size_t>(n, model_.options().window_frames);
  if (partial_frames_ > 0) n = std::min<size_t>(n, partial_frames_ - n_frames_ % partial_frames_);
  return n;
}

void Utterance::take_rows(float *rows, size_t n) {
  const float *from = pipeline_ ? pipeline_->rows() : rows_.data();
  std::copy_n(from, n * row_length_, rows);
  if (pipeline_) {
    pipeline_->consume(n);
  } else {
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(n * row_length_));
  }
  n_frames_ += static_cast<uint32_t>(n);
}

bool Utterance::all_taken() const { return ended_ && (pipeline_ ? pipeline_->done() : rows_.empty()); }

Event Utterance::result(asr_event_kind kind, const asr_path &path) const { return path_event(path, options_, model_, kind); }

void Utterance::take_lattice_pieces() {
  const asr_backend_api &api = *model_.api();
  if (!pieces_ || api.lattice_piece == nullptr) return;
  const auto take = [&](asr_raw_lattice *piece) {
    model_.device().check(api.lattice_piece(model_.device().get(), channel_.get(), piece));
  };
  add_settled_pieces(take, *options_.word_insertion_cost, pieces_.get());
}

SearchLattice Utterance::take_lattice(const asr_raw_lattice &raw) {
  return {std::move(pieces_), lattice_from_backend(raw, *options_.word_insertion_cost), raw.n_frames, raw.reached_final != 0,
          raw.beam_died != 0};
}

}  // namespace asr
