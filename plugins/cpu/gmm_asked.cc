// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/gmm_asked.h"

#include <algorithm>

namespace asr::cpu {

AskedRows::AskedRows(const AskedUnits &units)
    : units_(units),
      model_(units.model()),
      x_(model_.streams.size()),
      scores_(units.size() * kAskedFrames * model_.gaussians.n_lanes),
      tiles_(model_.streams.size()),
      chosen_(model_.streams.size()),
      has_chosen_(model_.streams.size()) {
  for (size_t j = 0; j < tiles_.size(); ++j) tiles_[j].resize(model_.streams[j].shared.size());
  asked_.reserve(units.size());
}

void AskedRows::begin(const float *features, size_t n_rows) {
  for (size_t j = 0; j < x_.size(); ++j) x_[j] = pack_rows(model_.streams[j], features, n_rows, model_.n_dims);
  n_rows_ = n_rows, first_row_ = 0, n_frames_ = 0;
  sum_ = {};
}

bool AskedRows::next_tile() {
  first_row_ += n_frames_;
  n_frames_ = uint32_t(std::min(kAskedFrames, n_rows_ - first_row_));
  asked_.clear();
  for (std::vector<TileOf> &tiles : tiles_) {
    for (TileOf &tile : tiles) tile.is_scored = false;
  }
  has_chosen_.assign(has_chosen_.size(), false);
  sum_.n_all += n_frames_ > 0 ? units_.n_of_model() : 0;
  return n_frames_ > 0;
}

AskedRows::Scores AskedRows::scores_of(uint32_t unit, uint32_t frame) const {
  return {units_[unit].states, scores_.data() + first_score(unit) + frame * model_.gaussians.n_lanes};
}

AskedRows::Scores AskedRows::ask(uint32_t state, uint32_t frame) {
  const uint32_t unit = units_.unit_of(state);
  alignas(64) float more[kAskedFrames * kMaxLanes];
  float *const scores = scores_.data() + first_score(unit);
  for (size_t j = 0; j < model_.streams.size(); ++j) {
    score(units_[unit], j, j == 0 ? scores : more);
    for (size_t i = 0; j > 0 && i < n_frames_ * model_.gaussians.n_lanes; ++i) scores[i] += more[i];
  }
  asked_.push_back(unit);
  ++sum_.n_units;
  return scores_of(unit, frame);
}

// Scores a unit on the tile in feature stream j: out[n_frames][L].
void AskedRows::score(const AskedUnit &unit, size_t j, float *out) {
  const GmmStream &stream = model_.streams[j];
  const size_t n_dims = stream.dims.size();
  const float *const x = x_[j].data() + first_row_ * n_dims;
  const AskedUnit::Part &part = unit.parts[j];
  if (part.codebook == nullptr && stream.clusters.n > 0) {
    ChosenStates &chosen = choose(j);
    chosen.score(part.block);
    const size_t n_lanes = model_.gaussians.n_lanes;
    for (size_t t = 0; t < n_frames_; ++t) std::copy_n(chosen.loglikes(part.block, t), n_lanes, out + t * n_lanes);
    return;
  }
  if (part.codebook == nullptr) return model_.gaussians.mixtures(part.own, n_dims, part.n_gaussians, x, n_frames_, out);
  TileOf &tile = tiles_[j][part.number];
  if (!tile.is_scored) tile.gaussians.score(model_, stream, *part.codebook, x, n_frames_);
  tile.is_scored = true;
  const AskedUnit::Part &next = unit.parts[std::min(j + 1, unit.parts.size() - 1)];
  tile.gaussians.mix(*part.mixing, next.mixing != nullptr ? *next.mixing : *part.mixing, out);
}

// Returns the tile's choice of clusters in feature stream j.
ChosenStates &AskedRows::choose(size_t j) {
  ChosenStates &chosen = chosen_[j];
  if (has_chosen_[j]) return chosen;
  const GmmStream &stream = model_.streams[j];
  chosen.begin(model_, stream, x_[j].data() + first_row_ * stream.dims.size(), n_frames_);
  chosen.choose(0, n_frames_);
  has_chosen_[j] = true;
  return chosen;
}

Demanded::Demanded(const Gmm &gmm) : model_(gmm.packed()), all_(units_of_all(model_)), states_(model_.n_states) {}

void Demanded::include(const StateSet &pdfs) {
  if (units_ && states_.contains(pdfs)) return;
  StateSet states = states_;
  states.add(pdfs);
  auto units = std::make_unique<const AskedUnits>(model_, all_, states);
  rows_.clear();
  units_ = std::move(units);
  states_ = std::move(states);
}

std::unique_ptr<AskedRows> Demanded::take() {
  std::lock_guard lock(mutex_);
  if (rows_.empty()) {
    auto rows = std::make_unique<AskedRows>(*units_);
    rows_.reserve(++n_made_);  // so that give() cannot fail
    return rows;
  }
  std::unique_ptr<AskedRows> rows = std::move(rows_.back());
  rows_.pop_back();
  return rows;
}

void Demanded::give(std::unique_ptr<AskedRows> rows) {
  std::lock_guard lock(mutex_);
  rows_.push_back(std::move(rows));
}

}  // namespace asr::cpu
