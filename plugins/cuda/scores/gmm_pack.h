// SPDX-License-Identifier: Apache-2.0
// An acoustic model in the order in which the kernels of gmm_launch.h read it, one feature stream at a time. States that have
// their Gaussians for themselves go to a tensor-core kernel where its expanded form keeps the tolerance, else to the
// FP32 kernel. Shared codebooks go to the FP32 kernel and a mixing kernel. Made when a model is loaded, used by gmm.cc.
#pragma once

#include <optional>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/cuda/scores/gmm_launch.h"
#include "plugins/gpu/scores/gmm_states.h"

namespace asr::gpu {

// FP32: Gaussians in fours, of states.direct and then of the shared codebooks.
struct DirectPack {
  bool halved = false;
  std::vector<uint32_t> fours;  // floats, or pairs of halves
  std::vector<DirectState> states;
  uint32_t n_shared_fours = 0, first_shared_four = 0;
  std::vector<SharedStates> shared;
  std::vector<float4> log_weights;
};

class GmmPacker {
 public:
  // Keeps references to the view and to feature_centre() of the whole model.
  GmmPacker(const asr_acoustic_view &view, const std::vector<float> &centre, ThreadPool &pool);

  std::vector<GmmDim> dims(uint32_t stream) const { return tensor_.dims_of(stream); }
  // `tensor`: true if the device has tensor cores that the kernels can use; `halves`: 16 bits are enough there.
  StreamStates states(uint32_t stream, const std::vector<GmmDim> &dims, bool tensor, bool halves) const;
  DirectPack direct(uint32_t stream, const StreamStates &states, Halving halving) const;
  // four_tiles: as in TensorLayout.
  TensorPack tensor(uint32_t stream, const StreamPlan &plan, bool wgmma, std::optional<uint32_t> four_tiles) const {
    return tensor_.pack(stream, plan.states.tensor, plan.dims, {wgmma, plan.states.halves_tensor, four_tiles});
  }

 private:
  bool full() const { return view_.covariance == ASR_COVARIANCE_FULL; }
  // fit: nullptr for a model that stays whole.
  void put_direct(const asr_gmm_codebook &codebook, uint32_t gaussian, double log_weight, HalvedFit *fit, float *four,
                  uint32_t position) const;

  const asr_acoustic_view &view_;
  const std::vector<float> &centre_;
  const TensorPacker tensor_;
};

}  // namespace asr::gpu
