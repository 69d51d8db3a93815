// SPDX-License-Identifier: Apache-2.0
// An acoustic model in the order in which the kernels of kernels/gmm.h read it, one feature stream at a time. States that have
// their Gaussians for themselves go to a tensor-core kernel where its expanded form keeps the tolerance, else to the FP32
// kernel; shared codebooks to the FP32 kernel and a mixing kernel. Made when a model is loaded, used by gmm.cc.
#pragma once

#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/common/thread_pool.h"
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

// Tensor cores: tiles or blocks of tiles, and where a stretch of them may begin.
struct TensorPack {
  uint32_t n_steps = 0;
  std::vector<uint32_t> fragments;
  std::vector<TileInfo> tiles;      // of the expanded kernel
  std::vector<uint32_t> monomials;  // of the expanded kernel
  std::vector<uint32_t> starts;     // tiles (diagonal) or blocks (expanded) with which a state begins, and the end
};

// Of diagonal Gaussians: for kernels/gmm_diagonal_wgmma.cu; and there for a halved model.
struct TensorLayout {
  bool wgmma, halved;
};

class GmmPacker {
 public:
  GmmPacker(const asr_acoustic_view &view, ThreadPool &pool);

  // `tensor`: whether the device has tensor cores that the kernels can use.
  GmmParts parts(uint32_t stream, bool tensor) const;
  DirectPack direct(uint32_t stream, const GmmParts &parts) const;
  TensorPack tensor(uint32_t stream, const GmmParts &parts, const TensorLayout &layout) const;

 private:
  struct Expanded;
  bool full() const { return view_.covariance == ASR_COVARIANCE_FULL; }
  uint32_t codebook_number(uint32_t state, uint32_t stream) const;
  const asr_gmm_codebook &codebook_of(uint32_t state, uint32_t stream) const;
  const float *log_weights(uint32_t state, uint32_t stream) const;
  std::vector<GmmDim> dims_of(uint32_t stream) const;
  std::vector<uint32_t> monomials_of(uint32_t n_dims) const;
  Expanded expand(const asr_gmm_codebook &codebook, uint32_t gaussian, double log_weight,
                  const std::vector<GmmDim> &dims) const;
  void halve(Expanded *expanded) const;
  bool fits_tensor(uint32_t state, uint32_t stream, const std::vector<GmmDim> &dims) const;
  void put_direct(const asr_gmm_codebook &codebook, uint32_t gaussian, double log_weight, float *four, uint32_t place) const;
  template <typename Put>
  void put_tile(uint32_t state, uint32_t stream, uint32_t first, const GmmParts &parts, bool halved, TileInfo *info,
                Put &&put) const;
  TensorPack tensor_diagonal(uint32_t stream, const GmmParts &parts, const TensorLayout &layout) const;
  TensorPack tensor_expanded(uint32_t stream, const GmmParts &parts) const;

  const asr_acoustic_view &view_;
  ThreadPool &pool_;
  std::vector<float> centre_;
};

// Whether the diagonal kernel serves a stream's tensor states; else the expanded one does.
bool uses_diagonal_kernel(asr_covariance covariance, uint32_t n_dims);

}  // namespace asr::cuda
