// SPDX-License-Identifier: Apache-2.0
// The part of OpenCL that the back ends use, with owners for its objects. Every failure is an asr::Error with the name that
// OpenCL has for it. Destructors ignore failures, so that a lost device can be closed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "plugins/gpu/runtime/memory_account.h"
#include "plugins/ocl/runtime/loader.h"

namespace asr::gpu {

// Returns the name of a status, such as "CL_OUT_OF_RESOURCES".
const char *error_name(cl_int status);
// Throws unless status is CL_SUCCESS; `what` names the failed action.
void check(cl_int status, const char *what);

// Owns an object that is released by a function of the API.
template <typename T, auto kRelease>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T object) : object_(object) {}
  Handle(Handle &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) (api().*kRelease)(object_);
  }
  T get() const { return object_; }

 private:
  T object_ = nullptr;
};

// Event marks a point in the work of a queue. An empty event counts as past.
class Event {
 public:
  Event() = default;
  explicit Event(cl_event event) : event_(event) {}
  cl_event get() const { return event_.get(); }
  void wait() const;
  double seconds() const;  // duration of the command, if its queue measures

 private:
  Handle<cl_event, &Api::ReleaseEvent> event_;
};

class Kernel;
class Context;
template <typename T>
class Array;

// Sizes of a launch in up to two dimensions.
struct Range {
  size_t x, y = 1;
};

// Queue runs its work in order, concurrently with other queues.
class Queue {
 public:
  explicit Queue(const Context &context);

  // Offsets and sizes in bytes. Host memory must stay until the work is done.
  void write(cl_mem to, size_t offset, const void *from, size_t n_bytes);
  void read(cl_mem from, size_t offset, void *to, size_t n_bytes);
  // Copy n elements, from element `first` of the array on.
  template <typename T>
  void write(const Array<T> &to, size_t first, const T *from, size_t n) {
    write(to.get(), first * sizeof(T), from, n * sizeof(T));
  }
  template <typename T>
  void read(const Array<T> &from, size_t first, T *to, size_t n) {
    read(from.get(), first * sizeof(T), to, n * sizeof(T));
  }
  void copy(cl_mem from, size_t from_offset, cl_mem to, size_t to_offset, size_t n_bytes);
  // The first n elements.
  template <typename T>
  void copy(const Array<T> &from, Array<T> *to, size_t n) {
    copy(from.get(), 0, to->get(), 0, n * sizeof(T));
  }
  void fill(cl_mem to, size_t offset, uint32_t word, size_t n_bytes);
  // Sets the first n elements to zero.
  template <typename T>
  void clear(Array<T> *array, size_t n) {
    fill(array->get(), 0, 0, n * sizeof(T));
  }
  // groups of `group` work items
  void launch(const Kernel &kernel, Range groups, Range group);
  // Returns the seconds that kernels ran since the last call, which must be done. The first call starts the clock.
  double kernel_seconds();

  void mark(Event *event);            // after all work enqueued so far; flushes the queue
  void wait_for(const Event &event);  // precedes work enqueued from now on
  void flush();
  void finish();
  cl_command_queue get() const { return queue_.get(); }

 private:
  void create(cl_command_queue_properties properties);

  const Context *context_;
  Handle<cl_command_queue, &Api::ReleaseCommandQueue> queue_;
  bool measures_ = false;
  std::vector<Event> measured_;  // kernels since the last call
};

// Context is a device's context, with a queue for copies that must be complete on return, and the account of its memory.
class Context {
 public:
  explicit Context(cl_device_id device, uint64_t most_memory_bytes = 0);
  cl_context get() const { return context_.get(); }
  cl_device_id device() const { return device_; }
  Queue &at_once() const { return at_once_; }
  MemoryAccount &account() const { return account_; }

 private:
  mutable MemoryAccount account_;
  cl_device_id device_;
  Handle<cl_context, &Api::ReleaseContext> context_;
  mutable Queue at_once_;
};

Handle<cl_mem, &Api::ReleaseMemObject> allocate(const Context &context, cl_mem_flags flags, size_t n_bytes);
// Has the driver allocate a buffer now. Some do that when it is first used, where a failure comes too late.
void make_resident(const Context &context, cl_mem memory);

