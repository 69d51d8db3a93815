// SPDX-License-Identifier: Apache-2.0
// Reads the caller's config structs, of this version or another, into checked options. Called by asr.cc.
#pragma once

#include "core/engine/loaded_model.h"
#include "core/stream/stream_options.h"

namespace asr::api {

EngineOptions read_config(const asr_engine_config *config);

struct StreamConfig {
  StreamOptions options;  // without the callback and the speaker, which take C handles, and the models, which take an engine
  asr_speaker *speaker = nullptr;
  std::optional<FusionRequest> fusion;
  asr_event_fn callback = nullptr;
  void *user_data = nullptr;
};

StreamConfig read_config(const asr_stream_config *config);

}  // namespace asr::api
