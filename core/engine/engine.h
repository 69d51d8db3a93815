// SPDX-License-Identifier: Apache-2.0
// A loaded model with the threads that serve its streams. Held by shared_ptr: by its user and by every open stream.
#pragma once

#include <memory>
#include <string>

#include "core/engine/loaded_model.h"
#include "core/engine/retired_channels.h"
#include "core/engine/scheduler.h"
#include "core/engine/stream.h"
#include "core/engine/worker_pool.h"

namespace asr {

class Engine {
 public:
  Engine(const std::string &bundle_path, const EngineOptions &options);

  const LoadedModel &model() const { return model_; }

  // The stream must be closed before the engine is destroyed. Throws if the options do not suit the model.
  std::shared_ptr<Stream> open(StreamOptions options);

 private:
  const LoadedModel model_;
  RetiredChannels retired_;
  WorkerPool callbacks_;
  WorkerPool results_;   // makes results, while the engine's thread goes on with other streams
  Scheduler scheduler_;  // each member ends before those above it
};

}  // namespace asr
