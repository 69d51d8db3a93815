// SPDX-License-Identifier: Apache-2.0
// The pinned buffers of plugins/common/staging.h as CUDA has them. Used where samples, features and rows go to the device.
#pragma once

#include "plugins/common/staging.h"
#include "plugins/cuda/runtime.h"

namespace asr::cuda {

class StagingBuffer {
 public:
  using Array = float *;
  using Queue = cudaStream_t;

  float *wait(size_t n) {
    memory_.reserve(n);
    check(cudaEventSynchronize(copied_.get()), "waiting for a copy");
    return memory_.data();
  }
  void start_upload(float *device, size_t first, size_t n, cudaStream_t stream) {
    start(device + first, memory_.data(), n, cudaMemcpyHostToDevice, stream);
  }
  void start_download(const float *device, size_t first, size_t n, cudaStream_t stream) {
    start(memory_.data(), device + first, n, cudaMemcpyDeviceToHost, stream);
  }

 private:
  void start(float *to, const float *from, size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, n * sizeof(float), kind, stream), "copying to or from the device");
    check(cudaEventRecord(copied_.get(), stream), "ordering the work of the device");
  }

  PinnedArray<float> memory_;
  Event copied_;
};

using Staging = asr::Staging<StagingBuffer>;

}  // namespace asr::cuda
