// SPDX-License-Identifier: Apache-2.0
// An acoustic model in the order in which the scoring kernels read it (kernels/gmm_types.h), one feature stream at a time. Made
// when a model is loaded, used by gmm.cc.
#pragma once

#include <array>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/common/ocl/kernels/gmm_types.h"
#include "core/base/thread_pool.h"

namespace asr::ocl {

// How many fours stand side by side, how many of these lanes share a state, and how many dimensions and rows of a triangle are
// taken at once.
struct GmmLayout {
  uint32_t lanes, parts, dims, factor_rows;
};

struct GmmPack {
  std::vector<GmmDim> dims;
  uint32_t four_size = 0;    // floats of a four, by 4
  std::vector<float> fours;  // rounds of blocks, then of shared codebooks
  std::vector<GmmBlock> blocks;
  std::vector<uint32_t> states;   // [blocks][lanes / parts]; n_states where there is none
  size_t first_shared_value = 0;  // of fours
  uint32_t n_shared_fours = 0;
  std::vector<GmmShared> shared;
  std::vector<std::array<float, 4>> log_weights;
};

// States of a stream whose codebook no other state shares.
std::vector<uint32_t> states_of_their_own(const asr_acoustic_view &view, uint32_t stream);

// All states but those that `others` names, in their order, which are scored by other kernels. Throws ASR_BAD_FILE if a
// precision is not positive definite.
GmmPack pack_stream(const asr_acoustic_view &view, uint32_t stream, const std::vector<float> &centre, GmmLayout layout,
                    const std::vector<uint32_t> &others, ThreadPool &pool);

}  // namespace asr::ocl
