// SPDX-License-Identifier: Apache-2.0
// Functions with which every back end packs an acoustic model for its kernels. They give a Gaussian's parameters in
// double, the centre of the features, and states sorted into blocks by mixture size. They are called when a model is
// loaded.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/common/halves.h"

namespace asr {

// Return the codebook of a state in a feature stream, and the log weights of the codebook's Gaussians in the state.
inline uint32_t codebook_number(const asr_acoustic_view &view, uint32_t state, uint32_t stream) {
  return view.state_codebook[size_t{state} * view.n_streams + stream];
}
inline const asr_gmm_codebook &codebook_of(const asr_acoustic_view &view, uint32_t state, uint32_t stream) {
  return view.codebooks[codebook_number(view, state, stream)];
}
inline const float *log_weights_of(const asr_acoustic_view &view, uint32_t state, uint32_t stream) {
  return view.log_weights + view.state_weight[size_t{state} * view.n_streams + stream];
}

// Returns a value for each feature near the middle of the model's means. Kernels subtract it from features and means: far from
// zero, floats would lose significant digits (docs/equations.md, G4).
std::vector<float> feature_centre(const asr_acoustic_view &view);

constexpr double kLn2Pi = 1.8378770664093454836;  // ln 2 pi

// A Gaussian as ln N(x) = log_normaliser - |factor (x - centre) - offset|^2 / 2: equation G1 or G2 with the precision written
// as factor' factor. All values are double.
struct PackedGaussian {
  std::vector<double> factor;  // diagonal: [d]; full: upper triangle by rows, row i has columns i..d-1
  std::vector<double> offset;  // [d]: factor (mean - centre)
  double log_normaliser;       // (ln |precision| - d ln 2 pi) / 2
};

// Throws ASR_BAD_FILE if a precision is not positive definite.
PackedGaussian pack_gaussian(const asr_acoustic_view &view, const asr_gmm_codebook &codebook, uint32_t gaussian,
                             const std::vector<float> &centre);

constexpr double kFactorScale = 0.84932180028801904;  // sqrt(log2 e / 2): turns a factor into one of base-2 scores

// Rounds the factors of a Gaussian, times kFactorScale, to fp16 numbers, and makes its offsets again from them and its mean, so
// that the mean does not move. Returns how fp16 numbers hold the result: well; with a loss of over a few hundredths of scores
// near it, as of Gaussians that are narrow and far from the features' centre; or not at all.
enum class HalvedGaussian { kFits, kLoses, kOverflows };
HalvedGaussian halve_gaussian(const asr_acoustic_view &view, const asr_gmm_codebook &codebook, uint32_t gaussian,
                              const std::vector<float> &centre, PackedGaussian *packed);

// HalvedFit says whether a model may be halved: if none of its Gaussians overflows, and few lose. Real models have one in a
// thousand whose variance was floored.
class HalvedFit {
 public:
  void add(HalvedGaussian gaussian) {
    n_lost_ += gaussian == HalvedGaussian::kLoses ? 1 : 0;
    if (gaussian == HalvedGaussian::kOverflows) overflows_ = true;
  }
  bool suffices(size_t n_gaussians) const { return !overflows_ && n_lost_ * size_t{64} <= n_gaussians; }

 private:
  std::atomic<size_t> n_lost_{0};
  std::atomic<bool> overflows_{false};
};

// Halving says whether the Gaussians of a stream are halved for FP32: not; if HalvedFit finds that they fit; or without asking,
// because those of the whole model are, of which these are a part.
enum class Halving { kNever, kIfTheyFit, kAlways };

// Passes the constant of a Gaussian to put(value), or, if `fit` is given, two halves whose sum it is.
template <typename Put>
void put_constant(double constant, HalvedFit *fit, const Put &put) {
  if (fit == nullptr) return put(constant);
  const double most = half_value(half_bits(static_cast<float>(constant)));
  if (!std::isfinite(most)) fit->add(HalvedGaussian::kOverflows);
  put(most);
  put(constant - most);
}

// Returns floats as words, or, halved, in pairs of halves, of which the first is in the lower half of a word. An even number
// of floats.
std::vector<uint32_t> words_of(const std::vector<float> &numbers, bool halved);

// Returns items in blocks of n_lanes of similar size (Vaněk et al. 2012a, section IV-B). They are sorted by size, items of
// equal size in their order, so that padding every block to its largest item wastes little. The last block may be short.
std::vector<std::vector<uint32_t>> blocks_by_size(const std::vector<uint32_t> &sizes, size_t n_lanes);

}  // namespace asr
