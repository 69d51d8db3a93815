// SPDX-License-Identifier: Apache-2.0
// SampleRows turns the samples of one recording into rows of features, as recognition makes them: for training and alignment.
#pragma once

#include <memory>
#include <vector>

#include "core/audio/comfort_noise.h"
#include "core/audio/resampler.h"
#include "core/audio/sample_format.h"
#include "core/backend/registry.h"
#include "core/feature/feature_pipeline.h"

namespace asr::train {

// RowMaker is a front end on a device, with which SampleRows extract.
class RowMaker {
 public:
  // The device and the tables must outlive this. window_frames: those of the device's options.
  RowMaker(const Device &device, const FeatureTables &tables, uint32_t window_frames);
  ~RowMaker();
  RowMaker(const RowMaker &) = delete;
  RowMaker &operator=(const RowMaker &) = delete;

  const FeatureTables &tables() const { return tables_; }

  // Appends rows that are ready, and stops when it has appended max_rows or some more.
  void extract(FeaturePipeline *pipeline, size_t max_rows, std::vector<float> *rows) const;

 private:
  const Device &device_;
  const FeatureTables &tables_;
  const uint32_t window_frames_;
  asr_backend_features *const features_;
};

class SampleRows {
 public:
  // The maker must outlive this. filter: from the format's rate to the front end's.
  SampleRows(const RowMaker &maker, CmnKind cmn, const SampleFormat &format, std::shared_ptr<const ResampleFilter> filter);

  // Appends the rows that are known then to rows[][tables.front_end().n_dims()]. Throws if a sample is no number.
  void add(const void *samples, size_t n, std::vector<float> *rows);
  // After the last samples. Appends some of the last rows, which are all rows if their mean is that of the recording; returns
  // false when there are no more.
  bool finish(std::vector<float> *rows);

 private:
  const RowMaker &maker_;
  const SampleFormat format_;
  Resampler resampler_;
  ComfortNoise noise_;
  FeaturePipeline pipeline_;
  std::vector<float> mono_, resampled_;
  bool is_finished_ = false;

  void add_resampled();
};

}  // namespace asr::train
