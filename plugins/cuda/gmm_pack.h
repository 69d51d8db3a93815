// SPDX-License-Identifier: Apache-2.0
// An acoustic model in the order in which the kernels of kernels/gmm.h read it, one feature stream at a time. States that have
// their Gaussians for themselves go to a tensor-core kernel where its expanded form keeps the tolerance, else to the FP32
// kernel; shared codebooks to the FP32 kernel and a mixing kernel. Made when a model is loaded, used by gmm.cc.
#pragma once

#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/common/gmm_tensor_pack.h"
#include "plugins/cuda/kernels/gmm.h"

namespace asr::cuda {

// States of a stream by the kernel that scores them.
struct GmmParts {
  std::vector<GmmDim> dims;
  std::vector<uint32_t> tensor_states, direct_states;
  std::vector<std::vector<uint32_t>> states_of;  // [codebooks of the model], empty for those that are not shared
};

// FP32: Gaussians in fours, of direct_states and then of the shared codebooks.
struct DirectPack {
  std::vector<float> fours;
  std::vector<DirectState> states;
  uint32_t n_shared_fours = 0, first_shared_four = 0;
  std::vector<SharedStates> shared;
  std::vector<float4> log_weights;
};

class GmmPacker {
 public:
  GmmPacker(const asr_acoustic_view &view, ThreadPool &pool);

  // `tensor`: whether the device has tensor cores that the kernels can use.
  GmmParts parts(uint32_t stream, bool tensor) const;
  DirectPack direct(uint32_t stream, const GmmParts &parts) const;
  TensorPack tensor(uint32_t stream, const GmmParts &parts, const TensorLayout &layout) const {
    return tensor_.pack(stream, parts.tensor_states, parts.dims, layout);
  }

 private:
  bool full() const { return view_.covariance == ASR_COVARIANCE_FULL; }
  uint32_t codebook_number(uint32_t state, uint32_t stream) const;
  const asr_gmm_codebook &codebook_of(uint32_t state, uint32_t stream) const;
  const float *log_weights(uint32_t state, uint32_t stream) const;
  void put_direct(const asr_gmm_codebook &codebook, uint32_t gaussian, double log_weight, float *four, uint32_t place) const;

  const asr_acoustic_view &view_;
  const std::vector<float> centre_;
  const TensorPacker tensor_;
};

}  // namespace asr::cuda
