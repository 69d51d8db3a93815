// SPDX-License-Identifier: Apache-2.0
// Channels of ended utterances on their way back to the engine's thread, which alone may end them: a worker that still reads
// results holds a share of its channel, and whoever lets go of the last share retires it here.
#pragma once

#include <memory>
#include <mutex>

#include "core/engine/loaded_model.h"

namespace asr {

class RetiredChannels {
 public:
  explicit RetiredChannels(const LoadedModel &model) : model_(model) {}
  ~RetiredChannels() { end_all(); }
  RetiredChannels(const RetiredChannels &) = delete;
  RetiredChannels &operator=(const RetiredChannels &) = delete;

  // A share of a channel that has begun. It must not outlive this object.
  std::shared_ptr<asr_backend_channel> hold(asr_backend_channel *channel);
  // Ends what was retired. On the engine's thread, or when there is none any more.
  void end_all();

 private:
  struct Held {
    asr_backend_channel *channel;
    Held *next;
  };
  void retire(Held *held);

  const LoadedModel &model_;
  std::mutex mutex_;
  Held *first_ = nullptr;
};

}  // namespace asr
