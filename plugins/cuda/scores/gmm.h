// SPDX-License-Identifier: Apache-2.0
// Gmm computes loglike[t][s] of every row and state, or of some states, on the GPU (equations G1-G4). It chooses the kernels
// and their order.
// Called by acoustic.h.
#pragma once

#include <vector>

#include "plugins/cuda/runtime/device.h"
#include "plugins/cuda/scores/gmm_pack.h"

namespace asr::gpu {

class Gmm {
 public:
  Gmm(Device &device, const asr_acoustic_view &view);
  // Makes a part of a whole model, which scores the states of a set with the same bits. The view is that of the whole.
  Gmm(const Gmm &whole, const asr_acoustic_view &view, const StateSet &states);
  ~Gmm();
  Gmm(const Gmm &) = delete;
  Gmm &operator=(const Gmm &) = delete;

  uint32_t n_dims() const { return n_dims_; }
  uint32_t n_states() const { return n_states_; }

  // Job scores features[n_rows][n_dims] into scores[n_rows][n_states], both on the device.
  struct Job {
    Gmm *gmm;
    const Array<float> *features;
    uint32_t n_rows;
    Array<float> *scores;
  };
  // Puts kernels for several models into the compute stream. Diagonal ones share launches where wgmma scores them.
  static void score(Device &device, const std::vector<Job> &jobs);

 private:
  struct Stream;
  static void score_together(Device &device, const std::vector<Job> &jobs, size_t stream_number, cudaStream_t stream);
  void score_alone(const Job &job, size_t stream_number, cudaStream_t stream);
  void load_stream(const asr_acoustic_view &view, uint32_t number, const Gmm *whole, const StateSet *states);
  void load_tensor(const TensorPack &pack, Stream *stream);

  Device &device_;
  const uint32_t n_dims_, n_states_;
  const std::vector<float> centre_;
  std::vector<Stream> streams_;
  Array<float> gaussian_scores_;  // scores of shared codebooks' Gaussians
  Array<uint4> expanded_;
  Array<float> inverse_scale_;
};

}  // namespace asr::gpu
