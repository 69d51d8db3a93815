// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/runtime.h"

#include "core/base/error.h"

namespace asr::cuda {
namespace {

asr_status status_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return ASR_OUT_OF_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
      return ASR_NO_DEVICE;
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidValue:
      return ASR_INTERNAL;
    default:
      return ASR_DEVICE_LOST;
  }
}

}  // namespace

void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that an error that can be survived is not reported again
  fail(status_of(status), "CUDA: %s: %s (%s)", what, cudaGetErrorString(status), cudaGetErrorName(status));
}

void *allocate_device(size_t n_bytes) {
  void *memory = nullptr;
  if (n_bytes > 0) check(cudaMalloc(&memory, n_bytes), "allocating device memory");
  return memory;
}

void *allocate_pinned(size_t n_bytes) {
  void *memory = nullptr;
  if (n_bytes > 0) check(cudaHostAlloc(&memory, n_bytes, cudaHostAllocDefault), "allocating pinned host memory");
  return memory;
}

}  // namespace asr::cuda
