// SPDX-License-Identifier: Apache-2.0
#include "core/engine/loaded_model.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/model/acoustic_model.h"

namespace asr {
namespace {

Bundle read_complete_bundle(const std::string &path) {
  Bundle bundle = read_bundle(path, "graph.bin");
  for (const char *name : {"acoustic.bin", "graph.bin", "words.txt"}) {
    if (bundle.has(name)) continue;
    const char *remedy =
        std::string(name) == "acoustic.bin" ? "import a model with `senone import`" : "make it with `senone graph`";
    fail(ASR_NOT_FOUND, "%s: the bundle has no %s; %s", path.c_str(), name, remedy);
  }
  return bundle;
}

// Returns the lanes needed: a stream that compares its results with the background takes two.
uint32_t n_lanes_for(const Bundle &bundle, const EngineOptions &options) {
  return bundle.has("background.bin") ? std::max(options.max_lanes, 2u) : options.max_lanes;
}

asr_backend_options backend_options(const EngineOptions &options, uint32_t n_lanes) {
  asr_backend_options result{};
  result.size = sizeof(result);
  result.max_lanes = n_lanes;
  result.window_frames = options.window_frames;
  result.n_threads = options.n_threads;
  result.timeout_ms = options.device_timeout_ms;
  return result;
}

// Calls load(&object) and takes ownership of the result.
template <typename Object, typename Load>
BackendPointer<Object> load_object(const Device &device, void (*free)(Object *), Load load) {
  Object *object = nullptr;
  device.check(load(&object));
  return BackendPointer<Object>(object, free);
}

}  // namespace

LoadedModel::LoadedModel(const std::string &bundle_path, const EngineOptions &options)
    : options_(options),
      bundle_(read_complete_bundle(bundle_path)),
      tables_(bundle_.front_end),
      n_lanes_(n_lanes_for(bundle_, options)),
      device_(candidate_devices(options.device), backend_options(options, n_lanes_)),
      features_(nullptr, nullptr),
      acoustic_(nullptr, nullptr) {
  const AcousticModel model = read_acoustic_model(bundle_.file("acoustic.bin"));
  n_states_ = model.n_states;
  if (model.n_dims != n_dims()) {
    fail(ASR_BAD_FILE, "%s: features have %u dimensions, the model of acoustic.bin has %u; import the model again",
         bundle_.file("senone.json").c_str(), n_dims(), model.n_dims);
  }
  const asr_backend_api *api = device_.api();
  asr_backend_device *device = device_.get();
  features_ = load_object(device_, api->free_features,
                          [&](asr_backend_features **object) { return api->load_features(device, tables_.view(), object); });
  has_step_ = makes_signals();
  const AcousticView acoustic(model);
  acoustic_ = load_object(device_, api->free_acoustic,
                          [&](asr_backend_acoustic **object) { return api->load_acoustic(device, acoustic.get(), object); });
  log(ASR_LOG_INFO, "%s: %u states, on %s (%s)", bundle_path.c_str(), n_states_, device_.entry().id.c_str(),
      device_.entry().info.name);
}

// Tests it: a device with the slots may be unable to make rows of this front end.
bool LoadedModel::makes_signals() const {
  if (api()->step == nullptr || api()->signal_begin == nullptr) return false;
  const asr_signal_options options{sizeof(options), 0, 0};
  asr_backend_signal *signal = nullptr;
  const asr_status status = api()->signal_begin(device_.get(), features(), &options, &signal);
  if (status == ASR_UNSUPPORTED) return false;
  device_.check(status);
  api()->signal_end(signal);
  return true;
}

}  // namespace asr
