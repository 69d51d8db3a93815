// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/bench_gmm_blas.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "plugins/cpu/gmm_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asr::cpu {
namespace HWY_NAMESPACE {
namespace {

// Computes loglike[s] = ln sum_m 2^score[m][s]; the number of states is a multiple of the lanes.
void log_sum_exp_of_states(const float *score, size_t n_gaussians, size_t n_states, float *loglike) {
  const size_t n_lanes = hn::Lanes(kTag);
  for (size_t s = 0; s < n_states; s += n_lanes) {
    V best = hn::LoadU(kTag, score + s);
    for (size_t m = 1; m < n_gaussians; ++m) best = hn::Max(best, hn::LoadU(kTag, score + m * n_states + s));
    V sum = hn::Zero(kTag);
    for (size_t m = 0; m < n_gaussians; ++m) {
      sum = hn::Add(sum, exp2_nonpositive(hn::Sub(hn::LoadU(kTag, score + m * n_states + s), best)));
    }
    hn::StoreU(hn::Mul(hn::Add(best, log2_positive(sum)), hn::Set(kTag, kLn2)), kTag, loglike + s);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace asr::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "plugins/common/packing.h"
#include "tools/bench_gmm_blas.h"

namespace asr::cpu {
HWY_EXPORT(log_sum_exp_of_states);
}

namespace asr::tool {
namespace {

constexpr uint32_t kBlockStates = 64;  // states whose Gaussians one sgemm scores
constexpr double kLog2E = 1.4426950408889634;

enum { kRowMajor = 101, kNoTranspose = 111, kTranspose = 112 };  // constants of the C interface to BLAS
using Sgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

// Selects the best kernels for the processor's instructions, since OpenBLAS does not recognise every processor.
const char *core_type() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq")) {
    return "SKYLAKEX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return __builtin_cpu_is("amd") ? "ZEN" : "HASWELL";
#endif
  return nullptr;
}

// Returns the coefficients of 1, x_i and x_i x_j (x_i^2 alone for diagonal) in the base-2 score of a Gaussian with this weight.
std::vector<float> expand_gaussian(const PackedGaussian &gaussian, double log_weight, bool full) {
  const size_t n = gaussian.offset.size();
  std::vector<double> linear(n, 0), square;
  double constant = log_weight + gaussian.log_normaliser;
  for (double offset : gaussian.offset) constant -= offset * offset / 2;
  if (!full) {
    for (size_t d = 0; d < n; ++d) {
      linear[d] = gaussian.factor[d] * gaussian.offset[d];
      square.push_back(-gaussian.factor[d] * gaussian.factor[d] / 2);
    }
  } else {
    std::vector<double> precision(n * n, 0);
    const double *row = gaussian.factor.data();  // columns i ... n - 1
    for (size_t i = 0; i < n; row += n - i, ++i) {
      for (size_t j = i; j < n; ++j) {
        linear[j] += row[j - i] * gaussian.offset[i];
        for (size_t k = i; k <= j; ++k) precision[j * n + k] += row[j - i] * row[k - i];
      }
    }
    for (size_t j = 0; j < n; ++j) {
      for (size_t k = 0; k <= j; ++k) square.push_back(-precision[j * n + k] * (j == k ? 0.5 : 1));
    }
  }
  std::vector<float> row{float(kLog2E * constant)};
  for (double value : linear) row.push_back(float(kLog2E * value));
  for (double value : square) row.push_back(float(kLog2E * value));
  return row;
}

}  // namespace

BlasScorer::BlasScorer(const asr_acoustic_view &view) {
  load();
  if (missing_.empty()) pack(view);
}

void BlasScorer::load() {
  // OpenBLAS reads these variables when it is loaded.
  if (const char *type = core_type()) setenv("OPENBLAS_CORETYPE", type, 0);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void *const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    missing_ = std::string("no OpenBLAS: ") + dlerror();
    return;
  }
  sgemm_ = dlsym(library, "cblas_sgemm");
  if (sgemm_ == nullptr) missing_ = "no OpenBLAS: libopenblas.so.0 has no cblas_sgemm";
  using CoreName = const char *(*)();
  if (const auto core_name = reinterpret_cast<CoreName>(dlsym(library, "openblas_get_corename"))) kernels_ = core_name();
}

void BlasScorer::pack(const asr_acoustic_view &view) {
  full_ = view.covariance == ASR_COVARIANCE_FULL;
  n_dims_ = view.n_dims;
  n_states_ = view.n_states;
  n_gaussians_ = view.codebooks[0].n_gaussians;
  n_columns_ = full_ ? 1 + n_dims_ + n_dims_ * (n_dims_ + 1) / 2 : 1 + 2 * n_dims_;
  centre_ = feature_centre(view);
  const size_t n_blocks = (n_states_ + kBlockStates - 1) / kBlockStates;
  weights_.assign(n_blocks * kBlockStates * n_gaussians_ * n_columns_, 0);
  for (uint32_t s = 0; s < n_states_; ++s) {
    const asr_gmm_codebook &codebook = view.codebooks[view.state_codebook[s]];
    for (uint32_t m = 0; m < n_gaussians_; ++m) {
      const double log_weight = view.log_weights[view.state_weight[s] + m];
      const std::vector<float> row = expand_gaussian(pack_gaussian(view, codebook, m, centre_), log_weight, full_);
      const size_t place = (s / kBlockStates * n_gaussians_ + m) * kBlockStates + s % kBlockStates;
      std::copy(row.begin(), row.end(), weights_.begin() + std::ptrdiff_t(place * n_columns_));
    }
  }
}

void BlasScorer::expand(const float *features, uint32_t n_rows) {
  expanded_.resize(size_t{n_rows} * n_columns_);
  float *out = expanded_.data();
  std::vector<float> x(n_dims_);
  for (uint32_t t = 0; t < n_rows; ++t, features += n_dims_) {
    for (uint32_t d = 0; d < n_dims_; ++d) x[d] = features[d] - centre_[d];
    *out++ = 1;
    out = std::copy(x.begin(), x.end(), out);
    for (uint32_t i = 0; i < n_dims_; ++i) {
      for (uint32_t j = full_ ? 0 : i; j <= i; ++j) *out++ = x[i] * x[j];
    }
  }
}

void BlasScorer::score(const float *features, uint32_t n_rows, float *loglikes) {
  expand(features, n_rows);
  const uint32_t n_columns_of_block = kBlockStates * n_gaussians_;
  scores_.resize(size_t{n_rows} * n_columns_of_block);
  float block[kBlockStates];
  for (uint32_t s = 0; s < n_states_; s += kBlockStates) {
    const float *const weights = weights_.data() + size_t{s} * n_gaussians_ * n_columns_;
    const auto width = int(n_columns_of_block), depth = int(n_columns_);
    reinterpret_cast<Sgemm>(sgemm_)(kRowMajor, kNoTranspose, kTranspose, int(n_rows), width, depth, 1, expanded_.data(), depth,
                                    weights, depth, 0, scores_.data(), width);
    const uint32_t n = std::min(kBlockStates, n_states_ - s);
    for (uint32_t t = 0; t < n_rows; ++t) {
      HWY_DYNAMIC_DISPATCH(cpu::log_sum_exp_of_states)
      (scores_.data() + size_t{t} * n_columns_of_block, n_gaussians_, kBlockStates, block);
      std::copy_n(block, n, loglikes + size_t{t} * n_states_ + s);
    }
  }
}

}  // namespace asr::tool
#endif
