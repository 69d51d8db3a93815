// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/runtime/runtime.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "core/base/error.h"

namespace asr::gpu {
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
std::atomic<uint32_t> g_limits_ms[kMaxDevices];
std::atomic<bool> g_hung[kMaxDevices];

// g_streams has all streams that exist, with their device.
std::mutex g_streams_mutex;
std::vector<std::pair<cudaStream_t, size_t>> g_streams;

thread_local MemoryAccount *t_account = nullptr;

size_t current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return static_cast<size_t>(device) % kMaxDevices;
}

// Returns the device that the memory belongs to; kMaxDevices if CUDA has lost that.
size_t device_of(const void *memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess || attributes.device < 0) return kMaxDevices;
  return static_cast<size_t>(attributes.device) % kMaxDevices;
}

// Repeats a query until the work has ended. Returns its status, or cudaErrorNotReady at the limit: then the device is hung.
// Spins at first, because most waits of a search are short.
template <typename Query>
cudaError_t ask_until_limit(size_t device, Query query) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSpinning = std::chrono::milliseconds(2);
  constexpr auto kNap = std::chrono::microseconds(20);
  const Clock::time_point begin = Clock::now();
  cudaError_t status;
  while ((status = query()) == cudaErrorNotReady) {
    const auto waited = Clock::now() - begin;
    if (waited > std::chrono::milliseconds(g_limits_ms[device])) {
      g_hung[device] = true;
      break;
    }
    if (waited < kSpinning) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
  cudaGetLastError();  // not being ready is no error
  return status;
}

void check_not_hung(size_t device, const char *what) {
  if (g_hung[device]) fail(ASR_DEVICE_LOST, "CUDA: %s: the device was given up before", what);
}

template <typename Query, typename Synchronize>
void await_until(Query query, Synchronize synchronize, const char *what) {
  const size_t device = current_device();
  check_not_hung(device, what);
  const uint32_t limit_ms = g_limits_ms[device];
  if (limit_ms == 0) return check(synchronize(), what);
  const cudaError_t status = ask_until_limit(device, query);
  if (status == cudaErrorNotReady) {
    fail(ASR_DEVICE_LOST, "CUDA: %s has not ended within %g s; the device is given up", what, limit_ms / 1000.0);
  }
  check(status, what);
}

// Returns true if the work of all streams of a device ends within its limit, so that CUDA does not wait without end.
bool comes_to_rest(size_t device) {
  if (g_hung[device]) return false;
  if (g_limits_ms[device] == 0) return true;
  std::lock_guard lock(g_streams_mutex);
  for (const auto &[stream, its_device] : g_streams) {
    if (its_device != device) continue;
    const auto query = [stream = stream] { return cudaStreamQuery(stream); };
    if (ask_until_limit(device, query) == cudaErrorNotReady) return false;
  }
  return true;
}

}  // namespace

void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that an error that can be survived is not reported again
  fail(status_of(status), "CUDA: %s: %s (%s)", what, cudaGetErrorString(status), cudaGetErrorName(status));
}

void use_account(MemoryAccount *account) { t_account = account; }

MemoryAccount *allocate_device(size_t n_bytes, void **memory) {
  MemoryAccount *const account = t_account;
  if (n_bytes == 0) return account;
  check_not_hung(current_device(), "allocating device memory");
  account->take(n_bytes, [&] { check(cudaMalloc(memory, n_bytes), "allocating device memory"); });
  return account;
}

void free_device(void *memory, size_t n_bytes, MemoryAccount *account) {
  if (memory == nullptr) return;
  account->give_back(n_bytes);  // even if CUDA leaks it
  const size_t device = device_of(memory);
  if (device < kMaxDevices && !comes_to_rest(device)) return;
  cudaFree(memory);
}

MemoryAccount *allocate_pinned(size_t n_bytes, void **memory) {
  MemoryAccount *const account = t_account;
  if (n_bytes == 0) return account;
  check_not_hung(current_device(), "allocating pinned host memory");
  check(cudaHostAlloc(memory, n_bytes, cudaHostAllocDefault), "allocating pinned host memory");
  account->note_pinned(n_bytes);
  return account;
}

void free_pinned(void *memory, size_t n_bytes, MemoryAccount *account) {
  if (memory == nullptr) return;
  account->forget_pinned(n_bytes);
  const size_t device = device_of(memory);
  if (device < kMaxDevices && !comes_to_rest(device)) return;
  cudaFreeHost(memory);
}

cudaStream_t create_stream(bool urgent) {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "creating a stream");
  std::lock_guard lock(g_streams_mutex);
  g_streams.reserve(g_streams.size() + 1);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent ? greatest : least), "creating a stream");
  g_streams.emplace_back(stream, current_device());
  return stream;
}

void destroy_stream(cudaStream_t stream) {
  std::lock_guard lock(g_streams_mutex);
  const auto entry = std::find_if(g_streams.begin(), g_streams.end(), [&](const auto &other) { return other.first == stream; });
  const bool hung = g_hung[entry->second];
  g_streams.erase(entry);
  if (!hung) cudaStreamDestroy(stream);
}

void set_wait_limit(uint32_t limit_ms) { g_limits_ms[current_device()] = limit_ms; }

bool is_hung() { return g_hung[current_device()]; }

void await(cudaStream_t stream, const char *what) {
  await_until([&] { return cudaStreamQuery(stream); }, [&] { return cudaStreamSynchronize(stream); }, what);
}

void await(cudaEvent_t event, const char *what) {
  await_until([&] { return cudaEventQuery(event); }, [&] { return cudaEventSynchronize(event); }, what);
}

}  // namespace asr::gpu
