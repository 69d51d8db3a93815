// SPDX-License-Identifier: Apache-2.0
#include "core/rows/row_source.h"

#include <algorithm>

#include "core/rows/device_rows.h"
#include "core/rows/host_rows.h"
#include "core/rows/speaker_track.h"

namespace asr {

size_t RowSource::n_wanted() const {
  const size_t n = n_waiting();
  return n < window_frames_ ? (window_frames_ - n) * frame_values_ : 0;
}

void RowSource::end() {
  if (ended_) return;
  ended_ = true;
  finish();
}

size_t RowSource::n_ready() const { return std::min(n_waiting(), window_frames_); }

std::unique_ptr<RowSource> make_row_source(const LoadedModel &model, const StreamOptions &options, float warp,
                                           const LiveMeanState *start, SpeakerTrack *speaker) {
  const bool may_rewind = options.endpoint && speaker == nullptr && !options.fusion;
  const auto rewindable = [&](std::unique_ptr<RowSource> source) -> std::unique_ptr<RowSource> {
    if (!may_rewind) return source;
    return std::make_unique<RewoundRows>(std::move(source), model, options);
  };
  if (!options.is_audio()) return rewindable(std::make_unique<FedRows>(model, options, speaker));
  const bool has_models = speaker != nullptr && speaker->uses_means();  // the device's step scores by the engine's own
  const bool by_device = !has_models && DeviceRows::suit(model, options);
  if (by_device && DeviceRows::max_frames(model, options) < SIZE_MAX)
    return std::make_unique<WholeRows>(model, options, warp, speaker);
  if (by_device) return std::make_unique<DeviceRows>(model, options, warp, speaker);
  return rewindable(std::make_unique<PipelineRows>(model, options, warp, start, speaker));
}

}  // namespace asr
