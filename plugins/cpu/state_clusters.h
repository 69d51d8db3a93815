// SPDX-License-Identifier: Apache-2.0
// The hierarchical codebook with which a frame chooses the states that are worth scoring (equation G11 of docs/equations.md):
// clusters of similar states, and a single Gaussian for each state. It is made when a model is loaded, and depends on the model
// alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/common/packing.h"

namespace asr {

constexpr size_t kClusterStates = 16;  // most states of a cluster

// Returns clusters of the states, which have codebooks of their own in feature stream j. The states of a cluster rise. Clusters
// of similar mixture size follow each other.
std::vector<std::vector<uint32_t>> cluster_states(const asr_acoustic_view &view, uint32_t j,
                                                  const std::vector<uint32_t> &states);

// Returns how many of n clusters a frame chooses: the share p of them, rounded up, of at least one. p has six digits, so that a
// tenth in float is a tenth.
size_t n_chosen_clusters(double share, size_t n);

// Returns the single Gaussian of a state: that with the mean and covariance of its mixture.
PackedGaussian single_gaussian(const asr_acoustic_view &view, uint32_t state, uint32_t j, const std::vector<float> &centre);

}  // namespace asr
