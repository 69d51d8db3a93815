// SPDX-License-Identifier: Apache-2.0
// The packing for FP32.
#include "plugins/cuda/scores/gmm_pack.h"

#include <algorithm>
#include <cmath>

#include "plugins/common/packing.h"

namespace asr::gpu {

GmmPacker::GmmPacker(const asr_acoustic_view &view, const std::vector<float> &centre, ThreadPool &pool)
    : view_(view), centre_(centre), tensor_(view, centre_, pool) {}

StreamStates GmmPacker::states(uint32_t stream, const std::vector<GmmDim> &dims, bool tensor, bool halves) const {
  StreamStates states = states_of_stream(view_, stream);
  if (tensor) choose_tensor_states(tensor_, stream, dims, halves, &states);
  return states;
}

// Writes Gaussian k to position 0..3 of a four.
void GmmPacker::put_direct(const asr_gmm_codebook &codebook, uint32_t k, double log_weight, HalvedFit *fit, float *four,
                           uint32_t position) const {
  if (log_weight == -INFINITY) return;  // leaves the position empty
  const uint32_t n_dims = view_.streams[codebook.stream].n_dims;
  PackedGaussian gaussian = pack_gaussian(view_, codebook, k, centre_);
  if (fit != nullptr) fit->add(halve_gaussian(view_, codebook, k, centre_, &gaussian));
  float *out = four + position;
  const auto next = [&](double value) {
    *out = float(value);
    out += 4;
  };
  put_constant(kLog2E * (log_weight + gaussian.log_normaliser), fit, next);
  const double *factor = gaussian.factor.data();
  for (uint32_t i = 0; i < n_dims; ++i) {
    next(-kFactorScale * gaussian.offset[i]);
    for (uint32_t j = i; j < (full() ? n_dims : i + 1); ++j) next(kFactorScale * *factor++);
  }
}

DirectPack GmmPacker::direct(uint32_t stream, const StreamStates &states, Halving halving) const {
  const bool halved = halving != Halving::kNever;
  DirectPack pack;
  std::vector<float> fours;
  HalvedFit fit;
  size_t n_gaussians = 0;
  const size_t four_floats = size_t{4} * direct_four_size(view_.streams[stream].n_dims, full(), halved);
  const auto add_fours = [&](const asr_gmm_codebook &codebook, const float *weights) {
    const uint32_t n_fours = (codebook.n_gaussians + 3) / 4;
    const size_t at = fours.size();
    n_gaussians += codebook.n_gaussians;
    fours.resize(at + n_fours * four_floats, 0.0f);
    for (uint32_t k = 0; k < 4 * n_fours; ++k) {
      float *const four = fours.data() + at + k / 4 * four_floats;
      four[k % 4] = kLogZero;  // in halves -infinity, which the kernel raises to it
      if (k >= codebook.n_gaussians) continue;
      put_direct(codebook, k, weights != nullptr ? double(weights[k]) : 0, halved ? &fit : nullptr, four, k % 4);
    }
    return n_fours;
  };
  uint32_t n_fours = 0;
  for (const uint32_t state : states.direct) {
    const uint32_t n = add_fours(codebook_of(view_, state, stream), log_weights_of(view_, state, stream));
    pack.states.push_back({state, n_fours, n});
    n_fours += n;
  }
  pack.first_shared_four = n_fours;
  for (uint32_t c = 0; c < view_.n_codebooks; ++c) {
    const std::vector<uint32_t> &sharing = states.of_shared[c];
    if (sharing.empty()) continue;
    const uint32_t first_gaussian = 4 * pack.n_shared_fours;
    pack.n_shared_fours += add_fours(view_.codebooks[c], nullptr);
    pack_shared_states(view_, stream, sharing, first_gaussian, view_.codebooks[c].n_gaussians, &pack.shared, &pack.log_weights);
  }
  if (halving == Halving::kIfTheyFit && !fit.suffices(n_gaussians)) return direct(stream, states, Halving::kNever);
  pack.halved = halved;
  pack.fours = words_of(fours, halved);
  return pack;
}

}  // namespace asr::gpu
