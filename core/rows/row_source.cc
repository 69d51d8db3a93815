// SPDX-License-Identifier: Apache-2.0
#include "core/rows/row_source.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/rows/device_rows.h"
#include "core/rows/given_rows.h"
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
                                           const MeanState *start, SpeakerTrack *speaker) {
  // A forced cut gives the rows after it back (Utterance::cut()), which rows that never come to the host cannot be. Then the
  // host makes them, so that the cut is at the same word on every device.
  const bool may_rewind = options.endpoint && options.lattice_beam == 0 && speaker == nullptr && !options.fusion;
  const auto rewindable = [&](std::unique_ptr<RowSource> source) -> std::unique_ptr<RowSource> {
    if (!may_rewind) return source;
    return std::make_unique<RewoundRows>(std::move(source), model, options);
  };
  if (options.is_given_rows()) return std::make_unique<GivenRows>(model, options);
  if (!options.is_audio()) return rewindable(std::make_unique<FedRows>(model, options, speaker));
  const bool has_models = speaker != nullptr && speaker->uses_means();  // the fused step scores by the engine's own
  const bool is_measured = start != nullptr && std::holds_alternative<WholeMeanState>(*start);  // the device measures itself
  if (options.gives_rows() || may_rewind || has_models || is_measured || !DeviceRows::suit(model, options)) {
    return rewindable(std::make_unique<PipelineRows>(model, options, warp, start, speaker));
  }
  try {
    return std::make_unique<DeviceRows>(model, options, warp, speaker);
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY || DeviceRows::max_frames(model, options) == SIZE_MAX) throw;
    return std::make_unique<PipelineRows>(model, options, warp, nullptr, speaker);
  }
}

}  // namespace asr
