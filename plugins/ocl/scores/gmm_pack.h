// SPDX-License-Identifier: Apache-2.0
// An acoustic model in the order in which the scoring kernels read it (gmm_types.h), one feature stream at a time. Made
// when a model is loaded, or a part of it, used by gmm.cc.
#pragma once

#include <array>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/thread_pool.h"
#include "plugins/common/packing.h"
#include "plugins/gpu/scores/gmm_states.h"
#include "plugins/ocl/scores/gmm_types.h"

namespace asr::gpu {

// The shape of the packing: fours side by side, and parts of a state among these lanes. Kernels take `dims` dimensions
// and `factor_rows` rows of a triangle at once.
struct GmmLayout {
  uint32_t lanes, parts, dims, factor_rows;
  Halving halving;
};

struct GmmPack {
  std::vector<GmmDim> dims;
  bool halved = false;
  uint32_t four_size = 0;       // numbers of a four, by 4
  std::vector<uint32_t> fours;  // rounds of blocks, then of shared codebooks: floats, or pairs of halves
  std::vector<GmmBlock> blocks;
  std::vector<uint32_t> states;  // [blocks][lanes / parts]; n_states where there is none
  size_t first_shared_word = 0;  // offset of the shared codebooks in fours
  uint32_t n_shared_fours = 0;
  std::vector<SharedStates> shared;
  std::vector<std::array<float, 4>> log_weights;
};

// Packs states.direct and the shared codebooks; other kernels score states.tensor. `whole`: the states of the whole model,
// whose blocks say how much a state is padded. Throws ASR_BAD_FILE if a precision is not positive definite.
GmmPack pack_stream(const asr_acoustic_view &view, uint32_t stream, const std::vector<float> &centre, const GmmLayout &layout,
                    const StreamStates &states, const StreamStates &whole, ThreadPool &pool);

}  // namespace asr::gpu
