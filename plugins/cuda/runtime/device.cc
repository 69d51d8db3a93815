// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/runtime/device.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/base/error.h"

namespace asr::gpu {
namespace {

constexpr int kMinCapability = 75, kTensorCapability = 80, kWgmmaCapability = 90;  // ten times the major number and the minor

int attribute(cudaDeviceAttr attribute, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, device), "asking for a property of the device");
  return value;
}

int capability(int device) {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) + attribute(cudaDevAttrComputeCapabilityMinor, device);
}

}  // namespace

double KernelClock::seconds() {
  double total = 0;
  for (size_t i = 0; i < n_used_; ++i) {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, spans_[i].begin.get(), spans_[i].end.get()), "reading the clock of the device");
    total += double{ms} / 1e3;
  }
  n_used_ = 0;
  running_ = true;
  return total;
}

void KernelClock::begin(cudaStream_t stream) {
  if (n_used_ == spans_.size()) spans_.emplace_back();
  check(cudaEventRecord(spans_[n_used_].begin.get(), stream), "starting the clock of the device");
}

void KernelClock::end(cudaStream_t stream) {
  check(cudaEventRecord(spans_[n_used_].end.get(), stream), "stopping the clock of the device");
  ++n_used_;
}

Device::Chosen::Chosen(uint32_t number) : index(static_cast<int>(number)) {
  int n_devices = 0;
  check(cudaGetDeviceCount(&n_devices), "counting devices");
  if (index >= n_devices) fail(ASR_NO_DEVICE, "cuda:%u does not exist; there are %d devices", number, n_devices);
  check(cudaSetDevice(index), "choosing the device");
}

Device::Device(uint32_t index, const asr_backend_options &options)
    : chosen_(index),
      account_(options.most_memory_bytes),
      max_lanes_(std::max(1u, options.max_lanes)),
      window_frames_(std::max(1u, options.window_frames)),
      max_rows_(max_lanes_ * window_frames_),
      initial_capacity_shift_(options.initial_capacity_shift),
      cluster_blocks_(options.cluster_blocks),
      pool_(options.n_threads) {
  use_account(&account_);
  if (is_hung()) fail(ASR_DEVICE_LOST, "cuda:%u was given up by this process: its work did not end", index);
  set_wait_limit(options.timeout_ms);
  n_multiprocessors_ = static_cast<uint32_t>(attribute(cudaDevAttrMultiProcessorCount, chosen_.index));
  shared_bytes_ = static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, chosen_.index));
  size_t n_free = 0;
  check(cudaMemGetInfo(&n_free, &memory_bytes_), "asking for the device's memory");
  has_fast_doubles_ = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, chosen_.index) <= 2;
  has_tensor_cores_ = capability(chosen_.index) >= kTensorCapability;
  halves_models_ = options.model_bits == 16;
  has_wgmma_ = capability(chosen_.index) == kWgmmaCapability;
}

void Device::use() const {
  use_account(&account_);
  check(cudaSetDevice(chosen_.index), "choosing the device");
}

uint64_t Device::free_bytes() const {
  size_t n_free = 0, n_all = 0;
  check(cudaMemGetInfo(&n_free, &n_all), "asking for the device's memory");
  return std::min<uint64_t>(n_free, account_.n_left());
}

void Device::finish() {
  compute_.finish();
  copies_.finish();
}

std::vector<asr_backend_device_info> list_gpus(std::string *reason) {
  int n_devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&n_devices);
  cudaGetLastError();
  if (status == cudaErrorInsufficientDriver) {
    *reason = "no NVIDIA driver, or one older than this CUDA runtime; install or update it";
    return {};
  }
  if (status != cudaSuccess || n_devices == 0) {
    *reason = std::string("no NVIDIA GPU: ") + cudaGetErrorString(status);
    return {};
  }
  std::vector<asr_backend_device_info> infos(static_cast<size_t>(n_devices));
  for (int i = 0; i < n_devices; ++i) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, i), "asking for the properties of a device");
    asr_backend_device_info &info = infos[static_cast<size_t>(i)];
    std::string(properties.name).copy(info.name, sizeof info.name - 1);
    info.memory_bytes = properties.totalGlobalMem;
    info.score = capability(i) < kMinCapability ? 0 : 200;
    info.n_cores = static_cast<uint32_t>(properties.multiProcessorCount);
  }
  return infos;
}

}  // namespace asr::gpu
