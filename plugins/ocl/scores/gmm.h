// SPDX-License-Identifier: Apache-2.0
// Gmm computes loglike[t][s] of every row and state, or of some states, on the device (equations G1-G4). It chooses the kernels
// and their order.
// Called by acoustic.h.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "plugins/ocl/runtime/device.h"
#include "plugins/ocl/scores/gmm_pack.h"
#include "plugins/ocl/scores/gmm_tensor.h"
#include "plugins/ocl/scores/gmm_wgmma.h"

namespace asr::gpu {

class Gmm {
 public:
  // Loads a model with the tuning that was chosen for the device, on tensor cores if it has them.
  Gmm(Device &device, const asr_acoustic_view &view);
  // Loads a model. With `tensor`, states whose expanded form keeps the tolerance are scored on tensor cores.
  Gmm(Device &device, const asr_acoustic_view &view, const GmmTuning &tuning, const std::optional<TensorTarget> &tensor);
  // Makes a part of a whole model, which scores the states of a set with the same bits. The view is that of the whole.
  Gmm(const Gmm &whole, const asr_acoustic_view &view, const StateSet &states);

  uint32_t n_dims() const { return n_dims_; }
  uint32_t n_states() const { return n_states_; }

  // Job scores features[n_rows][n_dims] into scores[n_rows][n_states], both on the device.
  struct Job {
    Gmm *gmm;
    const Array<float> *features;
    uint32_t n_rows;
    const Array<float> *scores;
  };
  // Puts kernels for several models into the compute queue. Diagonal ones on tensor cores share launches.
  static void score(Device &device, const std::vector<Job> &jobs);

 private:
  struct Stream {
    Stream(const Context &context, const GmmPack &pack, StreamPlan plan);
    StreamPlan plan;
    Array<GmmDim> dims;
    bool halved;
    Array<uint32_t> fours, shared_fours;
    Array<GmmBlock> blocks;
    Array<uint32_t> states;
    Array<SharedStates> shared;
    Array<std::array<float, 4>> log_weights;
    uint32_t four_size, n_shared_fours;
    std::optional<GmmTensor> tensor;
    std::optional<GmmWgmma> wgmma;  // in the place of `tensor`
  };
  // Shape has the kernels for work-groups of so many rows.
  struct Shape {
    Shape(Device &device, const GmmTuning &tuning, uint32_t tile_rows, uint32_t n_dims, bool full, bool halved);
    uint32_t tile_rows;
    bool halved;
    Kernel states, gaussians, tile;
  };
  // Rows is the rows that a call scores.
  struct Rows {
    const Array<float> &features;
    uint32_t n;
    const Array<float> &scores;
    uint32_t add;  // 1: adds to the scores of earlier streams
  };
  StreamPlan plan_of(const asr_acoustic_view &view, uint32_t stream, const TensorPacker &packer) const;
  void load_stream(const asr_acoustic_view &view, uint32_t stream, const Gmm *whole, const StateSet *states);
  void make_shapes(const asr_acoustic_view &view);
  const Shape &shape_for(uint32_t n_rows, bool halved) const;
  void score_fp32(const Shape &shape, const Stream &stream, const Rows &rows);
  void tile(const Shape &shape, const Stream &stream, const Rows &rows);
  void score_states(const Shape &shape, const Stream &stream, const Rows &rows);
  void score_shared(const Shape &shape, const Stream &stream, const Rows &rows);

  Device &device_;
  const GmmTuning tuning_;
  const std::optional<TensorTarget> tensor_;
  const uint32_t n_dims_, n_states_;
  const std::vector<float> centre_;
  std::vector<Shape> shapes_;  // empty if the FP32 kernels have nothing to score
  Kernel mix_shared_;
  std::vector<Stream> streams_;
  Array<float> tiles_, gaussian_scores_;
};

}  // namespace asr::gpu
