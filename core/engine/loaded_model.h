// SPDX-License-Identifier: Apache-2.0
// LoadedModel is a bundle's model on a device: front end and acoustic model as the back end's objects. Graphs are separate
// (loaded_graph.h), and may be searched on another device. The engine makes it, its parts read it; it is immutable but for the
// list of what else is on its devices.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/backend/asr_backend_fusion.h"
#include "core/backend/asr_backend_signals.h"
#include "core/backend/registry.h"
#include "core/base/parallel.h"
#include "core/engine/device_copies.h"
#include "core/feature/mfcc_tables.h"
#include "core/model/acoustic_model.h"
#include "core/model/bundle.h"

// Of core/backend/asr_backend_given.h.
struct asr_backend_given_api;
struct asr_backend_given_map;
struct asr_given_map_view;

namespace asr {

struct EngineOptions {
  std::string device;         // empty: SENONE_DEVICE, else the best
  std::string search_device;  // the device that searches; empty: `device`
  std::string fallback;       // the device that takes over if a device is lost; empty: none
  uint32_t max_lanes = 8, window_frames = 32;
  uint32_t n_threads = 0;  // 0: one per core
  uint32_t max_callback_threads = UINT32_MAX;
  uint32_t device_timeout_ms = 60000;
  uint32_t model_bits = 32, n_best_gaussians = 0;  // options of models on the device: see asr_engine_config
  float cluster_share = 1;                         // the same

  uint32_t n_workers() const { return n_threads > 0 ? n_threads : n_usable_cores(); }
};

// Reads a bundle that has a model; it may have no graph.
Bundle read_model_bundle(const std::string &path);

// Load the model of a bundle on a device, which must outlive the results. read_acoustic_model() throws if the rows of
// the front end are not the model's.
BackendPointer<asr_backend_features> load_features(const Device &device, const FeatureTables &tables);
BackendPointer<asr_backend_acoustic> load_acoustic(const Device &device, const AcousticView &model);
AcousticModel read_acoustic_model(const Bundle &bundle);

class LoadedModel {
 public:
  LoadedModel(const std::string &bundle_path, const EngineOptions &options);

  const EngineOptions &options() const { return options_; }
  const Bundle &bundle() const { return bundle_; }
  // The device that scores; the one that searches, which the options may name; and the one that computes cepstra. The CPU does
  // what the back end of device() leaves out. If another device searches, scores pass through the host.
  const Device &device() const { return device_; }
  const Device &searcher() const { return searcher_ ? *searcher_ : device_; }
  const Device &extractor() const { return *extractor_; }
  bool is_split() const { return searcher_.has_value(); }
  const asr_backend_api *api() const { return device_.api(); }
  // Waits on both devices until at most n_left advances are running. Throws after both have ended their work.
  void wait(uint32_t n_left) const;
  void begin_thread() const;  // see Device::begin_thread
  const FeatureTables &tables() const { return tables_; }
  asr_backend_features *features() const { return features_.get(); }
  asr_backend_acoustic *acoustic() const { return acoustic_.get(); }

  // What is loaded on its devices later: graphs, other models, channels.
  DeviceObjects &objects() const { return *objects_; }

  bool overlaps() const { return !is_split() && device_.has(ASR_BACKEND_OVERLAPS); }
  // The slots that convert samples to log-likelihoods in one step, for searches of the same device. nullptr if the
  // device does not for this front end.
  const asr_backend_signals_api *signals() const { return signals_; }
  // Return whether signals() has the slots for speakers, and the most frames of a signal that it normalises as a whole,
  // perhaps 0.
  bool transforms_signals() const {
    return signals_ != nullptr && signals_->size >= offsetof(asr_backend_signals_api, most_whole_frames);
  }
  uint32_t most_whole_frames() const {
    return signals_ != nullptr && signals_->size >= sizeof(asr_backend_signals_api) ? signals_->most_whole_frames : 0;
  }
  // Returns the slot that fuses scores of several models on the device, for searches of the same device; nullptr if it
  // has none.
  const asr_backend_fusion_api *fusion() const { return fusion_; }
  // Returns the slots that read rows in memory of the device, which searches them; nullptr if there are none, or the model has
  // Gaussians.
  const asr_backend_given_api *given() const { return given_; }
  // Returns the map of such rows, loaded unless one with its offsets was. On the engine's thread.
  std::shared_ptr<asr_backend_given_map> given_map(const asr_given_map_view &view) const;
  const asr_engine_memory &memory() const { return memory_; }  // that rows may be in
  uint32_t n_dims() const { return bundle_.front_end.n_dims(); }
  // States of the acoustic model: length of a row of log-likelihoods. n_columns(): of such a row as it is fed.
  uint32_t n_states() const { return n_states_; }
  uint32_t n_columns() const { return scores() ? scores()->n_columns() : n_states_; }
  // Set if the bundle has no Gaussians: only log-likelihoods can be fed, and acoustic() has the score buffers of given(), or is
  // nullptr.
  const std::optional<ScoreModel> &scores() const { return bundle_.scores; }
  uint32_t n_lanes() const { return n_lanes_; }  // channels in an advance
  double frame_shift_s() const { return bundle_.front_end.shift_samples / bundle_.front_end.sample_rate_hz; }

 private:
  void open_searcher();
  void open_extractor();
  void load_buffers();
  void load_gaussians(const std::string &bundle_path);

  EngineOptions options_;
  Bundle bundle_;
  FeatureTables tables_;
  uint32_t n_states_ = 0, n_lanes_;
  Device device_;
  std::optional<Device> searcher_;       // if it is another one
  std::optional<Device> own_extractor_;  // if it is neither of these
  const Device *extractor_ = &device_;
  BackendPointer<asr_backend_features> features_;
  BackendPointer<asr_backend_acoustic> acoustic_;
  const std::unique_ptr<DeviceObjects> objects_;
  const asr_backend_signals_api *signals_ = nullptr;
  const asr_backend_fusion_api *fusion_ = nullptr;
  const asr_backend_given_api *given_ = nullptr;
  asr_engine_memory memory_{};
  struct GivenMap {
    std::vector<float> offsets;  // in which maps of one model differ
    std::shared_ptr<asr_backend_given_map> map;
  };
  mutable std::vector<GivenMap> given_maps_;  // the latest
};

}  // namespace asr
