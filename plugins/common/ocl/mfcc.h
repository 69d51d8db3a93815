// SPDX-License-Identifier: Apache-2.0
// MFCC on the device: jobs become work-groups of frames, of any jobs, that one kernel computes (mfcc_plan.h). Called by
// backend.cc for the slots load_features and extract, and by signal.cc.
#pragma once

#include "plugins/common/ocl/device.h"
#include "plugins/common/ocl/mfcc_batch.h"
#include "plugins/common/ocl/mfcc_plan.h"
#include "plugins/common/ocl/mfcc_tables.h"
#include "plugins/common/staging.h"

namespace asr::ocl {

class Mfcc {
 public:
  Mfcc(Device &device, const asr_features_view &view);

  // Complete on return.
  void extract(const asr_extract_job *jobs, size_t n_jobs);
  // Puts the same into the compute queue, in one batch. The cepstra stay on the device, one job's after the other's, until the
  // next call.
  const DeviceArray<float> &start(const asr_extract_job *jobs, size_t n_jobs);

 private:
  Mfcc(Device &device, const MfccTables &tables, uint32_t n_points);
  void launch(const MfccBatch &batch);

  Device &device_;
  const MfccOptions options_;
  const MfccPlan plan_;
  DeviceArray<MfccOptions> options_array_;
  DeviceArray<MfccPair> pairs_;
  DeviceArray<Float2> window_, twiddles_, real_twiddles_;
  DeviceArray<MfccBand> bands_;
  DeviceArray<Float4> weights_, dct_;
  DeviceArray<MfccFour> banks_, dct_tiles_;
  DeviceArray<float> samples_, cepstra_;
  Staging<Runtime> staging_;
};

}  // namespace asr::ocl
