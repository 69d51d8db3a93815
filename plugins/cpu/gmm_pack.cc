// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/gmm_pack.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <numeric>

#include "core/base/page_allocator.h"
#include "plugins/common/halves.h"
#include "plugins/common/packing.h"
#include "plugins/cpu/state_clusters.h"

namespace asr::cpu {
namespace {

constexpr double kLog2E = 1.4426950408889634;

// Writes a Gaussian that is never likely, where all is zero.
void put_nothing(char *vector, size_t lane) {
  const float constant = kLogZero;
  std::memcpy(vector + lane * sizeof(constant), &constant, sizeof(constant));
}

AlignedFloats zeros(size_t n_bytes) {
  const size_t n_floats = (n_bytes + sizeof(float) - 1) / sizeof(float);
  AlignedFloats numbers(n_floats);
  std::fill_n(numbers.data(), n_floats, 0.0f);
  return numbers;
}

class Packer {
 public:
  Packer(const asr_acoustic_view &view, size_t n_lanes, bool halved, double cluster_share)
      : view_(view), centre_(feature_centre(view)), n_lanes_(n_lanes), halved_(halved), cluster_share_(cluster_share) {}

  GmmStream stream(uint32_t j) const;

 private:
  bool full() const { return view_.covariance == ASR_COVARIANCE_FULL; }
  size_t vector_bytes(size_t n_dims) const {
    const size_t number = halved_ ? sizeof(uint16_t) : sizeof(float);
    return (full() ? full_bytes(n_dims, number) : diagonal_bytes(n_dims, number)) * n_lanes_;
  }
  std::vector<OwnBlock> blocks_of_like_size(const std::vector<uint32_t> &states, uint32_t j) const;
  std::vector<OwnBlock> blocks_of_clusters(const std::vector<std::vector<uint32_t>> &clusters, uint32_t j) const;
  PackedClusters pack_clusters(size_t n_clusters, const std::vector<OwnBlock> &blocks, uint32_t j) const;
  void pack_own(const OwnBlock &block, uint32_t j, char *out) const;
  SharedCodebook shared_codebook(const asr_gmm_codebook &codebook, const std::vector<uint32_t> &states, uint32_t j) const;
  MixingBlock mixing_block(std::vector<uint32_t> states, uint32_t n_gaussians, uint32_t j) const;
  // Writes Gaussian k to one lane of a vector of Gaussians that begins at `vector`.
  void put(const asr_gmm_codebook &codebook, uint32_t k, double log_weight, char *vector, size_t lane) const;
  void put(const PackedGaussian &gaussian, double log_weight, char *vector, size_t lane) const;
  VectorLayout layout(size_t n_dims) const;

  const asr_acoustic_view &view_;
  const std::vector<float> centre_;
  const size_t n_lanes_;
  const bool halved_;
  const double cluster_share_;
};

// Writes one lane of a vector of Gaussians, number after number.
class LaneWriter {
 public:
  LaneWriter(char *vector, size_t lane, size_t n_lanes, bool halved)
      : next_(vector), lane_(lane), n_lanes_(n_lanes), halved_(halved) {}

  void put_float(double value) { put(float(value)); }
  void put_number(double value) {
    if (halved_) {
      put(half_bits(float(value)));
    } else {
      put(float(value));
    }
  }

 private:
  template <class Number>
  void put(Number number) {
    std::memcpy(next_ + lane_ * sizeof(number), &number, sizeof(number));
    next_ += n_lanes_ * sizeof(number);
  }

