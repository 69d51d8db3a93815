// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA runtime that the back end uses, with owners for memory, streams and events. Every failure is an
// asr::Error with CUDA's own text. Destructors ignore failures, so that a lost device can be closed.
//
// Waiting has a limit for each device. Work that has not ended by then makes the device hung for the rest of the
// process. Every wait for it and every allocation fails at once. Owners leak their memory, because CUDA would wait for
// the work before it frees anything. Memory is freed after a wait with that limit for all streams of its device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "plugins/gpu/runtime/memory_account.h"

namespace asr::gpu {

// Throws unless status is cudaSuccess; `what` names the failed action.
void check(cudaError_t status, const char *what);

// Memory is taken from the account of the opened device that the calling thread uses (Device::use). The functions that
// allocate return that account, to which it is given back.
void use_account(MemoryAccount *account);
MemoryAccount *allocate_device(size_t n_bytes, void **memory);
void free_device(void *memory, size_t n_bytes, MemoryAccount *account);
MemoryAccount *allocate_pinned(size_t n_bytes, void **memory);
void free_pinned(void *memory, size_t n_bytes, MemoryAccount *account);

// Create streams and set the limit of waits, for the device of the calling thread.
cudaStream_t create_stream(bool urgent);
void destroy_stream(cudaStream_t stream);
void set_wait_limit(uint32_t limit_ms);  // 0: none, the default
bool is_hung();
// Wait until the work put into a stream, or before an event, has ended; `what` as for check().
void await(cudaStream_t stream, const char *what);
void await(cudaEvent_t event, const char *what);

// Context names the device to arrays, as OpenCL's does. CUDA has the device of the calling thread instead (Device::use).
struct Context {};

enum class Place { kDevice, kPinned };

// Elements owns n uninitialised elements in memory of the device, or in memory of the host that the device copies from and to
// without the host's help.
template <typename T, Place kPlace>
class Elements {
 public:
  Elements() = default;
  explicit Elements(const Context &, size_t n = 0) : Elements(n) {}
  explicit Elements(size_t n) : n_(n) {
    void *memory = nullptr;
    account_ = kPlace == Place::kDevice ? allocate_device(n * sizeof(T), &memory) : allocate_pinned(n * sizeof(T), &memory);
    data_ = static_cast<T *>(memory);
  }
  Elements(Elements &&other) noexcept { *this = std::move(other); }
  Elements &operator=(Elements &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(n_, other.n_);
    std::swap(account_, other.account_);
    return *this;
  }
  ~Elements() {
    if (kPlace == Place::kDevice) {
      free_device(data_, n_ * sizeof(T), account_);
    } else {
      free_pinned(data_, n_ * sizeof(T), account_);
    }
  }

  T *data() { return data_; }
  const T *data() const { return data_; }
  size_t size() const { return n_; }

  // Raises the capacity to n elements. The contents are lost if the array grows.
  void reserve(size_t n) {
    if (n > n_) {
      release();
      *this = Elements(n);
    }
  }
  // Frees the memory; work under way ends first.
  void release() noexcept { *this = Elements(); }

 private:
  T *data_ = nullptr;
  size_t n_ = 0;
  MemoryAccount *account_ = nullptr;
};

template <typename T>
using Array = Elements<T, Place::kDevice>;
template <typename T>
using Pinned = Elements<T, Place::kPinned>;

// Returns a copy of host data on the device, complete on return. cudaMemcpy() may return while the bytes of pageable memory
// are on their way, and the streams of this file do not wait for CUDA's own stream.
template <typename T>
Array<T> to_device(const std::vector<T> &host) {
  constexpr const char *kWhat = "copying a table to the device";
  Array<T> array(host.size());
  check(cudaMemcpyAsync(array.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice, cudaStreamLegacy), kWhat);
  await(cudaStreamLegacy, kWhat);
  return array;
}

// Reserves capacity for n elements and half as many more, so that a rising load seldom frees memory in use.
template <typename T>
void reserve_amply(size_t n, Array<T> *array) {
  if (n > array->size()) array->reserve(n + n / 2);
}

// Copies a table of the host, in a stream, into an array that grows to it. The table may change after return.
template <typename T>
void assign(const std::vector<T> &host, Array<T> *array, cudaStream_t stream) {
  array->reserve(host.size());
  check(cudaMemcpyAsync(array->data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
        "copying a table to the device");
}

// Event marks a point in the work of a stream. An event that was never marked counts as past.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    check(cudaEventCreateWithFlags(&event_, flags), "creating an event");
  }
  Event(Event &&other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  ~Event() {
    if (event_ != nullptr && !is_hung()) cudaEventDestroy(event_);
  }
  cudaEvent_t get() const { return event_; }
  void wait() const { await(event_, "waiting for the device"); }

 private:
  cudaEvent_t event_ = nullptr;
};

// Queue, a stream of CUDA, runs its work in order, concurrently with other streams.
class Queue {
 public:
  enum Priority { kUsual, kUrgent };
  explicit Queue(const Context &) : Queue() {}
  explicit Queue(Priority priority = kUsual) : stream_(create_stream(priority == kUrgent)) {}
  ~Queue() { destroy_stream(stream_); }
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;
  cudaStream_t get() const { return stream_; }

  // Copies n elements, from element `first` of the array on. Pinned memory must stay until the work is done.
  template <typename T>
  void write(Array<T> &to, size_t first, const T *from, size_t n) {
    check(cudaMemcpyAsync(to.data() + first, from, n * sizeof(T), cudaMemcpyHostToDevice, stream_), "copying to the device");
  }
  template <typename T>
  void read(const Array<T> &from, size_t first, T *to, size_t n) {
    check(cudaMemcpyAsync(to, from.data() + first, n * sizeof(T), cudaMemcpyDeviceToHost, stream_), "copying to the host");
  }
  // Copies the first n elements.
  template <typename T>
  void copy(const Array<T> &from, Array<T> *to, size_t n) {
    check(cudaMemcpyAsync(to->data(), from.data(), n * sizeof(T), cudaMemcpyDeviceToDevice, stream_), "copying on the device");
  }
  // Sets the first n elements to zero.
  template <typename T>
  void clear(Array<T> *array, size_t n) {
    check(cudaMemsetAsync(array->data(), 0, n * sizeof(T), stream_), "clearing memory of the device");
  }
  void mark(Event *event) { check(cudaEventRecord(event->get(), stream_), "ordering the work of the device"); }
  // Makes work that is enqueued from now on wait for the event.
  void wait_for(const Event &event) { check(cudaStreamWaitEvent(stream_, event.get()), "ordering the work of the device"); }
  void finish() { await(stream_, "waiting for the device"); }

 private:
  const cudaStream_t stream_;
};

}  // namespace asr::gpu
