// SPDX-License-Identifier: Apache-2.0
// Lists the OpenCL devices that a back end takes, and opens one with its queues and programs. Used by backend.cc, which owns
// the opened device, and by the classes that launch kernels.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/thread_pool.h"
#include "plugins/ocl/runtime/program.h"
#include "plugins/ocl/runtime/runtime.h"
#include "plugins/ocl/variant.h"

namespace asr::gpu {

// DeviceList has the devices that a back end can use, those of its vendor first. Other devices, such as a CPU under PoCL, score
// less than the CPU back end: they are used when named, never by choice. PoCL's are the last, so that the others' numbers do
// not depend on with_pocl. PoCL's driver writes to the user's cache when it is asked for devices. `reason` says why there is
// none, or why some are left out.
struct DeviceList {
  std::vector<DeviceFacts> devices;
  std::string reason;
};
DeviceList list_devices(const Variant &variant, bool with_pocl = true);
asr_backend_device_info info_of(const Variant &variant, const DeviceFacts &facts);

class Device {
 public:
  using Event = gpu::Event;

  // options: complete. host: gets log messages; nullptr: nobody does.
  Device(const Variant &variant, uint32_t index, const asr_backend_options &options, const asr_host_api *host = nullptr);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  void use() const {}  // threads have no device of their own
  void finish();       // waits until its queues are empty
  MemoryAccount &account() { return context_.account(); }
  uint64_t n_bytes() const { return context_.account().n_bytes(); }
  uint64_t free_bytes() const;  // device memory that may be free now: drivers other than AMD's do not tell what others took

  const Variant &variant() const { return variant_; }
  const DeviceFacts &facts() const { return facts_; }
  const Context &context() const { return context_; }
  Queue &compute() { return compute_; }
  Queue &copies() { return copies_; }  // results to the host, beside the next kernels
  ThreadPool &pool() { return pool_; }
  std::unique_ptr<Pinned<float>> new_pinned() const { return std::make_unique<Pinned<float>>(context_); }
  uint32_t window_frames() const { return window_frames_; }
  uint32_t max_lanes() const { return max_lanes_; }
  uint32_t max_rows() const { return max_rows_; }
  uint32_t initial_capacity_shift() const { return initial_capacity_shift_; }  // as asr_backend_options says
  bool halves_models() const { return halves_models_; }  // 16 bits for a parameter of a Gaussian are enough

  // Returns a program, which is built once. `options` are for the OpenCL compiler ("-D NAME=1").
  const Program &program(const KernelSource &source, const std::string &options = "");
  // Returns a kernel that others can stand in for, or nullptr if the driver refuses it. The log then says once what is done
  // `instead`, and no other options of this source are tried.
  const Kernel *optional_kernel(const KernelSource &source, const std::string &options, const char *name, const char *instead);

  void launch(const Kernel &kernel, Range groups, Range group) { compute_.launch(kernel, groups, group); }

 private:
  const Variant &variant_;
  const asr_host_api *const host_;
  const DeviceFacts facts_;
  const uint32_t max_lanes_, window_frames_, max_rows_, initial_capacity_shift_;
  const bool halves_models_;
  ThreadPool pool_;
  Context context_;
  Queue compute_, copies_;
  std::map<std::string, Program> programs_;         // by name and options
  std::map<std::string, Kernel> optional_kernels_;  // the same
  std::set<std::string> refused_;                   // names of sources
};

}  // namespace asr::gpu
