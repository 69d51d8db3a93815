// SPDX-License-Identifier: Apache-2.0
// The pinned buffers of plugins/common/staging.h as OpenCL has them. Used where samples and rows go to the device.
#pragma once

#include "plugins/common/ocl/runtime.h"
#include "plugins/common/staging.h"

namespace asr::ocl {

class StagingBuffer {
 public:
  using Array = const DeviceArray<float> &;
  using Queue = ocl::Queue &;

  explicit StagingBuffer(const Context &context) : memory_(context) {}

  float *wait(size_t n) {
    memory_.reserve(n);
    copied_.wait();
    return memory_.data();
  }
  void start_upload(Array device, size_t first, size_t n, Queue queue) {
    queue.write(device.get(), first * sizeof(float), memory_.data(), n * sizeof(float));
    copied_ = queue.mark();
  }
  void start_download(Array device, size_t first, size_t n, Queue queue) {
    queue.read(device.get(), first * sizeof(float), memory_.data(), n * sizeof(float));
    copied_ = queue.mark();
  }

 private:
  PinnedArray<float> memory_;
  Event copied_;
};

using Staging = asr::Staging<StagingBuffer>;

}  // namespace asr::ocl
