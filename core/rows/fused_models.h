// SPDX-License-Identifier: Apache-2.0
// The acoustic models of a fused stream on the device that decodes it, and the fusion of their log-likelihoods. Used by the
// engine's thread only; a window that scores rows of the stream keeps a share.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/added_model.h"
#include "core/engine/loaded_graph.h"
#include "core/rows/fusion.h"
#include "core/stream/fusion_options.h"

namespace asr {

class FusedModels {
 public:
  // Loads the models that the device does not have yet.
  FusedModels(const FusionOptions &options, const LoadedModel &place);
  // One model alone, for rows of the front end of `place`.
  FusedModels(std::shared_ptr<asr_backend_acoustic> acoustic, const LoadedModel &place);

  void begin_utterance(const LoadedGraph &graph);

  // The front ends of the models, each once.
  size_t n_front_ends() const { return features_.size(); }
  asr_backend_features *features(size_t i) const { return features_[i].get(); }

  struct Model {
    std::shared_ptr<asr_backend_acoustic> acoustic;
    size_t front_end;
    uint32_t n_dims;
  };
  const std::vector<Model> &models() const { return models_; }
  // Returns the front end of one of the models.
  size_t front_end_of(const asr_backend_acoustic *acoustic) const;

  // Rows of a step that cost about as much as a plain stream's window_frames, so that other streams do not wait long.
  size_t n_rows_for(size_t window_frames) const;
  Fusion &fusion() { return fusion_; }
  const Fusion &fusion() const { return fusion_; }

 private:
  std::vector<std::shared_ptr<asr_backend_features>> features_;
  std::vector<Model> models_;
  Fusion fusion_;
};

}  // namespace asr
