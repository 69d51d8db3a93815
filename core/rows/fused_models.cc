// SPDX-License-Identifier: Apache-2.0
#include "core/rows/fused_models.h"

#include <algorithm>
#include <utility>

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
  constexpr size_t kLeast = 8;  // fewer are not worth a step
  size_t n_used = 0;
  for (size_t m = 0; m < models_.size(); ++m) n_used += fusion_.uses(m);
  return std::min(window_frames, std::max(kLeast, window_frames / n_used));
}

void FusedModels::begin_utterance(const LoadedGraph &graph) { fusion_.begin(graph.silent_states()); }

}  // namespace asr
