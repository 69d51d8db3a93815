// SPDX-License-Identifier: Apache-2.0
#include "core/engine/fused_models.h"

namespace asr {

FusedModels::FusedModels(const FusionOptions &options, const LoadedModel &place, Retired *retired)
    : fusion_(options.settings, place.n_states()) {
  for (const auto &model : options.front_ends) features_.push_back(on_device(model.get(), place, retired).features);
  for (const auto &[model, front_end] : options.models) {
    const uint32_t n_dims = model ? model->tables().front_end().n_dims() : place.n_dims();
    models_.push_back({on_device(model.get(), place, retired).acoustic, front_end, n_dims});
  }
}

void FusedModels::begin_utterance(const LoadedGraph &graph) { fusion_.begin(graph.silent_states()); }

}  // namespace asr
