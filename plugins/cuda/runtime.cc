// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/runtime.h"

#include <atomic>
#include <chrono>
#include <thread>

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
std::atomic<uint32_t> g_limits_ms[kMaxDevices];
std::atomic<bool> g_hung[kMaxDevices];

size_t current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return static_cast<size_t>(device) % kMaxDevices;
}

// That the memory belongs to; kMaxDevices where CUDA cannot tell any more.
size_t device_of(const void *memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess || attributes.device < 0) return kMaxDevices;
  return static_cast<size_t>(attributes.device) % kMaxDevices;
}

// Spins at first, because most waits of a search are short.
template <typename Query, typename Synchronize>
void await_until(Query query, Synchronize synchronize, const char *what) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSpinning = std::chrono::milliseconds(2);
  constexpr auto kNap = std::chrono::microseconds(20);
  const size_t device = current_device();
  const uint32_t limit_ms = g_limits_ms[device];
  if (g_hung[device]) fail(ASR_DEVICE_LOST, "CUDA: %s: the device was given up before", what);
  if (limit_ms == 0) return check(synchronize(), what);
  const Clock::time_point begin = Clock::now();
  cudaError_t status;
  while ((status = query()) == cudaErrorNotReady) {
    const auto waited = Clock::now() - begin;
    if (waited > std::chrono::milliseconds(limit_ms)) {
      g_hung[device] = true;
      cudaGetLastError();
      fail(ASR_DEVICE_LOST, "CUDA: %s has not ended within %g s; the device is given up", what, limit_ms / 1000.0);
    }
    if (waited < kSpinning) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
  cudaGetLastError();  // not being ready is no error
  check(status, what);
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
  const size_t device = device_of(memory);
  if (device < kMaxDevices) {
    if (g_hung[device]) return;
    g_n_bytes[device] -= n_bytes;
  }
  cudaFree(memory);
}

uint64_t n_device_bytes() { return g_n_bytes[current_device()]; }

void *allocate_pinned(size_t n_bytes) {
  void *memory = nullptr;
  if (n_bytes > 0) check(cudaHostAlloc(&memory, n_bytes, cudaHostAllocDefault), "allocating pinned host memory");
  return memory;
}

void free_pinned(void *memory) {
  if (memory == nullptr) return;
  const size_t device = device_of(memory);
  if (device < kMaxDevices && g_hung[device]) return;
  cudaFreeHost(memory);
}

void set_wait_limit(uint32_t limit_ms) { g_limits_ms[current_device()] = limit_ms; }

bool is_hung() { return g_hung[current_device()]; }

void await(cudaStream_t stream, const char *what) {
  await_until([&] { return cudaStreamQuery(stream); }, [&] { return cudaStreamSynchronize(stream); }, what);
}

void await(cudaEvent_t event, const char *what) {
  await_until([&] { return cudaEventQuery(event); }, [&] { return cudaEventSynchronize(event); }, what);
}

}  // namespace asr::cuda
