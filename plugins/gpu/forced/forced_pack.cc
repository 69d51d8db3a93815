// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/forced/forced_pack.h"

#include <cmath>

#include "core/base/error.h"
#include "plugins/common/log_zero.h"
#include "plugins/common/packing.h"

namespace asr {
namespace {

constexpr double kBitsPerNat = 1.4426950408889634;

// Writes the parameters of Gaussian k of a codebook.
void pack_forced(const asr_acoustic_view &view, const asr_gmm_codebook &codebook, uint32_t k, float *parameters) {
  const size_t n = codebook.n_gaussians, n_dims = view.streams[codebook.stream].n_dims;
  const float *const mean = view.means + codebook.first_mean + k * n_dims;
  const float *const precision = view.precisions + view.precision_at[view.covariance_of[codebook.first_gaussian + k]];
  double log_norm = 0;
  for (size_t i = 0; i < n_dims; ++i) {
    const auto p = static_cast<double>(precision[i]);
    log_norm += (std::log(p) - kLn2Pi) / 2;
    parameters[(1 + 2 * i) * n + k] = mean[i];
    parameters[(2 + 2 * i) * n + k] = static_cast<float>(std::sqrt(p) * kFactorScale);
  }
  parameters[k] = static_cast<float>(kBitsPerNat * log_norm);
}

}  // namespace

ForcedPack::ForcedPack(const asr_acoustic_view &view) {
  if (view.covariance != ASR_COVARIANCE_DIAGONAL) {
    fail(ASR_UNSUPPORTED, "forced states: the GPU scores Gaussians with diagonal covariances; use the CPU");
  }
  std::vector<uint32_t> first_dims;
  for (uint32_t j = 0; j < view.n_streams; ++j) {
    first_dims.push_back(static_cast<uint32_t>(dims.size()));
    dims.insert(dims.end(), view.streams[j].dims, view.streams[j].dims + view.streams[j].n_dims);
  }
  uint64_t n_parameters = 0;
  for (uint32_t c = 0; c < view.n_codebooks; ++c) {
    const asr_gmm_codebook &from = view.codebooks[c];
    const uint32_t n_dims = view.streams[from.stream].n_dims;
    codebooks.push_back({static_cast<uint32_t>(n_parameters), from.n_gaussians, first_dims[from.stream], n_dims});
    n_parameters += uint64_t{from.n_gaussians} * (1 + 2 * n_dims);
  }
  // Codebooks are shared by several states' weights, so weights are copied mixture by mixture.
  uint64_t n_weights = 0;
  for (uint32_t s = 0; s < view.n_states; ++s) {
    for (uint32_t j = 0; j < view.n_streams; ++j) n_weights += codebook_of(view, s, j).n_gaussians;
  }
  if (n_parameters > UINT32_MAX || n_weights > UINT32_MAX)
    fail(ASR_UNSUPPORTED, "forced states: the model is too large for the GPU; use the CPU");
  parameters.resize(n_parameters);
  for (uint32_t c = 0; c < view.n_codebooks; ++c) {
    for (uint32_t k = 0; k < codebooks[c].n_gaussians; ++k)
      pack_forced(view, view.codebooks[c], k, parameters.data() + codebooks[c].first_parameter);
  }
  weights.reserve(n_weights);
  for (uint32_t s = 0; s < view.n_states; ++s) {
    for (uint32_t j = 0; j < view.n_streams; ++j) {
      mixtures.push_back({codebook_number(view, s, j), static_cast<uint32_t>(weights.size())});
      const float *const from = log_weights_of(view, s, j);
      for (uint32_t k = 0; k < codebook_of(view, s, j).n_gaussians; ++k) {
        weights.push_back(from[k] == -INFINITY ? kLogZero : static_cast<float>(kBitsPerNat * static_cast<double>(from[k])));
      }
    }
  }
}

void check_forced_states(const uint32_t *states, size_t n_rows, uint32_t n_states) {
  for (size_t i = 0; i < n_rows; ++i) {
    if (states[i] < n_states) continue;
    fail(ASR_INVALID_ARGUMENT, "forced states: row %zu is of state %u, but the model has %u", i, states[i], n_states);
  }
}

}  // namespace asr
