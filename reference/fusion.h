// SPDX-License-Identifier: Apache-2.0
// G5 to G9 of docs/equations.md in double: rows of fused log-likelihoods of an utterance, of all its frames at once.
#pragma once

#include <cstddef>
#include <vector>

namespace asr::reference {

enum class Fusion { kSum, kLogSum, kMax, kFollow, kSelect };

struct FusionProblem {
  Fusion rule = Fusion::kSum;
  size_t n_frames = 0, n_states = 0;
  std::vector<std::vector<double>> loglikes;  // log-likelihoods of each model: [n_frames][n_states]
  std::vector<double> weights;                // weight of each model
  std::vector<bool> is_silent;                // [n_states]
  double follow_frames = 0;
  size_t select_frames = 0;
};

std::vector<double> fuse(const FusionProblem &problem);  // [n_frames][n_states]

}  // namespace asr::reference
