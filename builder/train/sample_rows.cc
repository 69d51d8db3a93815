// SPDX-License-Identifier: Apache-2.0
#include "builder/train/sample_rows.h"

#include "core/base/error.h"

namespace asr::train {
namespace {

constexpr size_t kSomeRows = 1024;

}  // namespace

RowMaker::RowMaker(const Device &device, const FeatureTables &tables, uint32_t window_frames)
    : device_(device), tables_(tables), window_frames_(window_frames), features_(device.load_features(*tables.view())) {}

RowMaker::~RowMaker() { device_.api()->free_features(features_); }

void RowMaker::extract(FeaturePipeline *pipeline, size_t max_rows, std::vector<float> *rows) const {
  asr_extract_job job{};
  const size_t most_values = rows->size() + max_rows * pipeline->n_dims();
  const auto take = [&] {
    while (rows->size() < most_values) {
      const size_t n = pipeline->ready_rows();
      if (n == 0) break;
      rows->insert(rows->end(), pipeline->rows(), pipeline->rows() + n * pipeline->n_dims());
      pipeline->consume(n);
    }
  };
  while (pipeline->next_extract(&job, window_frames_)) {
    device_.check(device_.api()->extract(device_.get(), features_, &job, 1));
    pipeline->extracted();
    take();
  }
  take();
}

SampleRows::SampleRows(const RowMaker &maker, CmnKind cmn, const SampleFormat &format,
                       std::shared_ptr<const ResampleFilter> filter)
    : maker_(maker),
      format_(format),
      resampler_(std::move(filter)),
      pipeline_(maker.tables(), cmn, maker.tables().warp_index(1)) {}

void SampleRows::add(const void *samples, size_t n, std::vector<float> *rows) {
  const bool is_float = format_.type == SampleType::kFloat;
  if (is_float && !all_finite(static_cast<const float *>(samples), n * format_.n_channels)) {
    fail(ASR_BAD_AUDIO, "a sample is infinite or not a number; check how it was recorded");
  }
  mono_.resize(n);
  to_mono(format_, samples, n, mono_.data());
  resampler_.feed(mono_.data(), n, &resampled_);
  add_resampled();
  maker_.extract(&pipeline_, n + kSomeRows, rows);
}

bool SampleRows::finish(std::vector<float> *rows) {
  if (!is_finished_) {
    resampler_.finish(&resampled_);
    add_resampled();
    pipeline_.finish();
    is_finished_ = true;
  }
  maker_.extract(&pipeline_, kSomeRows, rows);
  return !pipeline_.done();
}

void SampleRows::add_resampled() {
  noise_.add(resampled_.data(), resampled_.size());
  pipeline_.add_samples(resampled_.data(), resampled_.size());
  resampled_.clear();
}

}  // namespace asr::train
