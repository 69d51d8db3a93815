// SPDX-License-Identifier: Apache-2.0
// MFCC on the GPU: jobs become a list of frames, blocks of frames of any jobs are computed by one kernel (mfcc.cu). For
// PLP another kernel follows (mfcc_plp.cu). Called by entry.cc for the slots load_features and extract, and by
// signal.cc.
#pragma once

#include <memory>
#include <vector>

#include "plugins/common/mfcc_plp.h"
#include "plugins/cuda/features/mfcc_launch.h"
#include "plugins/cuda/runtime/device.h"
#include "plugins/gpu/features/mfcc_sums.h"
#include "plugins/gpu/runtime/staging.h"

namespace asr::gpu {

class Mfcc {
 public:
  Mfcc(Device &device, const asr_features_view &view);

  // Complete on return.
  void extract(const asr_extract_job *jobs, size_t n_jobs);

  const MfccTables &tables() const { return tables_; }  // tables of the MFCC kernel, whose values for PLP are levels
  // Enqueues the kernels for a batch that is on the device, with one output for each entry of its frames. Outputs follow each
  // other without gaps.
  void launch(const MfccBatch &batch) { launch(batch, batch.n_lanes, batch.n_frames_entries); }

 private:
  // Plp has the tables and arrays of PLP's second kernel.
  struct Plp {
    explicit Plp(const PlpTables &tables);
    PlpNumbers numbers;
    Array<float> loudness, autocorrelation, weights, levels;
    Array<MfccOutput> level_outputs;
  };
  // Sums has the tables and arrays of the kernel for many banks.
  struct Sums {
    explicit Sums(const MfccSums &tables);
    Array<double> positions;
    Array<MfccEdges> edges;
    Array<float> gains;
    Array<uint4> dct;
    MfccSumsTables tables;
    uint32_t n_at_once = 0;  // blocks that run side by side
  };
  struct Batch;

  Mfcc(Device &device, const PlpTables &plp);
  void compute(const Batch &batch);
  void launch(const MfccBatch &batch, uint32_t n_rows, uint32_t n_outputs);
  void launch_levels(const MfccBatch &batch);
  void launch_plp(const MfccBatch &batch, uint32_t n_rows, uint32_t n_outputs);

  Device &device_;
  const uint32_t n_ceps_;
  MfccTables tables_{};
  bool usual_ = false;  // mfcc_512.cu serves it
  Array<float> window_;
  Array<float2> twiddles_;
  Array<uint32_t> position_;
  Array<MfccBand> bands_;
  Array<float4> weights_, dct_;
  Array<uint4> banks_, dct_fragments_;
  Array<float> samples_, cepstra_;
  Array<MfccFrames> frames_;
  Array<MfccOutput> outputs_;
  std::unique_ptr<Sums> sums_;  // NULL unless usual_ and frames are wanted under many banks
  std::unique_ptr<Plp> plp_;    // NULL for MFCC
  Staging<> staging_;
};

}  // namespace asr::gpu
