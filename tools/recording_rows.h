// SPDX-License-Identifier: Apache-2.0
// Rows of features of whole recordings, as recognition makes them: for `senone train`.
#pragma once

#include <string>
#include <vector>

#include "core/audio/resample_filter.h"
#include "core/backend/registry.h"
#include "core/feature/feature_pipeline.h"

namespace asr::tool {

class RecordingRows {
 public:
  // The device must outlive this. cmn: "model", "live", "batch" or "none".
  RecordingRows(const Device &device, const FrontEnd &front_end, const std::string &cmn, uint32_t window_frames,
                uint32_t raw_rate_hz);
  ~RecordingRows();
  RecordingRows(const RecordingRows &) = delete;
  RecordingRows &operator=(const RecordingRows &) = delete;

  // [n_frames][front_end.n_dims()]. Throws if the recording is cut short, since its transcript then has more words.
  std::vector<float> read(const std::string &path);

 private:
  void extract(FeaturePipeline *pipeline, std::vector<float> *rows) const;

  const Device &device_;
  const FeatureTables tables_;
  const CmnKind cmn_;
  const uint32_t window_frames_, raw_rate_hz_;
  ResampleFilters filters_;
  asr_backend_features *features_ = nullptr;
};

}  // namespace asr::tool
