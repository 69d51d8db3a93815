// SPDX-License-Identifier: Apache-2.0
// A stream's choice of acoustic models: the models by name, as the user asks for them, and resolved to the engine's
// models.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/added_model.h"

namespace asr {

enum class FusionRule { kSum, kLogSum, kMax, kFollow, kSelect };

struct FusionSettings {
  FusionRule rule = FusionRule::kSum;
  std::vector<float> weights;    // one a model, all positive; only their ratios matter
  double follow_frames = 50;     // time constant of kFollow
  uint64_t select_frames = 200;  // frames of speech that kSelect decides after
};

// A checked asr_fusion.
struct FusionRequest {
  std::vector<std::string> models;
  FusionSettings settings;  // without follow_frames and select_frames, which depend on the model's frame shift
  double follow_s = 1, select_s = 1;
};

// The models of a stream; nullptr means the engine's own model. Does not change.
struct FusionOptions {
  struct Model {
    std::shared_ptr<AddedModel> model;
    size_t front_end;  // whose rows it scores
  };
  FusionSettings settings;
  std::vector<Model> models;
  std::vector<std::shared_ptr<AddedModel>> front_ends;  // a model of each front end; no two of them are equal

  // Returns true if all rows belong to the engine's own model.
  bool has_own_rows_only() const { return front_ends.size() == 1 && front_ends[0] == nullptr; }
};

}  // namespace asr
