// SPDX-License-Identifier: Apache-2.0
// loglike[t][s] of every row and state on the device (equations G1-G4): which kernel scores what, in which order. Called by
// acoustic.cc.
#pragma once

#include <array>
#include <vector>

#include "plugins/common/ocl/device.h"
#include "plugins/common/ocl/gmm_pack.h"

namespace asr::ocl {

class Gmm {
 public:
  Gmm(Device &device, const asr_acoustic_view &view);

  uint32_t n_dims() const { return n_dims_; }
  uint32_t n_states() const { return n_states_; }

  // Puts kernels into the compute queue: features[n_rows][n_dims] -> scores[n_rows][n_states].
  void score(const DeviceArray<float> &features, uint32_t n_rows, const DeviceArray<float> &scores);

 private:
  struct Stream {
    Stream(const Context &context, const GmmPack &pack);
    DeviceArray<GmmDim> dims;
    DeviceArray<float> fours, shared_fours;
    DeviceArray<GmmBlock> blocks;
    DeviceArray<uint32_t> states;
    DeviceArray<GmmShared> shared;
    DeviceArray<std::array<float, 4>> log_weights;
    uint32_t n_shared_fours;
  };
  void tile_rows(const Stream &stream, const DeviceArray<float> &features, uint32_t n_rows);
  void score_states(const Stream &stream, const DeviceArray<float> &features, uint32_t n_rows, const DeviceArray<float> &scores,
                    uint32_t add);
  void score_shared(const Stream &stream, const DeviceArray<float> &features, uint32_t n_rows, const DeviceArray<float> &scores,
                    uint32_t add);

  Device &device_;
  const GmmTuning tuning_;
  const uint32_t n_dims_, n_states_;
  Kernel states_, gaussians_, mix_shared_, tile_rows_;
  std::vector<Stream> streams_;
  DeviceArray<float> tiles_, gaussian_scores_;
};

}  // namespace asr::ocl
