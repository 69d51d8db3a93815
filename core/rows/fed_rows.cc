// SPDX-License-Identifier: Apache-2.0
#include "core/rows/fed_rows.h"

namespace asr {

FedRows::FedRows(const LoadedModel &model, const StreamOptions &options, SpeakerTrack *speaker)
    : RowSource(options.values_per_frame(model), model.options().window_frames),
      row_length_(options.values_per_frame(model)),
      are_loglikes_(options.input == ASR_INPUT_LOGLIKES),
      speaker_(speaker) {}

WindowRows::Place FedRows::take(size_t n, WindowRows *window) {
  const WindowRows::Place place =
      are_loglikes_ ? window->add_loglikes(rows_.data(), n) : window->add_features(rows_.data(), n, speaker_);
  drop(n, window);
  return place;
}

bool FedRows::drop(size_t n, WindowRows *) {
  rows_.erase(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(n * row_length_));
  return false;
}

}  // namespace asr
