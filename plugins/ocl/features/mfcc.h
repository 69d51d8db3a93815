// SPDX-License-Identifier: Apache-2.0
// MFCC on the device: jobs become work-groups of frames, of any jobs, that one kernel computes (mfcc_plan.h). For PLP another
// kernel follows (mfcc_plp.cl). Called by backend.cc for the slots load_features and extract, and by signal.cc.
#pragma once

#include <memory>

#include "plugins/common/mfcc_plp.h"
#include "plugins/gpu/runtime/staging.h"
#include "plugins/ocl/features/mfcc_batch.h"
#include "plugins/ocl/features/mfcc_plan.h"
#include "plugins/ocl/features/mfcc_sums_kernel.h"
#include "plugins/ocl/features/mfcc_tables.h"
#include "plugins/ocl/runtime/device.h"

namespace asr::gpu {

class Mfcc {
 public:
  Mfcc(Device &device, const asr_features_view &view);

  // Complete on return.
  void extract(const asr_extract_job *jobs, size_t n_jobs);
  // Enqueues the same work in one batch on the compute queue. The cepstra stay on the device, one job's after the other's,
  // until the next call.
  const Array<float> &start(const asr_extract_job *jobs, size_t n_jobs);

 private:
  // Plp has the second kernel of PLP and its tables.
  struct Plp {
    Plp(Device &device, const PlpTables &tables);
    Kernel kernel;
    Array<PlpNumbers> numbers;
    Array<float> loudness, autocorrelation, weights, levels;
  };

  Mfcc(Device &device, const PlpTables &plp);
  Mfcc(Device &device, const PlpTables &plp, const MfccTables &tables);
  void launch(const MfccBatch &batch);
  void launch_plp(const MfccBatch &batch, const Array<MfccOutput> &outputs);

  Device &device_;
  const MfccOptions options_;
  const uint32_t n_ceps_;
  const MfccPlan plan_;
  Array<MfccOptions> options_array_;
  Array<MfccPair> pairs_;
  Array<Float2> window_, twiddles_, real_twiddles_;
  Array<MfccBand> bands_;
  Array<Float4> weights_, dct_;
  Array<MfccFour> banks_, dct_tiles_;
  Array<float> samples_, cepstra_;
  std::unique_ptr<Plp> plp_;              // NULL for MFCC
  std::unique_ptr<MfccSumsKernel> sums_;  // in the place of plan_.kernel; NULL: none
  Staging<> staging_;
};

}  // namespace asr::gpu
