// SPDX-License-Identifier: Apache-2.0
// MFCC on the GPU: jobs become a list of frames, blocks of frames of any jobs are computed by one kernel (kernels/mfcc.cu).
// Called by entry.cc for the slots load_features and extract, and by signal.cc.
#pragma once

#include <memory>
#include <vector>

#include "plugins/common/staging.h"
#include "plugins/cuda/device.h"
#include "plugins/cuda/kernels/mfcc.h"

namespace asr::cuda {

class Mfcc {
 public:
  Mfcc(Device &device, const asr_features_view &view);

  // Complete on return.
  void extract(const asr_extract_job *jobs, size_t n_jobs);

  const MfccTables &tables() const { return tables_; }
  // Puts the kernel for a batch that is on the device into the compute stream.
  void launch(const MfccBatch &batch);

 private:
  struct Batch;
  void compute(const Batch &batch);

  Device &device_;
  MfccTables tables_{};
  bool usual_ = false;  // mfcc_512.cu serves it
  DeviceArray<float> window_;
  DeviceArray<float2> twiddles_;
  DeviceArray<uint32_t> position_;
  DeviceArray<MfccBand> bands_;
  DeviceArray<float4> weights_, dct_;
  DeviceArray<uint4> banks_, dct_fragments_;
  DeviceArray<float> samples_, cepstra_;
  DeviceArray<MfccFrames> frames_;
  DeviceArray<MfccOutput> outputs_;
  Staging<Runtime> staging_;
};

}  // namespace asr::cuda
