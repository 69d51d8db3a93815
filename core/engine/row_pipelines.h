// SPDX-License-Identifier: Apache-2.0
// Makes the rows of one signal for several front ends in lockstep: a row is ready when all of them have theirs. RowSource has
// one; used by the engine's thread only.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/feature/feature_pipeline.h"

namespace asr {

class RowPipelines {
 public:
  void add(std::unique_ptr<FeaturePipeline> pipeline) { pipelines_.push_back(std::move(pipeline)); }
  bool empty() const { return pipelines_.empty(); }
  size_t size() const { return pipelines_.size(); }
  FeaturePipeline &operator[](size_t i) { return *pipelines_[i]; }
  const FeaturePipeline &operator[](size_t i) const { return *pipelines_[i]; }

  void add_samples(const float *samples, size_t n) {
    for (const auto &pipeline : pipelines_) pipeline->add_samples(samples, n);
  }
  void finish() {
    for (const auto &pipeline : pipelines_) pipeline->finish();
  }
  void release_waiting() {
    for (const auto &pipeline : pipelines_) pipeline->release_waiting();
  }
  void consume(size_t n) {
    for (const auto &pipeline : pipelines_) pipeline->consume(n);
  }

  size_t ready_rows() const {
    size_t n = SIZE_MAX;
    for (const auto &pipeline : pipelines_) n = std::min(n, pipeline->ready_rows());
    return n;
  }
  bool has_pending_frames() const {
    return std::any_of(pipelines_.begin(), pipelines_.end(), [](const auto &p) { return p->n_pending_frames() > 0; });
  }
  // The signal has ended and one of them has no rows left; what others may still have belongs to no frame.
  bool done() const {
    return std::any_of(pipelines_.begin(), pipelines_.end(), [](const auto &p) { return p->done(); });
  }

 private:
  std::vector<std::unique_ptr<FeaturePipeline>> pipelines_;
};

}  // namespace asr
