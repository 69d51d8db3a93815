// SPDX-License-Identifier: Apache-2.0
// Which kernel scores which state, and the packing for FP32.
#include "plugins/cuda/gmm_pack.h"

#include <algorithm>
#include <cmath>

#include "plugins/common/packing.h"

namespace asr::cuda {
namespace {

constexpr double kLog2E = 1.4426950408889634;

}  // namespace

GmmPacker::GmmPacker(const asr_acoustic_view &view, ThreadPool &pool)
    : view_(view), centre_(feature_centre(view)), tensor_(view, centre_, pool) {}

uint32_t GmmPacker::codebook_number(uint32_t state, uint32_t stream) const {
  return view_.state_codebook[size_t{state} * view_.n_streams + stream];
}
const asr_gmm_codebook &GmmPacker::codebook_of(uint32_t state, uint32_t stream) const {
  return view_.codebooks[codebook_number(state, stream)];
}
const float *GmmPacker::log_weights(uint32_t state, uint32_t stream) const {
  return view_.log_weights + view_.state_weight[size_t{state} * view_.n_streams + stream];
}

GmmParts GmmPacker::parts(uint32_t stream, bool tensor) const {
  GmmParts parts;
  parts.dims = tensor_.dims_of(stream);
  parts.states_of.resize(view_.n_codebooks);
  for (uint32_t s = 0; s < view_.n_states; ++s) parts.states_of[codebook_number(s, stream)].push_back(s);
  std::vector<uint32_t> own;
  for (uint32_t s = 0; s < view_.n_states; ++s) {
    if (parts.states_of[codebook_number(s, stream)].size() == 1) own.push_back(s);
  }
  for (std::vector<uint32_t> &states : parts.states_of) {
    if (states.size() == 1) states.clear();
  }
  if (!tensor) {
    parts.direct_states = std::move(own);
    return parts;
  }
  const std::vector<uint8_t> fit = tensor_.which_fit(stream, own, parts.dims);
  for (size_t i = 0; i < own.size(); ++i) (fit[i] != 0 ? parts.tensor_states : parts.direct_states).push_back(own[i]);
  return parts;
}

// Writes Gaussian k to place 0..3 of a four.
void GmmPacker::put_direct(const asr_gmm_codebook &codebook, uint32_t k, double log_weight, float *four, uint32_t place) const {
  if (log_weight == -INFINITY) return;  // stays what an empty four is
  const uint32_t n_dims = view_.streams[codebook.stream].n_dims;
  const double scale = std::sqrt(kLog2E / 2);  // turns a factor of the precision into one of base-2 scores
  const PackedGaussian gaussian = pack_gaussian(view_, codebook, k, centre_);
  float *out = four + place;
  const auto next = [&](double value) {
    *out = float(value);
    out += 4;
  };
  next(kLog2E * (log_weight + gaussian.log_normaliser));
  const double *factor = gaussian.factor.data();
  for (uint32_t i = 0; i < n_dims; ++i) {
    next(-scale * gaussian.offset[i]);
    for (uint32_t j = i; j < (full() ? n_dims : i + 1); ++j) next(scale * *factor++);
  }
}

DirectPack GmmPacker::direct(uint32_t stream, const GmmParts &parts) const {
  DirectPack pack;
  const size_t four_floats = size_t{4} * direct_four_size(view_.streams[stream].n_dims, full());
  const auto add_fours = [&](const asr_gmm_codebook &codebook, const float *weights) {
    const uint32_t n_fours = (codebook.n_gaussians + 3) / 4;
    size_t at = pack.fours.size();
    pack.fours.resize(at + n_fours * four_floats, 0.0f);
    for (uint32_t k = 0; k < 4 * n_fours; ++k) {
      float *const four = pack.fours.data() + at + k / 4 * four_floats;
      four[k % 4] = kLogZero;
      if (k < codebook.n_gaussians) put_direct(codebook, k, weights != nullptr ? double(weights[k]) : 0, four, k % 4);
    }
    return n_fours;
  };
  uint32_t n_fours = 0;
  for (const uint32_t state : parts.direct_states) {
    const uint32_t n = add_fours(codebook_of(state, stream), log_weights(state, stream));
    pack.states.push_back({state, n_fours, n});
    n_fours += n;
  }
  pack.first_shared_four = n_fours;
  for (uint32_t c = 0; c < view_.n_codebooks; ++c) {
    const std::vector<uint32_t> &states = parts.states_of[c];
    if (states.empty()) continue;
    const uint32_t first_gaussian = 4 * pack.n_shared_fours, n_gaussians = view_.codebooks[c].n_gaussians;
    pack.n_shared_fours += add_fours(view_.codebooks[c], nullptr);
    for (size_t begin = 0; begin < states.size(); begin += 4) {
      SharedStates item{first_gaussian, n_gaussians, uint32_t(pack.log_weights.size()), {}, 0};
      for (size_t i = begin; i < std::min(states.size(), begin + 4); ++i) item.states[item.n_states++] = states[i];
      for (uint32_t k = 0; k < n_gaussians; ++k) {
        float w[4] = {0, 0, 0, 0};
        for (uint32_t i = 0; i < item.n_states; ++i) w[i] = float(kLog2E * log_weights(item.states[i], stream)[k]);
        pack.log_weights.push_back({w[0], w[1], w[2], w[3]});
      }
      pack.shared.push_back(item);
    }
  }
  return pack;
}

}  // namespace asr::cuda
