// SPDX-License-Identifier: Apache-2.0
// Cepstra of frames under many filter banks, by the kernels that a variant brings as PTX
// (plugins/ocl_nvidia/features/mfcc_512_sums.cu). Used by Mfcc (mfcc.h) in the place of mfcc_512.cl.
#pragma once

#include <memory>

#include "plugins/gpu/features/mfcc_sums.h"
#include "plugins/ocl/features/mfcc_batch.h"
#include "plugins/ocl/features/mfcc_tables.h"
#include "plugins/ocl/runtime/device.h"

namespace asr::gpu {

class MfccSumsKernel {
 public:
  // Returns NULL if the front end has no tables for running sums, or the device or its driver does not take the kernels. The
  // front end suits mfcc_512.cl.
  static std::unique_ptr<MfccSumsKernel> make(Device &device, const asr_features_view &view, const MfccTables &tables);

  // Puts the kernel into the compute queue.
  void launch(const MfccBatch &batch, const Array<MfccOutput> &outputs, const Array<float> &samples,
              const Array<float> &cepstra) const;

 private:
  MfccSumsKernel(Device &device, const asr_features_view &view, const MfccTables &tables, const MfccSums &sums,
                 const Program &program);

  Device &device_;
  MfccSumsOptions options_{};
  Array<float> window_;
  Array<Float2> twiddles_, real_twiddles_;
  Array<double> positions_;
  Array<MfccEdges> edges_;
  Array<float> gains_;
  Array<MfccFour> dct_;
  Kernel kernel_;
};

}  // namespace asr::gpu
