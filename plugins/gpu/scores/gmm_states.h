// SPDX-License-Identifier: Apache-2.0
// The states of a feature stream by the kernels that score them, for GPUs. These use tensor cores where their expanded
// form keeps the tolerance, FP32, or a mixing kernel for states that share a codebook. Called when a model is loaded, or a part
// of it, whose states stay with the kernels that score them in the whole model.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "plugins/common/packing.h"
#include "plugins/common/state_set.h"
#include "plugins/gpu/scores/gmm_tensor_pack.h"
#include "plugins/gpu/scores/shared_states.h"

namespace asr {

constexpr double kLog2E = 1.4426950408889634;

struct StreamStates {
  std::vector<uint32_t> tensor, direct;          // in their order: states whose codebook no other state shares
  bool halves_tensor = false;                    // the model of `tensor` is halved
  std::vector<std::vector<uint32_t>> of_shared;  // [codebooks of the model], empty unless shared
};

// Returns the states with all that share no codebook in `direct`.
inline StreamStates states_of_stream(const asr_acoustic_view &view, uint32_t stream) {
  StreamStates states;
  states.of_shared.resize(view.n_codebooks);
  for (uint32_t s = 0; s < view.n_states; ++s) states.of_shared[codebook_number(view, s, stream)].push_back(s);
  for (std::vector<uint32_t> &sharing : states.of_shared) {
    if (sharing.size() != 1) continue;
    states.direct.push_back(sharing[0]);
    sharing.clear();
  }
  std::sort(states.direct.begin(), states.direct.end());
  return states;
}

// Moves the states that fit tensor cores from `direct` to `tensor`. halves: those that fit a halved model. If more than one in
// kFewWhole of the others does not, all stay whole, because FP32 would take longer than they save.
inline void choose_tensor_states(const TensorPacker &packer, uint32_t stream, const std::vector<TensorDim> &dims, bool halves,
                                 StreamStates *states) {
  constexpr size_t kFewWhole = 16;
  const std::vector<uint32_t> own = std::exchange(states->direct, {});
  const std::vector<TensorFit> fit = packer.which_fit(stream, own, dims, halves);
  const auto n_whole = static_cast<size_t>(std::count(fit.begin(), fit.end(), TensorFit::kWhole)),
             n_halved = static_cast<size_t>(std::count(fit.begin(), fit.end(), TensorFit::kHalved));
  states->halves_tensor = halves && n_whole * kFewWhole <= n_whole + n_halved;
  const TensorFit least = states->halves_tensor ? TensorFit::kHalved : TensorFit::kWhole;
  for (size_t i = 0; i < own.size(); ++i) (fit[i] >= least ? states->tensor : states->direct).push_back(own[i]);
}

// StreamPlan is what a whole model's packing depends on in a feature stream. Its parts keep it, so that their scores have the
// same bits.
struct StreamPlan {
  std::vector<TensorDim> dims;
  StreamStates states;
};

// Returns those of a whole model's states that are in a set.
inline StreamStates states_of_part(const StreamStates &whole, const StateSet &part) {
  const auto chosen = [&](const std::vector<uint32_t> &states) {
    std::vector<uint32_t> of_part;
    for (const uint32_t s : states) {
      if (part.contains(s)) of_part.push_back(s);
    }
    return of_part;
  };
  StreamStates states = {chosen(whole.tensor), chosen(whole.direct), whole.halves_tensor, {}};
  for (const std::vector<uint32_t> &sharing : whole.of_shared) states.of_shared.push_back(chosen(sharing));
  return states;
}

// Appends the states of a codebook in fours, and of each four its weights. Weight is four floats.
template <typename Weight>
void pack_shared_states(const asr_acoustic_view &view, uint32_t stream, const std::vector<uint32_t> &states,
                        uint32_t first_gaussian, uint32_t n_gaussians, std::vector<SharedStates> *packed,
                        std::vector<Weight> *weights) {
  for (size_t begin = 0; begin < states.size(); begin += 4) {
    SharedStates entry{first_gaussian, n_gaussians, static_cast<uint32_t>(weights->size()), 0, {}};
    for (size_t i = begin; i < std::min(states.size(), begin + 4); ++i) entry.states[entry.n_states++] = states[i];
    for (uint32_t k = 0; k < n_gaussians; ++k) {
      float w[4] = {0, 0, 0, 0};
      for (uint32_t i = 0; i < entry.n_states; ++i) {
        w[i] = static_cast<float>(kLog2E * double{log_weights_of(view, entry.states[i], stream)[k]});
      }
      weights->push_back({w[0], w[1], w[2], w[3]});
    }
    packed->push_back(entry);
  }
}

}  // namespace asr
