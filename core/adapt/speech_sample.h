// SPDX-License-Identifier: Apache-2.0
// SpeechSample collects a speaker's feature rows with their states, for the estimation of a transform. It keeps the utterances
// with the lowest checksums, up to a limit. The contents and their order therefore depend on the set of utterances, not on when
// each was added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "core/adapt/fmllr.h"
#include "core/adapt/mllr.h"
#include "core/base/stop.h"

namespace asr {

class SpeechSample {
 public:
  explicit SpeechSample(size_t max_rows) : max_rows_(max_rows) {}

  // Adds an utterance: untransformed rows[states.size()][n_dims].
  void add(std::vector<float> rows, std::vector<uint32_t> states);

  size_t n_rows() const { return n_rows_; }

  // Estimates the speaker's transform in several rounds, beginning with the identity. Without rows the transform has no
  // dimensions. Throws ASR_CANCELLED soon after it is stopped.
  FeatureTransform estimate(const GaussianPosteriors &posteriors, const FmllrPrior &prior, const StopToken &stop) const;
  // Estimates the speaker's means in the same way, for rows that were transformed by `of_rows`. Without rows their transform
  // has no dimensions.
  AdaptedMeans estimate_means(const GaussianPosteriors &posteriors, const FmllrPrior &prior, const FeatureTransform &of_rows,
                              const StopToken &stop) const;

 private:
  using RowFunction = std::function<void(const float *row, const float *transformed, uint32_t state)>;
  void for_each_row(const FeatureTransform &transform, const StopToken &stop, const RowFunction &action) const;

  struct Utterance {
    std::vector<float> rows;
    std::vector<uint32_t> states;
  };

  size_t max_rows_;
  size_t n_rows_ = 0;
  std::multimap<uint64_t, Utterance> utterances_;  // key: checksum
  uint64_t first_dropped_ = UINT64_MAX;            // lowest checksum of the utterances dropped for lack of capacity
};

}  // namespace asr
