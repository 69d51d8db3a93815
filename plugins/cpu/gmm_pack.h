// SPDX-License-Identifier: Apache-2.0
// An acoustic model in the order in which the kernels of gmm_kernels.h read it. gmm_pack.cc makes it when a model is loaded;
// gmm.cc uses it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/cpu/gmm_kernels.h"

namespace asr::cpu {

// An array of floats aligned to a cache line.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(size_t n);
  float *data() { return data_.get(); }
  const float *data() const { return data_.get(); }
  char *bytes() { return reinterpret_cast<char *>(data_.get()); }
  const char *bytes() const { return reinterpret_cast<const char *>(data_.get()); }

 private:
  static constexpr size_t kLine = 64;
  struct Free {
    size_t n_bytes;
    void operator()(float *data) const;
  };
  std::unique_ptr<float, Free> data_;
};

// Returns true if rising states follow each other without a gap, as in most blocks.
inline bool are_consecutive(const std::vector<uint32_t> &states) { return states.back() - states.front() + 1 == states.size(); }

// L states, each with its own codebook: n_gaussians vectors, whose lane l belongs to states[l]. States rise.
struct OwnBlock {
  std::vector<uint32_t> states;
  size_t n_gaussians;
  size_t first_byte;     // in GmmStream::own_gaussians
  uint32_t cluster = 0;  // of PackedClusters
};

// A state and its lane, counted over all blocks.
struct StateLane {
  uint32_t state, lane;
};

// The clusters of a stream's own states, if a frame chooses those that are scored (G11). Blocks are in the order of clusters.
struct PackedClusters {
  size_t n = 0, n_chosen = 0;  // clusters, and those that a frame chooses; n = 0: every state is scored
  AlignedFloats singles;       // a vector for each block, of the single Gaussians of its states
  size_t vector_bytes = 0;
  std::vector<StateLane> lane_of;  // of each of the states, which rise
};

// L states that mix the Gaussians of one codebook. They rise.
struct MixingBlock {
  MixingBlock(size_t n_gaussians, size_t n_lanes);
  std::vector<uint32_t> states;
  AlignedFloats weights;           // [n_gaussians][L], linear, the largest of a state 1
  AlignedFloats weight_shift;      // [L], base-2 logarithm of the largest
  std::vector<float> log_weights;  // [states][n_gaussians], base 2, for sums that underflow
};

struct SharedCodebook {
  size_t n_gaussians, n_vectors;
  AlignedFloats gaussians;
  std::vector<MixingBlock> blocks;
};

// The numbers of a vector of Gaussians: of each its bytes in one lane, in the order of memory.
using VectorLayout = std::vector<uint8_t>;

struct GmmStream {
  std::vector<uint32_t> dims;
  VectorLayout layout;
  std::vector<float> centre;  // [dims]
  std::vector<OwnBlock> own;
  AlignedFloats own_gaussians;  // block after block, in the order of reading
  PackedClusters clusters;      // of own
  std::vector<SharedCodebook> shared;

  const char *gaussians_of(const OwnBlock &block) const { return own_gaussians.bytes() + block.first_byte; }
};

// Returns n vectors of Gaussians that are never likely.
AlignedFloats unlikely_gaussians(const VectorLayout &layout, size_t n_lanes, size_t n);
// Copies one lane of n vectors of Gaussians to a lane of others.
void copy_lane(const VectorLayout &layout, size_t n_lanes, size_t n, const char *from, size_t from_lane, char *to,
               size_t to_lane);

// cluster_share: of the clusters of states that a frame chooses (G11); 1: every state is scored.
std::vector<GmmStream> pack_gmm(const asr_acoustic_view &view, size_t n_lanes, bool halved, double cluster_share);

// Returns true if halves are enough for the Gaussians of a model (HalvedFit).
bool fits_halves(const asr_acoustic_view &view);

}  // namespace asr::cpu
