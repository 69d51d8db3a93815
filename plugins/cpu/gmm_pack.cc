// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/gmm_pack.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "plugins/common/packing.h"

namespace asr::cpu {
namespace {

constexpr double kLog2E = 1.4426950408889634;

class Packer {
 public:
  Packer(const asr_acoustic_view &view, size_t n_lanes)
      : view_(view), n_lanes_(n_lanes), centre_(feature_centre(view)), scale_(std::sqrt(kLog2E / 2)) {}

  GmmStream stream(uint32_t j) const;

 private:
  bool full() const { return view_.covariance == ASR_COVARIANCE_FULL; }
  size_t floats_per_gaussian(size_t n_dims) const { return full() ? 1 + n_dims + n_dims * (n_dims + 1) / 2 : 1 + 2 * n_dims; }
  const float *log_weights(uint32_t state, uint32_t j) const {
    return view_.log_weights + view_.state_weight[size_t{state} * view_.n_streams + j];
  }
  const asr_gmm_codebook &codebook_of(uint32_t state, uint32_t j) const {
    return view_.codebooks[view_.state_codebook[size_t{state} * view_.n_streams + j]];
  }
  void pack_own(const OwnBlock &block, uint32_t j, float *out) const;
  SharedCodebook shared_codebook(const asr_gmm_codebook &codebook, const std::vector<uint32_t> &states, uint32_t j) const;
  MixingBlock mixing_block(std::vector<uint32_t> states, uint32_t n_gaussians, uint32_t j) const;
  // Writes Gaussian k to one lane of a vector of Gaussians that begins at `out`.
  void put(const asr_gmm_codebook &codebook, uint32_t k, double log_weight, float *out) const;
  void put_nothing(size_t n_dims, float *out) const;

