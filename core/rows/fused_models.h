// SPDX-License-Identifier: Apache-2.0
// FusedModels are the acoustic models of a fused stream on the device that decodes it. FusedWindow has the rows of all fused
// streams in a window: every model scores its rows of all streams in one call. The device fuses the scores in the score buffer
// of the engine's own model, or the host into the window's log-likelihoods. Used by the engine's thread.
#pragma once

#include <memory>
#include <vector>

#include "core/backend/asr_backend_fusion.h"
#include "core/engine/added_model.h"
#include "core/engine/loaded_graph.h"
#include "core/rows/fusion.h"
#include "core/stream/stream_options.h"

namespace asr {

// The models of one stream. A window that scores rows of the stream keeps a share.
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

class RowSource;

class FusedWindow {
 public:
  bool empty() const { return parts_.empty() && device_parts_.empty(); }
  bool has_host_parts() const { return !parts_.empty(); }
  void clear();

  // Adds the next n rows of a stream, which become rows first_row ... of the window's log-likelihoods.
  void add(std::shared_ptr<FusedModels> models, const RowSource &rows, size_t n, size_t first_row, size_t n_states);
  // Adds the next n rows of a stream that one model scores which is not the engine's own.
  void add(std::shared_ptr<FusedModels> model, const float *rows, size_t n, size_t first_row, size_t n_states);

  // Returns whether the device can fuse a stream's rows: the rule must concern single frames, and the engine's own
  // model must be among the models.
  static bool suits_device(const FusedModels &models, const LoadedModel &place);
  // Adds the next n rows of such a stream for all models but the engine's own. They are rows first_row ... of its score
  // buffer, which the results replace.
  void add_on_device(std::shared_ptr<FusedModels> models, const RowSource &rows, size_t n, size_t first_row,
                     const LoadedModel &place);

  // Issues the scoring of all rows, through score buffer `buffer` of each model; the scores are there after wait(). A later
  // `score` may use the buffer again for the engine's own model.
  void score(const LoadedModel &place, uint32_t buffer);
  // Issues the fusion on the device, after the rows of the engine's own model have been scored, too.
  void fuse_on_device(const LoadedModel &place, uint32_t buffer);

  // Fuses the scores of a part, which are one stream's: parts may be fused at once, by several threads.
  size_t n_scored_parts() const { return is_scored_ ? parts_.size() : 0; }
  void combine(size_t part, size_t n_states, float *loglikes) const noexcept;

 private:
  struct Scored {
    std::shared_ptr<asr_backend_acoustic> acoustic;
    uint32_t n_dims;
    std::vector<float> rows, loglikes;
    size_t n_rows() const { return rows.size() / n_dims; }
  };
  struct Place {
    size_t scored, first_row;
  };
  struct Part {
    std::shared_ptr<FusedModels> models;
    size_t first_row, n_rows;
    std::vector<Place> places;          // place of each model's scores; kUnused if the stream no longer needs them
    std::vector<const float *> scores;  // at these places, once they are made
  };
  struct DevicePart {
    std::shared_ptr<FusedModels> models;
    asr_fuse_job job;  // `terms` are set later
    std::vector<asr_fuse_term> terms;
  };
  static constexpr Place kUnused{SIZE_MAX, 0};

  Place add_rows(const FusedModels::Model &model, const float *rows, size_t n, size_t n_states, bool on_host);

  std::vector<Scored> scored_;  // a model each
  std::vector<Part> parts_;
  std::vector<DevicePart> device_parts_;
  bool is_scored_ = false;
};

}  // namespace asr
