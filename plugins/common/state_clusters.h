// SPDX-License-Identifier: Apache-2.0
// The hierarchical codebook with which a frame chooses the states that are worth scoring (equation G11 of docs/equations.md):
// clusters of similar states, and a single Gaussian for each state. It is made when a model is loaded, and depends on the model
// alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

constexpr size_t kClusterStates = 16;  // most states of a cluster

// Returns clusters of the states, which have codebooks of their own in feature stream j. The states of a cluster rise. Clusters
// of similar mixture size follow each other.
std::vector<std::vector<uint32_t>> cluster_states(const asr_acoustic_view &view, uint32_t j,
                                                  const std::vector<uint32_t> &states);

// MixtureMoments has a Gaussian with the mean and covariance of each state's mixture, as a model of its own: Gaussian i of its
// codebook belongs to states[i].
class MixtureMoments {
 public:
  MixtureMoments(const asr_acoustic_view &view, uint32_t j, const std::vector<uint32_t> &states);
  MixtureMoments(const MixtureMoments &) = delete;
  MixtureMoments &operator=(const MixtureMoments &) = delete;

  const asr_acoustic_view &view() const { return view_; }
  const asr_gmm_codebook &codebook() const { return codebook_; }

 private:
  asr_acoustic_view view_;
  asr_gmm_codebook codebook_;
  std::vector<float> means_, precisions_;
  std::vector<uint32_t> covariance_of_;
  std::vector<uint64_t> precision_at_;
};

}  // namespace asr