  const asr_acoustic_view &view_;
  const size_t n_lanes_;
  const std::vector<float> centre_;
  const double scale_;  // converts a factor of the precision to base-2 scores
};

void Packer::put(const asr_gmm_codebook &codebook, uint32_t k, double log_weight, float *out) const {
  const size_t n_dims = view_.streams[codebook.stream].n_dims;
  if (log_weight == -INFINITY) return put_nothing(n_dims, out);
  const PackedGaussian gaussian = pack_gaussian(view_, codebook, k, centre_);
  const auto next = [&](double value) {
    *out = float(value);
    out += n_lanes_;
  };
  next(kLog2E * (log_weight + gaussian.log_normaliser));
  if (!full()) {
    for (size_t d = 0; d < n_dims; ++d) {
      next(scale_ * gaussian.factor[d]);
      next(scale_ * gaussian.offset[d]);
    }
    return;
  }
  const double *row = gaussian.factor.data();  // row i begins with column i
  for (size_t i = 0; i < n_dims; i += 2) {
    const bool pair = i + 1 < n_dims;
    const double *const row1 = row + (n_dims - i);
    next(-scale_ * gaussian.offset[i]);
    if (pair) next(-scale_ * gaussian.offset[i + 1]);
    next(scale_ * row[0]);
    for (size_t j = i + 1; j < n_dims; ++j) {
      next(scale_ * row[j - i]);
      next(scale_ * row1[j - i - 1]);
    }
    if (pair) row = row1 + (n_dims - i - 1);
  }
}

void Packer::put_nothing(size_t n_dims, float *out) const {
  *out = kLogZero;
  for (size_t i = 1; i < floats_per_gaussian(n_dims); ++i) out[i * n_lanes_] = 0;
}

void Packer::pack_own(const OwnBlock &block, uint32_t j, float *out) const {
  const size_t n_dims = view_.streams[j].n_dims;
  for (size_t m = 0; m < block.n_gaussians; ++m, out += floats_per_gaussian(n_dims) * n_lanes_) {
    for (size_t lane = 0; lane < n_lanes_; ++lane) {
      if (lane < block.states.size() && m < codebook_of(block.states[lane], j).n_gaussians) {
        const uint32_t state = block.states[lane];
        put(codebook_of(state, j), uint32_t(m), log_weights(state, j)[m], out + lane);
      } else {
        put_nothing(n_dims, out + lane);
      }
    }
  }
}

MixingBlock Packer::mixing_block(std::vector<uint32_t> states, uint32_t n_gaussians, uint32_t j) const {
  MixingBlock block;
  block.weights = AlignedFloats(n_gaussians * n_lanes_);
  block.weight_shift = AlignedFloats(n_lanes_);
  std::fill_n(block.weights.data(), n_gaussians * n_lanes_, 1.0f);  // for lanes without a state
  std::fill_n(block.weight_shift.data(), n_lanes_, 0.0f);
  for (size_t lane = 0; lane < states.size(); ++lane) {
    const float *const log_weight = log_weights(states[lane], j);
    const double greatest = std::max(*std::max_element(log_weight, log_weight + n_gaussians), kLogZero);
    block.weight_shift.data()[lane] = float(kLog2E * greatest);
    for (uint32_t k = 0; k < n_gaussians; ++k) {
      block.weights.data()[k * n_lanes_ + lane] = float(std::exp(log_weight[k] - greatest));
      block.log_weights.push_back(float(kLog2E * log_weight[k]));
    }
  }
  block.states = std::move(states);
  return block;
}

SharedCodebook Packer::shared_codebook(const asr_gmm_codebook &codebook, const std::vector<uint32_t> &states,
                                       uint32_t j) const {
  const size_t n_dims = view_.streams[j].n_dims;
  SharedCodebook shared;
  shared.n_gaussians = codebook.n_gaussians;
  shared.n_vectors = (shared.n_gaussians + n_lanes_ - 1) / n_lanes_;
  shared.gaussians = AlignedFloats(shared.n_vectors * floats_per_gaussian(n_dims) * n_lanes_);
  for (size_t k = 0; k < shared.n_vectors * n_lanes_; ++k) {
    float *const out = shared.gaussians.data() + k / n_lanes_ * floats_per_gaussian(n_dims) * n_lanes_ + k % n_lanes_;
    if (k < shared.n_gaussians) {
      put(codebook, uint32_t(k), 0, out);
    } else {
      put_nothing(n_dims, out);
    }
  }
  for (size_t begin = 0; begin < states.size(); begin += n_lanes_) {
    const size_t end = std::min(states.size(), begin + n_lanes_);
    std::vector<uint32_t> part(states.begin() + std::ptrdiff_t(begin), states.begin() + std::ptrdiff_t(end));
    shared.blocks.push_back(mixing_block(std::move(part), codebook.n_gaussians, j));
  }
  return shared;
}

GmmStream Packer::stream(uint32_t j) const {
  const asr_gmm_stream &view = view_.streams[j];
  GmmStream stream;
  stream.dims.assign(view.dims, view.dims + view.n_dims);
  for (uint32_t d : stream.dims) stream.centre.push_back(centre_[d]);

  std::vector<std::vector<uint32_t>> states_of(view_.n_codebooks);
  for (uint32_t s = 0; s < view_.n_states; ++s) states_of[view_.state_codebook[size_t{s} * view_.n_streams + j]].push_back(s);
  std::vector<uint32_t> own_states, own_sizes;
  for (uint32_t s = 0; s < view_.n_states; ++s) {
    const uint32_t codebook = view_.state_codebook[size_t{s} * view_.n_streams + j];
    if (states_of[codebook].size() > 1) continue;
    own_states.push_back(s);
    own_sizes.push_back(view_.codebooks[codebook].n_gaussians);
  }
  size_t n_floats = 0;
  for (const std::vector<uint32_t> &members : blocks_by_size(own_sizes, n_lanes_)) {
    OwnBlock block{{}, own_sizes[members.back()], n_floats};
    for (uint32_t member : members) block.states.push_back(own_states[member]);
    n_floats += block.n_gaussians * floats_per_gaussian(stream.dims.size()) * n_lanes_;
    stream.own.push_back(std::move(block));
  }
  stream.own_gaussians = AlignedFloats(n_floats);
  for (const OwnBlock &block : stream.own) pack_own(block, j, stream.own_gaussians.data() + block.first_float);

  for (uint32_t c = 0; c < view_.n_codebooks; ++c) {
    if (states_of[c].size() > 1) stream.shared.push_back(shared_codebook(view_.codebooks[c], states_of[c], j));
  }
  return stream;
}

}  // namespace

AlignedFloats::AlignedFloats(size_t n) {
  constexpr size_t kLine = 64;
  const size_t bytes = std::max<size_t>(1, (n * sizeof(float) + kLine - 1) / kLine) * kLine;
  data_.reset(static_cast<float *>(std::aligned_alloc(kLine, bytes)));
  if (!data_) throw std::bad_alloc();
}

std::vector<GmmStream> pack_gmm(const asr_acoustic_view &view, size_t n_lanes) {
  const Packer packer(view, n_lanes);
  std::vector<GmmStream> streams;
  for (uint32_t j = 0; j < view.n_streams; ++j) streams.push_back(packer.stream(j));
  return streams;
}

}  // namespace asr::cpu
