// SPDX-License-Identifier: Apache-2.0
#include "core/feature/feature_pipeline.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr {

FeaturePipeline::FeaturePipeline(const FeatureTables &tables, CmnKind cmn, uint32_t warp, const MeanState *start)
    : tables_(tables), warp_(warp), framer_(tables.front_end()), rows_(tables, cmn, start) {
  if (warp >= tables.view()->n_warps) {
    fail(ASR_INVALID_ARGUMENT, "warp %u: the model has %u filter banks", warp, tables.view()->n_warps);
  }
}

void FeaturePipeline::add_samples(const float *samples, size_t n) {
  if (finished_) fail(ASR_INVALID_STATE, "samples after the end of the signal; open another stream");
  framer_.push(samples, n);
}

void FeaturePipeline::finish() {
  if (finished_) fail(ASR_INVALID_STATE, "the signal has ended already");
  framer_.finish();
  finished_ = true;
  settle();
}

bool FeaturePipeline::next_extract(asr_extract_job *job, uint32_t max_frames) {
  job_frames_ = static_cast<uint32_t>(std::min<uint64_t>(framer_.ready_frames(), max_frames));
  if (job_frames_ == 0) return false;
  extracted_.resize(size_t{job_frames_} * tables_.view()->n_ceps);
  job->samples = framer_.samples();
  job->first_frame = framer_.next_frame();
  job->n_frames = job_frames_;
  job->warp = warp_;
  job->cepstra = extracted_.data();
  return true;
}

void FeaturePipeline::extracted() {
  framer_.skip(job_frames_);
  rows_.add(extracted_, job_frames_);
  job_frames_ = 0;
  settle();
}

void FeaturePipeline::settle() {
  if (!finished_ || settled_ || framer_.ready_frames() > 0) return;
  settled_ = true;
  rows_.finish();
}

}  // namespace asr