// Memory of the device, taken from its context's account.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const Context &context, size_t n_bytes) {
    constexpr size_t kLarge = size_t{1} << 20;  // drivers have smaller pieces ready
    context.account().take(n_bytes, [&] {
      auto memory = allocate(context, CL_MEM_READ_WRITE, n_bytes);
      if (n_bytes >= kLarge) make_resident(context, memory.get());
      memory_ = std::move(memory);
    });
    context_ = &context, n_bytes_ = n_bytes;
  }
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(context_, other.context_);
    std::swap(n_bytes_, other.n_bytes_);
    return *this;
  }
  ~DeviceMemory() {
    if (context_ != nullptr) context_->account().give_back(n_bytes_);
  }
  cl_mem get() const { return memory_.get(); }

 private:
  Handle<cl_mem, &Api::ReleaseMemObject> memory_;
  const Context *context_ = nullptr;
  size_t n_bytes_ = 0;
};

// Array has n uninitialised elements on the device.
template <typename T>
class Array {
 public:
  explicit Array(const Context &context, size_t n = 0) : context_(&context) { reserve(n); }
  Array(const Context &context, const std::vector<T> &host) : Array(context, host.size()) {
    if (host.empty()) return;
    context.at_once().write(get(), 0, host.data(), host.size() * sizeof(T));
    context.at_once().finish();
  }
  cl_mem get() const { return memory_.get(); }
  size_t size() const { return n_; }

  // Raises the capacity to n elements, and at least one. The contents are lost if the array grows.
  void reserve(size_t n) {
    if (n <= n_ && get() != nullptr) return;
    release();
    memory_ = DeviceMemory(*context_, n * sizeof(T));
    n_ = n;
  }
  // Frees the memory; work under way ends first.
  void release() noexcept {
    memory_ = DeviceMemory();
    n_ = 0;
  }

 private:
  const Context *context_;
  DeviceMemory memory_;
  size_t n_ = 0;
};

// Pinned has n elements of host memory that the device copies from and to without the host's help.
template <typename T>
class Pinned {
 public:
  explicit Pinned(const Context &context) : context_(&context) {}
  Pinned(Pinned &&) = delete;
  ~Pinned() { release(); }

  T *data() { return data_; }
  size_t size() const { return n_; }
  void reserve(size_t n);

 private:
  void release();
  const Context *context_;
  Handle<cl_mem, &Api::ReleaseMemObject> memory_;
  T *data_ = nullptr;
  size_t n_ = 0;
};

void *map(const Context &context, cl_mem memory, size_t n_bytes);
void unmap(const Context &context, cl_mem memory, void *data);

template <typename T>
void Pinned<T>::reserve(size_t n) {
  if (n <= n_) return;
  release();
  memory_ = allocate(*context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, n * sizeof(T));
  data_ = static_cast<T *>(map(*context_, memory_.get(), n * sizeof(T)));
  context_->account().note_pinned(n * sizeof(T));
  n_ = n;
}

template <typename T>
void Pinned<T>::release() {
  if (data_ != nullptr) {
    unmap(*context_, memory_.get(), data_);
    context_->account().forget_pinned(n_ * sizeof(T));
  }
  data_ = nullptr;
  n_ = 0;
  memory_ = {};
}

// A buffer of the caller's, as an argument of a kernel.
struct BorrowedMemory {
  cl_mem memory;
};

class Kernel {
 public:
  Kernel(cl_program program, const char *name);
  cl_kernel get() const { return kernel_.get(); }

  // Sets all arguments: device arrays, and numbers of exactly the types that the kernel declares.
  template <typename... Args>
  void set(const Args &...args) const {
    cl_uint index = 0;
    (set_one(index++, args), ...);
  }
  // Set one argument; an array of uint32_t is a vector, and a structure is one of the kernel's.
  template <typename T>
  void set_one(cl_uint index, const Array<T> &array) const {
    const cl_mem memory = array.get();
    set_bytes(index, sizeof memory, &memory);
  }
  void set_one(cl_uint index, BorrowedMemory borrowed) const { set_bytes(index, sizeof borrowed.memory, &borrowed.memory); }
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  void set_one(cl_uint index, T value) const {
    static_assert(!std::is_same_v<T, bool>, "kernels take no bool");
    set_bytes(index, sizeof value, &value);
  }
  template <typename T, typename = std::enable_if_t<std::is_class_v<T> && std::is_trivially_copyable_v<T>>, typename = void>
  void set_one(cl_uint index, const T &structure) const {
    set_bytes(index, sizeof structure, &structure);
  }

 private:
  void set_bytes(cl_uint index, size_t n_bytes, const void *value) const;

  Handle<cl_kernel, &Api::ReleaseKernel> kernel_;
};

}  // namespace asr::gpu
