// SPDX-License-Identifier: Apache-2.0
// Rows that a speaker said, with the state that each belongs to: a transform is estimated from them. Which utterances are
// kept, and their order, depends on which were added, not on when: those of the lowest checksums, up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "core/adapt/fmllr.h"
#include "core/base/stop.h"

namespace asr {

class SpeechSample {
 public:
  explicit SpeechSample(size_t most_rows) : most_rows_(most_rows) {}

  // An utterance: rows[states.size()][n_dims], untransformed.
  void add(std::vector<float> rows, std::vector<uint32_t> states);

  size_t n_rows() const { return n_rows_; }

  // The speaker's transform, found in several rounds from the identity on; one without dimensions where there are no rows.
  // Throws ASR_CANCELLED soon after it is stopped.
  FeatureTransform estimate(const GaussianPosteriors &posteriors, const FmllrPrior &prior, const StopToken &stop) const;

 private:
  struct Utterance {
    std::vector<float> rows;
    std::vector<uint32_t> states;
  };

  size_t most_rows_;
  size_t n_rows_ = 0;
  std::multimap<uint64_t, Utterance> utterances_;  // by checksum
  uint64_t first_dropped_ = UINT64_MAX;            // the lowest checksum of those for which there was no room
};

}  // namespace asr
