// SPDX-License-Identifier: Apache-2.0
// Rows of features of recordings, as recognition makes them: for `senone train` and `senone align`.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "builder/train/sample_rows.h"

namespace asr::tool {

// A recording or a part of it.
struct RecordingPart {
  std::string path;
  double begin_s = 0, end_s = std::numeric_limits<double>::infinity();
};

class RecordingRows {
 public:
  // The device must outlive this. cmn: "model", "live", "batch" or "none".
  RecordingRows(const Device &device, const FrontEnd &front_end, const std::string &cmn, uint32_t window_frames,
                uint32_t raw_rate_hz);

  // [n_frames][front_end.n_dims()]. Throws if the recording is cut short, since its transcript then has more words.
  std::vector<float> read(const std::string &path);

  // The same in pieces. Each call of what this returns appends the next rows; it returns false at the end. It must not outlive
  // this. Throws if a part begins or, by more than half a second, ends behind the end of the recording.
  std::function<bool(std::vector<float> *rows)> open(const RecordingPart &part);

 private:
  class Reading;

  const FeatureTables tables_;
  const CmnKind cmn_;
  const uint32_t raw_rate_hz_;
  const train::RowMaker maker_;
  ResampleFilters filters_;
};

}  // namespace asr::tool
