// SPDX-License-Identifier: Apache-2.0
#include "core/rows/whole_rows.h"

#include "core/base/error.h"

namespace asr {

WholeRows::WholeRows(const LoadedModel &model, const StreamOptions &options, float warp, SpeakerTrack *speaker)
    : RowSource(options.values_per_frame(model), model.options().window_frames),
      model_(model),
      options_(options),
      warp_(warp),
      speaker_(speaker),
      most_frames_(DeviceRows::most_frames(model, options)) {
  try {
    on_device_.emplace(model, options, warp, speaker);
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY) throw;
    on_host_.emplace(model, options, warp, nullptr, speaker);
  }
}

void WholeRows::add(const float *values, size_t n) {
  source().add(values, n);
  if (on_device_) samples_.insert(samples_.end(), values, values + n);
}

// Goes over to the host here, where the device may be called. No row was made yet.
bool WholeRows::next_extract(size_t front_end, asr_extract_job *job) {
  if (is_too_long()) {
    PipelineRows &rows = on_host_.emplace(model_, options_, warp_, nullptr, speaker_);
    rows.add(samples_.data(), samples_.size());
    if (has_ended()) rows.end();
    on_device_.reset();
    samples_ = {};
  }
  return source().next_extract(front_end, job);
}

}  // namespace asr
