// SPDX-License-Identifier: Apache-2.0
// AddedModel is an acoustic model that an engine has beside its own, for the same states: Gaussians and front end, on the
// devices of the engine. The engine holds it by its name, in a ModelTable, and the streams that use it do.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/engine/loaded_model.h"
#include "core/model/acoustic_model.h"

namespace asr {

// A model as a device holds it.
struct ModelOnDevice {
  std::shared_ptr<asr_backend_features> features;
  std::shared_ptr<asr_backend_acoustic> acoustic;
};

class AddedModel {
 public:
  // Reads and checks a bundle. Throws if its model does not fit the states, the rate or the frames of `own`.
  AddedModel(const std::string &bundle_path, const LoadedModel &own);

  const Bundle &bundle() const { return bundle_; }
  const FeatureTables &tables() const { return tables_; }

  // Returns the model on a device of the engine, loaded by the first call. On the thread that calls that device.
  ModelOnDevice on(const LoadedModel &place);

 private:
  const Bundle bundle_;
  const FeatureTables tables_;
  std::optional<AcousticModel> acoustic_;  // until it is on the last device that may need it; guarded by copies_
  DeviceCopies<ModelOnDevice> copies_;
};

// Returns `model` on the device of `place`; nullptr means the own model of `place`. `place` must outlive the result.
ModelOnDevice on_device(AddedModel *model, const LoadedModel &place);

// The acoustic models that an engine has beside its own, by their names. Any thread.
class ModelTable {
 public:
  void require_room(const std::string &name) const;  // throws ASR_UNSUPPORTED where set() would
  void set(const std::string &name, std::shared_ptr<AddedModel> model);
  // Throws ASR_NOT_FOUND.
  std::shared_ptr<AddedModel> require(const std::string &name, const char *call) const;
  void remove(const std::string &name, const char *call);

 private:
  void require_room_locked(const std::string &name) const;

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<AddedModel>> models_;
};

}  // namespace asr
