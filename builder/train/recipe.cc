// SPDX-License-Identifier: Apache-2.0
#include "builder/train/recipe.h"

#include <algorithm>

namespace asr::train {
namespace {

// With one Gaussian for the states of a phone in any context, alignments from equal stretches settle within a few
// rounds. One Gaussian needs no second round after an alignment.
constexpr uint32_t kTiedAlignments = 8;

std::vector<uint32_t> sizes_of(const Recipe &recipe, uint32_t first) {
  std::vector<uint32_t> sizes = {first};
  const uint32_t last = std::max(recipe.n_gaussians, recipe.n_silence_gaussians);
  // Both numbers are among the sizes, so that no mixture is split between two of them.
  for (uint32_t size = first; size < last; sizes.push_back(size)) {
    uint32_t next = std::min(2 * size, last);
    for (const uint32_t wanted : {recipe.n_gaussians, recipe.n_silence_gaussians}) {
      if (wanted > size) next = std::min(next, wanted);
    }
    size = next;
  }
  return sizes;
}

}  // namespace

std::vector<TrainingStep> steps_of(const Recipe &recipe, uint32_t max_gaussians) {
  std::vector<TrainingStep> steps;
  if (recipe.flat) {
    for (uint32_t i = 0; i <= kTiedAlignments; ++i) steps.push_back({i == 0, false, false, false, 0, 1});
  }
  const std::vector<uint32_t> sizes = sizes_of(recipe, recipe.flat ? 1 : max_gaussians);
  for (const uint32_t size : sizes) {
    const uint32_t n_rounds = size == 1 ? 1 : recipe.n_rounds;
    for (uint32_t i = 0; i < recipe.n_alignments; ++i) {
      const bool is_first = i == 0 && size == sizes.front();
      const bool splits = i == 0 && !is_first;
      const bool unties = is_first && recipe.flat && !recipe.tied;
      steps.push_back({false, unties, is_first && recipe.full, recipe.semi_tied, splits ? size : 0, n_rounds});
    }
  }
  return steps;
}

}  // namespace asr::train
