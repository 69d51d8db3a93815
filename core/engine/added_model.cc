// SPDX-License-Identifier: Apache-2.0
#include "core/engine/added_model.h"

#include <utility>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

// The states of both models are the same where both came with the same HMMs, or at least as many where one came with none.
void check_states(const Bundle &bundle, uint32_t n_states, const LoadedModel &own) {
  if (n_states != own.n_states()) {
    fail(ASR_UNSUPPORTED, "%s: the model has %u states, that of %s has %u; models of one engine need the same states",
         bundle.path.c_str(), n_states, own.bundle().path.c_str(), own.n_states());
  }
  const auto hmms = bundle.files.find("hmms.bin"), ours = own.bundle().files.find("hmms.bin");
  if (hmms == bundle.files.end() || ours == own.bundle().files.end()) return;
  if (hmms->second.checksum == ours->second.checksum && hmms->second.size == ours->second.size) return;
  fail(ASR_UNSUPPORTED,
       "%s: hmms.bin differs from that of %s; models of one engine need the same states, such as those of `senone train em`",
       bundle.path.c_str(), own.bundle().path.c_str());
}

void check_frames(const Bundle &bundle, const LoadedModel &own) {
  const FrontEnd &front_end = bundle.front_end, &ours = own.bundle().front_end;
  if (front_end.sample_rate_hz == ours.sample_rate_hz && front_end.shift_samples == ours.shift_samples) return;
  fail(ASR_UNSUPPORTED,
       "%s: the model has a frame every %u samples at %g Hz, that of %s every %u at %g Hz; models of one engine need the same",
       bundle.path.c_str(), front_end.shift_samples, front_end.sample_rate_hz, own.bundle().path.c_str(), ours.shift_samples,
       ours.sample_rate_hz);
}

[[noreturn]] void fail_missing_model(const std::string &name, const char *call) {
  fail(ASR_NOT_FOUND, "%s: the engine has no model \"%s\"; add it with asr_engine_add_model", call, name.c_str());
}

}  // namespace

AddedModel::AddedModel(const std::string &bundle_path, const LoadedModel &own)
    : bundle_(read_model_bundle(bundle_path)), tables_(bundle_.front_end), acoustic_(read_acoustic_model(bundle_)) {
  check_frames(bundle_, own);
  check_states(bundle_, acoustic_->n_states, own);
}

ModelOnDevice AddedModel::on(const LoadedModel &place) {
  return copies_.on(place.objects(), [&] {
    const Device &device = place.device();
    ModelOnDevice model;
    model.features = place.objects().hold(load_features(place.extractor(), tables_), nullptr);
    model.acoustic = place.objects().hold(load_acoustic(device, AcousticView(*acoustic_)), nullptr);
    if (place.options().fallback.empty()) acoustic_.reset();
    return model;
  });
}

ModelOnDevice on_device(AddedModel *model, const LoadedModel &place) {
  if (model != nullptr) return model->on(place);
  const auto unowned = std::shared_ptr<void>();
  return {{unowned, place.features()}, {unowned, place.acoustic()}};
}

void ModelTable::require_room_locked(const std::string &name) const {
  if (models_.count(name) > 0 || models_.size() + 1 < kMaxModels) return;
  fail(ASR_UNSUPPORTED, "asr_engine_add_model: the engine has %zu models with its own, which is the most; remove one first",
       kMaxModels);
}

void ModelTable::require_room(const std::string &name) const {
  const std::lock_guard lock(mutex_);
  require_room_locked(name);
}

void ModelTable::set(const std::string &name, std::shared_ptr<AddedModel> model) {
  const std::lock_guard lock(mutex_);
  require_room_locked(name);
  models_[name].swap(model);  // the one before goes after the lock
}

std::shared_ptr<AddedModel> ModelTable::require(const std::string &name, const char *call) const {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) fail_missing_model(name, call);
  return found->second;
}

void ModelTable::remove(const std::string &name, const char *call) {
  std::shared_ptr<AddedModel> removed;  // goes after the lock
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) fail_missing_model(name, call);
  removed = std::move(found->second);
  models_.erase(found);
}

}  // namespace asr
