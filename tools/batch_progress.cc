// SPDX-License-Identifier: Apache-2.0
#include "tools/batch_progress.h"

#include "tools/tool.h"

namespace asr::tool {

BatchProgress::BatchProgress(std::optional<size_t> n_utterances) : n_utterances_(n_utterances), begin_s_(wall_seconds()) {}

void BatchProgress::fed(double audio_s, double share) {
  std::lock_guard lock(mutex_);
  audio_s_ += audio_s;
  n_fed_ += share;
  show();
}

void BatchProgress::done() {
  std::lock_guard lock(mutex_);
  ++n_done_;
  show();
}

void BatchProgress::show() {
  if (!progress_.is_shown()) return;
  const double seconds = wall_seconds() - begin_s_;
  std::string text = clock_time(audio_s_);
  if (n_utterances_ == size_t{1} && n_fed_ > 0) text += " of " + clock_time(audio_s_ / n_fed_);
  text += " of audio";
  if (seconds > 0) text += format(", %.1f x real time", audio_s_ / seconds);
  if (!n_utterances_) text = format("%zu utterances, ", n_done_) + text;
  if (n_utterances_ && *n_utterances_ > 1) text = format("%zu of %zu recordings, ", n_done_, *n_utterances_) + text;
  progress_.update(n_utterances_ ? n_fed_ / static_cast<double>(*n_utterances_) : -1, std::move(text));
}

}  // namespace asr::tool
