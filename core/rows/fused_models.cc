// SPDX-License-Identifier: Apache-2.0
#include "core/rows/fused_models.h"

#include <algorithm>
#include <utility>

#include "core/base/limits.h"
#include "core/rows/row_source.h"

namespace asr {

namespace {

FusionSettings weights_of_one() {
  FusionSettings settings;
  settings.weights = {1};
  return settings;
}

}  // namespace

FusedModels::FusedModels(const FusionOptions &options, const LoadedModel &place) : fusion_(options.settings, place.n_states()) {
  for (const auto &model : options.front_ends) features_.push_back(on_device(model.get(), place).features);
  for (const auto &[model, front_end] : options.models) {
    const uint32_t n_dims = model ? model->tables().front_end().n_dims() : place.n_dims();
    models_.push_back({on_device(model.get(), place).acoustic, front_end, n_dims});
  }
}

FusedModels::FusedModels(std::shared_ptr<asr_backend_acoustic> acoustic, const LoadedModel &place)
    : models_{{std::move(acoustic), 0, place.n_dims()}}, fusion_(weights_of_one(), place.n_states()) {}

size_t FusedModels::front_end_of(const asr_backend_acoustic *acoustic) const {
  const auto is_it = [&](const Model &model) { return model.acoustic.get() == acoustic; };
  return std::find_if(models_.begin(), models_.end(), is_it)->front_end;
}

size_t FusedModels::n_rows_for(size_t window_frames) const {
  constexpr size_t kMin = 8;  // fewer are not worth a step
  size_t n_used = 0;
  for (size_t m = 0; m < models_.size(); ++m) n_used += fusion_.uses(m);
  return std::min(window_frames, std::max(kMin, window_frames / n_used));
}

void FusedModels::begin_utterance(const LoadedGraph &graph) { fusion_.begin(graph.silent_states()); }

static_assert(static_cast<int>(FusionRule::kSum) == ASR_FUSE_SUM && static_cast<int>(FusionRule::kMax) == ASR_FUSE_MAX &&
              static_cast<int>(FusionRule::kLogSum) == ASR_FUSE_LOG_SUM && kMaxModels <= ASR_FUSE_MOST_TERMS);

void FusedWindow::clear() {
  parts_.clear();
  device_parts_.clear();
  scored_.clear();
  is_scored_ = false;
}

// All memory is taken here, where a failure is the stream's own: score() is for the streams of the window together.
FusedWindow::Place FusedWindow::add_rows(const FusedModels::Model &model, const float *rows, size_t n, size_t n_states,
                                         bool on_host) {
  auto found = std::find_if(scored_.begin(), scored_.end(), [&](const Scored &s) { return s.acoustic == model.acoustic; });
  if (found == scored_.end()) found = scored_.insert(found, {model.acoustic, model.n_dims, {}, {}});
  const Place place{static_cast<size_t>(found - scored_.begin()), found->n_rows()};
  if (on_host || !found->loglikes.empty()) found->loglikes.resize((found->n_rows() + n) * n_states);
  found->rows.insert(found->rows.end(), rows, rows + n * model.n_dims);
  return place;
}

// A stream may name a model twice, which then scores its rows once.
void FusedWindow::add(std::shared_ptr<FusedModels> models, const RowSource &rows, size_t n, size_t first_row, size_t n_states) {
  Part part{std::move(models), first_row, n, {}, {}};
  const std::vector<FusedModels::Model> &list = part.models->models();
  for (size_t m = 0; m < list.size(); ++m) {
    const auto twin = std::find_if(list.begin(), list.begin() + static_cast<ptrdiff_t>(m),
                                   [&](const FusedModels::Model &model) { return model.acoustic == list[m].acoustic; });
    const auto t = static_cast<size_t>(twin - list.begin());
    if (!part.models->fusion().uses(m)) {
      part.places.push_back(kUnused);
    } else if (t < m && part.places[t].scored != kUnused.scored) {
      part.places.push_back(part.places[t]);
    } else {
      part.places.push_back(add_rows(list[m], rows.rows(list[m].front_end), n, n_states, true));
    }
  }
  parts_.push_back(std::move(part));
}

void FusedWindow::add(std::shared_ptr<FusedModels> model, const float *rows, size_t n, size_t first_row, size_t n_states) {
  Part part{std::move(model), first_row, n, {}, {}};
  part.places.push_back(add_rows(part.models->models()[0], rows, n, n_states, true));
  parts_.push_back(std::move(part));
}

bool FusedWindow::suits_device(const FusedModels &models, const LoadedModel &place) {
  const std::vector<FusedModels::Model> &list = models.models();
  return place.fusion() != nullptr && models.fusion().rule_of_frames() &&
         std::any_of(list.begin(), list.end(), [&](const auto &model) { return model.acoustic.get() == place.acoustic(); });
}

void FusedWindow::add_on_device(std::shared_ptr<FusedModels> models, const RowSource &rows, size_t n, size_t first_row,
                                const LoadedModel &place) {
  const Fusion &fusion = models->fusion();
  DevicePart part;
  part.job = {nullptr, 0, static_cast<asr_fuse_rule>(*fusion.rule_of_frames()), static_cast<uint32_t>(first_row),
              static_cast<uint32_t>(n)};
  const std::vector<FusedModels::Model> &list = models->models();
  for (size_t m = 0; m < list.size(); ++m) {
    asr_backend_acoustic *const acoustic = list[m].acoustic.get();
    const auto twin = std::find_if(part.terms.begin(), part.terms.end(), [&](const auto &t) { return t.acoustic == acoustic; });
    size_t first = first_row;
    if (twin != part.terms.end()) {
      first = twin->first_row;
    } else if (acoustic != place.acoustic()) {
      first = add_rows(list[m], rows.rows(list[m].front_end), n, place.n_states(), false).first_row;
    }
    part.terms.push_back({acoustic, static_cast<uint32_t>(first), fusion.weights()[m]});
  }
  part.job.n_terms = static_cast<uint32_t>(part.terms.size());
  part.models = std::move(models);
  device_parts_.push_back(std::move(part));
}

// Parts follow each other in calls of as many models as one takes.
void FusedWindow::fuse_on_device(const LoadedModel &place, uint32_t buffer) {
  std::vector<asr_fuse_job> jobs;
  std::vector<asr_backend_acoustic *> models;
  const auto issue = [&] {
    place.device().check(
        place.fusion()->fuse(place.device().get(), place.acoustic(), jobs.data(), jobs.size(), buffer, nullptr));
    jobs.clear();
    models.clear();
  };
  const auto is_new = [&](const asr_fuse_term &term) {
    return std::find(models.begin(), models.end(), term.acoustic) == models.end();
  };
  for (DevicePart &part : device_parts_) {
    const auto n_new = static_cast<size_t>(std::count_if(part.terms.begin(), part.terms.end(), is_new));
    if (models.size() + n_new > ASR_FUSE_MOST_TERMS) issue();
    for (const asr_fuse_term &term : part.terms) {
      if (is_new(term)) models.push_back(term.acoustic);
    }
    part.job.terms = part.terms.data();
    jobs.push_back(part.job);
  }
  if (!jobs.empty()) issue();
}

void FusedWindow::score(const LoadedModel &place, uint32_t buffer) {
  std::vector<asr_score_job> jobs;
  for (Scored &scored : scored_) {
    float *const loglikes = scored.loglikes.empty() ? nullptr : scored.loglikes.data();
    jobs.push_back({scored.acoustic.get(), scored.rows.data(), static_cast<uint32_t>(scored.n_rows()), buffer, loglikes});
  }
  for (Part &part : parts_) {
    for (const Place &at : part.places) {
      const bool is_used = at.scored != kUnused.scored;
      part.scores.push_back(is_used ? scored_[at.scored].loglikes.data() + at.first_row * place.n_states() : nullptr);
    }
  }
  place.device().check(place.api()->score(place.device().get(), jobs.data(), jobs.size()));
  is_scored_ = true;
}

void FusedWindow::combine(size_t part, size_t n_states, float *loglikes) const noexcept {
  const Part &p = parts_[part];
  p.models->fusion().combine(p.scores.data(), p.n_rows, loglikes + p.first_row * n_states);
}

}  // namespace asr
