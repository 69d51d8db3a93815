// SPDX-License-Identifier: Apache-2.0
// Engine: the acoustic models that streams fuse.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/engine/engine.h"

namespace asr {
namespace {

const FrontEnd &front_end_of(const std::shared_ptr<AddedModel> &model, const LoadedModel &own) {
  return model ? model->tables().front_end() : own.tables().front_end();
}

// Finds the model's front end among those that the stream has, or adds it.
size_t front_end_index(const std::shared_ptr<AddedModel> &model, const LoadedModel &own, FusionOptions *options) {
  const std::string text = front_end_to_json(front_end_of(model, own));
  size_t i = 0;
  while (i < options->front_ends.size() && front_end_to_json(front_end_of(options->front_ends[i], own)) != text) ++i;
  const bool is_own = front_end_to_json(own.tables().front_end()) == text;
  if (i == options->front_ends.size()) options->front_ends.push_back(is_own ? nullptr : model);
  return i;
}

}  // namespace

// The model goes to the device at once; to a fallback when a stream first needs it there.
void Engine::add_model(const std::string &name, const std::string &bundle_path) {
  if (name.empty()) {
    fail(ASR_INVALID_ARGUMENT, "asr_engine_add_model: \"\" is the engine's own model, which stays; give another name");
  }
  models_.require_room(name);
  main_.scheduler.inbox().check_usable();
  const auto added = std::make_shared<AddedModel>(bundle_path, main_.model);
  try {
    main_.scheduler.inbox().run_between_steps([&] { added->on(main_.model); });
  } catch (const Error &error) {
    if (error.code() != ASR_DEVICE_LOST) throw;
    main_.scheduler.inbox().check_usable();
  }
  models_.set(name, added);
  log(ASR_LOG_INFO, "%s: acoustic model \"%s\"", bundle_path.c_str(), name.c_str());
}

void Engine::remove_model(const std::string &name) {
  if (name.empty()) fail(ASR_INVALID_ARGUMENT, "asr_engine_remove_model: \"\" is the engine's own model, which stays");
  models_.remove(name, "asr_engine_remove_model");
}

std::shared_ptr<const FusionOptions> Engine::fusion(const FusionRequest &request) const {
  auto options = std::make_shared<FusionOptions>();
  options->settings = request.settings;
  options->settings.weights.clear();
  const double shift_s = main_.model.frame_shift_s();
  options->settings.follow_frames = request.follow_s / shift_s;
  options->settings.select_frames = static_cast<uint64_t>(std::max(1.0, std::round(request.select_s / shift_s)));
  for (size_t i = 0; i < request.models.size(); ++i) {
    const std::string &name = request.models[i];
    const auto model = name.empty() ? nullptr : models_.require(name, "asr_open");
    if (request.settings.weights[i] == 0) continue;
    options->settings.weights.push_back(request.settings.weights[i]);
    options->models.push_back({model, front_end_index(model, main_.model, options.get())});
  }
  if (options->models.size() == 1 && options->models[0].model == nullptr) return nullptr;
  return options;
}

void Engine::check_fusion(const StreamOptions &options) const {
  for (const auto &model : options.fusion->front_ends) {
    if (options.is_audio() && model) model->tables().warp_index(static_cast<double>(options.vtln_warp));
  }
  if (options.input == ASR_INPUT_FEATURES && !options.fusion->has_own_rows_only()) {
    fail(ASR_UNSUPPORTED,
         "asr_open: asr_stream_config.fusion names models of other front ends than the engine's own, which rows that are fed "
         "cannot suit; feed audio");
  }
}

}  // namespace asr
