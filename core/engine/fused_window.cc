// SPDX-License-Identifier: Apache-2.0
#include "core/engine/fused_window.h"

#include <algorithm>
#include <utility>

namespace asr {

void FusedWindow::clear() {
  parts_.clear();
  scored_.clear();
  is_scored_ = false;
}

// All memory is taken here, where a failure is the stream's own: score() is for the streams of the window together.
FusedWindow::Place FusedWindow::add_rows(const FusedModels::Model &model, const float *rows, size_t n, size_t n_states) {
  auto found = std::find_if(scored_.begin(), scored_.end(), [&](const Scored &s) { return s.acoustic == model.acoustic; });
  if (found == scored_.end()) found = scored_.insert(found, {model.acoustic, model.n_dims, {}, {}});
  const Place place{static_cast<size_t>(found - scored_.begin()), found->n_rows()};
  found->loglikes.resize((found->n_rows() + n) * n_states);
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
      part.places.push_back(add_rows(list[m], rows.rows(list[m].front_end), n, n_states));
    }
  }
  parts_.push_back(std::move(part));
}

void FusedWindow::score(const LoadedModel &place, uint32_t buffer) {
  std::vector<asr_score_job> jobs;
  for (Scored &scored : scored_) {
    jobs.push_back(
        {scored.acoustic.get(), scored.rows.data(), static_cast<uint32_t>(scored.n_rows()), buffer, scored.loglikes.data()});
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
