// SPDX-License-Identifier: Apache-2.0
// BatchProgress shows the progress of `senone recognize`: utterances done, audio fed, speed. Any thread may call it.
#pragma once

#include <mutex>
#include <optional>

#include "tools/progress.h"

namespace asr::tool {

class BatchProgress {
 public:
  explicit BatchProgress(std::optional<size_t> n_utterances);  // nullopt: unknown

  void fed(double audio_s, double share);  // share: fraction of one utterance
  void done();                             // counts an utterance
  void hide() { progress_.hide(); }        // call before printing

 private:
  void show();

  const std::optional<size_t> n_utterances_;
  const double begin_s_;
  std::mutex mutex_;  // guards the members below
  size_t n_done_ = 0;
  double audio_s_ = 0, n_fed_ = 0;
  Progress progress_{"recognising"};
};

}  // namespace asr::tool
