// SPDX-License-Identifier: Apache-2.0
// An opened GPU: its streams, the clock of its kernels, and the properties that the back end needs. Used by entry.cc, which
// owns it, and by the classes that launch kernels. All its memory is plain device memory or pinned host memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/thread_pool.h"
#include "plugins/cuda/runtime/runtime.h"

namespace asr::gpu {

// Measures how long kernels run, by events around them, from the first call of seconds() on.
class KernelClock {
 public:
  // Kernels are launched in a stream between the two. stop() throws if one could not be.
  void start(cudaStream_t stream) {
    if (running_) begin(stream);
  }
  void stop(cudaStream_t stream) {
    check(cudaGetLastError(), "launching a kernel");
    if (running_) end(stream);
  }
  // Returns the seconds since the last call; the work must be done.
  double seconds();

 private:
  struct Span {
    Event begin{cudaEventDefault}, end{cudaEventDefault};
  };
  void begin(cudaStream_t stream);
  void end(cudaStream_t stream);

  bool running_ = false;
  size_t n_used_ = 0;
  std::vector<Span> spans_;
};

class Device {
 public:
  using Event = gpu::Event;

  Device(uint32_t index, const asr_backend_options &options);  // complete
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  int index() const { return chosen_.index; }
  void use() const;  // makes it the device of the calling thread
  void finish();     // waits until its streams are empty
  MemoryAccount &account() { return account_; }
  uint64_t n_bytes() const { return account_.n_bytes(); }
  uint64_t free_bytes() const;  // device memory that is free now, whoever took the rest

  Queue &compute() { return compute_; }
  Queue &copies() { return copies_; }  // results to the host, beside the next kernels
  KernelClock &clock() { return clock_; }
  static Context context() { return {}; }
  ThreadPool &pool() { return pool_; }
  std::unique_ptr<Pinned<float>> new_pinned() const { return std::make_unique<Pinned<float>>(); }

  uint32_t window_frames() const { return window_frames_; }
  uint32_t max_lanes() const { return max_lanes_; }
  uint32_t max_rows() const { return max_rows_; }
  uint32_t initial_capacity_shift() const { return initial_capacity_shift_; }  // as asr_backend_options says
  uint32_t cluster_blocks() const { return cluster_blocks_; }                  // the same
  uint32_t n_multiprocessors() const { return n_multiprocessors_; }
  size_t memory_bytes() const { return memory_bytes_; }
  size_t shared_bytes() const { return shared_bytes_; }        // most that a block may ask for
  bool has_fast_doubles() const { return has_fast_doubles_; }  // at half the rate of floats
  bool has_tensor_cores() const { return has_tensor_cores_; }  // scores/*_tensor.cu can run
  bool has_wgmma() const { return has_wgmma_; }                // scores/*_wgmma.cu can run
  bool halves_models() const { return halves_models_; }        // 16 bits for a parameter of a Gaussian are enough

 private:
  struct Chosen {
    explicit Chosen(uint32_t index);
    int index;
  };
  const Chosen chosen_;  // first: the members below are made on it
  mutable MemoryAccount account_;
  const uint32_t max_lanes_, window_frames_, max_rows_, initial_capacity_shift_, cluster_blocks_;
  uint32_t n_multiprocessors_ = 0;
  size_t shared_bytes_ = 0, memory_bytes_ = 0;
  bool has_fast_doubles_ = false, has_tensor_cores_ = false, has_wgmma_ = false, halves_models_ = false;
  ThreadPool pool_;
  Queue compute_, copies_;
  KernelClock clock_;
};

// Lists the GPUs for `probe`. Without a driver or a GPU there are none, with a reason.
std::vector<asr_backend_device_info> list_gpus(std::string *reason);

}  // namespace asr::gpu