  char *next_;
  size_t lane_, n_lanes_;
  bool halved_;
};

void Packer::put(const asr_gmm_codebook &codebook, uint32_t k, double log_weight, char *vector, size_t lane) const {
  if (log_weight == -INFINITY) return put_nothing(vector, lane);
  PackedGaussian gaussian = pack_gaussian(view_, codebook, k, centre_);
  if (halved_) halve_gaussian(view_, codebook, k, centre_, &gaussian);  // fits_halves() has said that it may
  put(gaussian, log_weight, vector, lane);
}

void Packer::put(const PackedGaussian &gaussian, double log_weight, char *vector, size_t lane) const {
  const size_t n_dims = gaussian.offset.size();
  LaneWriter out(vector, lane, n_lanes_, halved_);
  out.put_float(kLog2E * (log_weight + gaussian.log_normaliser));
  if (!full()) {
    for (size_t d = 0; d < n_dims; ++d) {
      out.put_number(kFactorScale * gaussian.factor[d]);
      out.put_number(kFactorScale * gaussian.offset[d]);
    }
    return;
  }
  const double *row = gaussian.factor.data();  // row i begins with column i
  for (size_t i = 0; i < n_dims; i += 2) {
    const bool pair = i + 1 < n_dims;
    const double *const row1 = row + (n_dims - i);
    out.put_float(-kFactorScale * gaussian.offset[i]);
    if (pair) out.put_float(-kFactorScale * gaussian.offset[i + 1]);
    out.put_number(kFactorScale * row[0]);
    for (size_t j = i + 1; j < n_dims; ++j) {
      out.put_number(kFactorScale * row[j - i]);
      out.put_number(kFactorScale * row1[j - i - 1]);
    }
    if (pair) row = row1 + (n_dims - i - 1);
  }
}

// The order in which put() writes numbers.
VectorLayout Packer::layout(size_t n_dims) const {
  const uint8_t number = halved_ ? sizeof(uint16_t) : sizeof(float);
  VectorLayout layout = {sizeof(float)};
  if (!full()) layout.insert(layout.end(), 2 * n_dims, number);
  for (size_t i = 0; full() && i < n_dims; i += 2) {
    const size_t n_rows = std::min<size_t>(2, n_dims - i);
    layout.insert(layout.end(), n_rows, sizeof(float));
    layout.insert(layout.end(), 1 + n_rows * (n_dims - i - 1), number);
  }
  return layout;
}

void Packer::pack_own(const OwnBlock &block, uint32_t j, char *out) const {
  const size_t n_dims = view_.streams[j].n_dims;
  for (size_t m = 0; m < block.n_gaussians; ++m, out += vector_bytes(n_dims)) {
    for (size_t lane = 0; lane < n_lanes_; ++lane) {
      if (lane < block.states.size() && m < codebook_of(view_, block.states[lane], j).n_gaussians) {
        const uint32_t state = block.states[lane];
        put(codebook_of(view_, state, j), uint32_t(m), log_weights_of(view_, state, j)[m], out, lane);
      } else {
        put_nothing(out, lane);
      }
    }
  }
}

MixingBlock Packer::mixing_block(std::vector<uint32_t> states, uint32_t n_gaussians, uint32_t j) const {
  MixingBlock block(n_gaussians, n_lanes_);
  for (size_t lane = 0; lane < states.size(); ++lane) {
    const float *const log_weight = log_weights_of(view_, states[lane], j);
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
  shared.gaussians = zeros(shared.n_vectors * vector_bytes(n_dims));
  for (size_t k = 0; k < shared.n_vectors * n_lanes_; ++k) {
    char *const vector = shared.gaussians.bytes() + k / n_lanes_ * vector_bytes(n_dims);
    if (k < shared.n_gaussians) {
      put(codebook, uint32_t(k), 0, vector, k % n_lanes_);
    } else {
      put_nothing(vector, k % n_lanes_);
    }
  }
  for (size_t begin = 0; begin < states.size(); begin += n_lanes_) {
    const size_t end = std::min(states.size(), begin + n_lanes_);
    std::vector<uint32_t> part(states.begin() + std::ptrdiff_t(begin), states.begin() + std::ptrdiff_t(end));
    shared.blocks.push_back(mixing_block(std::move(part), codebook.n_gaussians, j));
  }
  return shared;
}

std::vector<OwnBlock> Packer::blocks_of_like_size(const std::vector<uint32_t> &states, uint32_t j) const {
  std::vector<uint32_t> sizes;
  for (const uint32_t state : states) sizes.push_back(codebook_of(view_, state, j).n_gaussians);
  std::vector<OwnBlock> blocks;
  for (const std::vector<uint32_t> &members : blocks_by_size(sizes, n_lanes_)) {
    OwnBlock &block = blocks.emplace_back();
    block.n_gaussians = sizes[members.back()];
    for (uint32_t member : members) block.states.push_back(states[member]);
    std::sort(block.states.begin(), block.states.end());
  }
  return blocks;
}

std::vector<OwnBlock> Packer::blocks_of_clusters(const std::vector<std::vector<uint32_t>> &clusters, uint32_t j) const {
  std::vector<OwnBlock> blocks;
  for (const std::vector<uint32_t> &states : clusters) {
    for (size_t begin = 0; begin < states.size(); begin += n_lanes_) {
      OwnBlock &block = blocks.emplace_back();
      block.cluster = uint32_t(&states - clusters.data());
      block.n_gaussians = 0;
      for (size_t i = begin; i < std::min(states.size(), begin + n_lanes_); ++i) {
        block.states.push_back(states[i]);
        block.n_gaussians = std::max<size_t>(block.n_gaussians, codebook_of(view_, states[i], j).n_gaussians);
      }
    }
  }
  return blocks;
}

PackedClusters Packer::pack_clusters(size_t n_clusters, const std::vector<OwnBlock> &blocks, uint32_t j) const {
  PackedClusters packed;
  packed.n = n_clusters;
  packed.n_chosen = n_chosen_clusters(cluster_share_, n_clusters);
  packed.vector_bytes = vector_bytes(view_.streams[j].n_dims);
  packed.singles = unlikely_gaussians(layout(view_.streams[j].n_dims), n_lanes_, blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    char *const vector = packed.singles.bytes() + b * packed.vector_bytes;
    for (size_t lane = 0; lane < blocks[b].states.size(); ++lane) {
      const uint32_t state = blocks[b].states[lane];
      put(single_gaussian(view_, state, j, centre_), 0, vector, lane);
      packed.lane_of.push_back({state, uint32_t(b * n_lanes_ + lane)});
    }
  }
  std::sort(packed.lane_of.begin(), packed.lane_of.end(),
            [](const StateLane &a, const StateLane &b) { return a.state < b.state; });
  return packed;
}

GmmStream Packer::stream(uint32_t j) const {
  const asr_gmm_stream &view = view_.streams[j];
  GmmStream stream;
  stream.dims.assign(view.dims, view.dims + view.n_dims);
  for (uint32_t d : stream.dims) stream.centre.push_back(centre_[d]);
  stream.layout = layout(view.n_dims);

  std::vector<std::vector<uint32_t>> states_of(view_.n_codebooks);
  for (uint32_t s = 0; s < view_.n_states; ++s) states_of[codebook_number(view_, s, j)].push_back(s);
  std::vector<uint32_t> own;
  for (uint32_t s = 0; s < view_.n_states; ++s) {
    if (states_of[codebook_number(view_, s, j)].size() == 1) own.push_back(s);
  }
  std::vector<std::vector<uint32_t>> clusters;
  const auto is_mixture = [&](uint32_t s) { return codebook_of(view_, s, j).n_gaussians > 1; };
  if (cluster_share_ < 1 && std::any_of(own.begin(), own.end(), is_mixture)) clusters = cluster_states(view_, j, own);
  stream.own = clusters.empty() ? blocks_of_like_size(own, j) : blocks_of_clusters(clusters, j);
  size_t n_bytes = 0;
  for (OwnBlock &block : stream.own) {
    block.first_byte = n_bytes;
    n_bytes += block.n_gaussians * vector_bytes(stream.dims.size());
  }
  stream.own_gaussians = zeros(n_bytes);
  for (const OwnBlock &block : stream.own) pack_own(block, j, stream.own_gaussians.bytes() + block.first_byte);
  if (!clusters.empty()) stream.clusters = pack_clusters(clusters.size(), stream.own, j);

  for (uint32_t c = 0; c < view_.n_codebooks; ++c) {
    if (states_of[c].size() > 1) stream.shared.push_back(shared_codebook(view_.codebooks[c], states_of[c], j));
  }
  return stream;
}

}  // namespace

AlignedFloats::AlignedFloats(size_t n) {
  const size_t n_bytes = std::max<size_t>(1, (n * sizeof(float) + kLine - 1) / kLine) * kLine;
  const bool paged = n_bytes >= kMinPagedBytes;  // pages begin lines
  void *const data = paged ? allocate_array(n_bytes) : std::aligned_alloc(kLine, n_bytes);
  if (data == nullptr) throw std::bad_alloc();
  data_ = std::unique_ptr<float, Free>(static_cast<float *>(data), Free{n_bytes});
}

void AlignedFloats::Free::operator()(float *data) const {
  if (n_bytes >= kMinPagedBytes) {
    free_array(data, n_bytes);
  } else {
    std::free(data);
  }
}

// Lanes without a state have weights of 1.
MixingBlock::MixingBlock(size_t n_gaussians, size_t n_lanes) : weights(n_gaussians * n_lanes), weight_shift(n_lanes) {
  std::fill_n(weights.data(), n_gaussians * n_lanes, 1.0f);
  std::fill_n(weight_shift.data(), n_lanes, 0.0f);
}

AlignedFloats unlikely_gaussians(const VectorLayout &layout, size_t n_lanes, size_t n) {
  const size_t n_bytes = std::accumulate(layout.begin(), layout.end(), size_t{0}) * n_lanes;
  AlignedFloats gaussians = zeros(n * n_bytes);
  for (size_t m = 0; m < n; ++m) {
    for (size_t lane = 0; lane < n_lanes; ++lane) put_nothing(gaussians.bytes() + m * n_bytes, lane);
  }
  return gaussians;
}

void copy_lane(const VectorLayout &layout, size_t n_lanes, size_t n, const char *from, size_t from_lane, char *to,
               size_t to_lane) {
  for (size_t m = 0; m < n; ++m) {
    for (const size_t n_bytes : layout) {
      std::memcpy(to + to_lane * n_bytes, from + from_lane * n_bytes, n_bytes);
      from += n_lanes * n_bytes, to += n_lanes * n_bytes;
    }
  }
}

bool fits_halves(const asr_acoustic_view &view) {
  const std::vector<float> centre = feature_centre(view);
  HalvedFit fit;
  size_t n = 0;
  for (uint32_t c = 0; c < view.n_codebooks; ++c) {
    const asr_gmm_codebook &codebook = view.codebooks[c];
    n += codebook.n_gaussians;
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      PackedGaussian gaussian = pack_gaussian(view, codebook, k, centre);
      fit.add(halve_gaussian(view, codebook, k, centre, &gaussian));
    }
  }
  return fit.suffices(n);
}

std::vector<GmmStream> pack_gmm(const asr_acoustic_view &view, size_t n_lanes, bool halved, double cluster_share) {
  const Packer packer(view, n_lanes, halved, cluster_share);
  std::vector<GmmStream> streams;
  for (uint32_t j = 0; j < view.n_streams; ++j) streams.push_back(packer.stream(j));
  return streams;
}

}  // namespace asr::cpu
