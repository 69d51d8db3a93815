// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/runtime.h"

#include <atomic>

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

constexpr size_t kMaxDevices = 64;
std::atomic<uint64_t> g_n_bytes[kMaxDevices];  // allocated, by device

size_t current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return static_cast<size_t>(device) % kMaxDevices;
}

}  // namespace

void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that an error that can be survived is not reported again
  fail(status_of(status), "CUDA: %s: %s (%s)", what, cudaGetErrorString(status), cudaGetErrorName(status));
}

void *allocate_device(size_t n_bytes) {
  void *memory = nullptr;
  if (n_bytes == 0) return memory;
  check(cudaMalloc(&memory, n_bytes), "allocating device memory");
  g_n_bytes[current_device()] += n_bytes;
  return memory;
}

void free_device(void *memory, size_t n_bytes) {
  if (memory == nullptr) return;
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess) {
    g_n_bytes[static_cast<size_t>(attributes.device) % kMaxDevices] -= n_bytes;
  }
  cudaFree(memory);
}

uint64_t n_device_bytes() { return g_n_bytes[current_device()]; }

void *allocate_pinned(size_t n_bytes) {
  void *memory = nullptr;
  if (n_bytes > 0) check(cudaHostAlloc(&memory, n_bytes, cudaHostAllocDefault), "allocating pinned host memory");
  return memory;
}

}  // namespace asr::cuda
