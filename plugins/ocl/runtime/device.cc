// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/runtime/device.h"

#include <unistd.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/kept_signals.h"

namespace asr::gpu {
namespace {

constexpr int32_t kOwnScore = 150, kForeignScore = 1;  // CUDA has 200 on the same GPU; the CPU back end has 10
constexpr size_t kMinLocalBytes = 32768, kMinGroupSize = 256;
constexpr cl_device_info kNvidiaCapability = 0x4000;  // CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV
constexpr cl_device_info kAmdFreeMemory = 0x4039;     // CL_DEVICE_GLOBAL_FREE_MEMORY_AMD: kilobytes, of all and in one piece
constexpr cl_int kNoPlatform = -1001;                 // CL_PLATFORM_NOT_FOUND_KHR of cl_khr_icd

template <typename T>
T property(cl_device_id device, cl_device_info what) {
  T value{};
  check(api().GetDeviceInfo(device, what, sizeof value, &value, nullptr), "asking for a property of the device");
  return value;
}

std::string text(cl_device_id device, cl_device_info what) {
  size_t n_bytes = 0;
  check(api().GetDeviceInfo(device, what, 0, nullptr, &n_bytes), "asking for a property of the device");
  std::string value(n_bytes, '\0');
  check(api().GetDeviceInfo(device, what, n_bytes, value.data(), nullptr), "asking for a property of the device");
  return value.substr(0, value.find('\0'));
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  char value[256] = "";
  api().GetPlatformInfo(platform, what, sizeof value - 1, value, nullptr);
  return value;
}

bool is_pocl(cl_platform_id platform) { return platform_text(platform, CL_PLATFORM_NAME) == "Portable Computing Language"; }

// PoCL ends the process when it is asked for devices and cannot read the machine's topology, as in containers without /sys.
bool would_abort(cl_platform_id platform) { return is_pocl(platform) && access("/sys/devices/system/cpu", R_OK) != 0; }

// Returns the capability's major number; 0 for other devices.
uint32_t nvidia_capability(cl_device_id device) {
  cl_uint major = 0;
  const cl_int status = api().GetDeviceInfo(device, kNvidiaCapability, sizeof major, &major, nullptr);
  return status == CL_SUCCESS ? major : 0;
}

DeviceFacts facts_of(cl_platform_id platform, cl_device_id device) {
  DeviceFacts facts;
  facts.id = device;
  facts.name = text(device, CL_DEVICE_NAME);
  facts.driver = facts.name + "; " + text(device, CL_DEVICE_VERSION) + "; " + text(device, CL_DRIVER_VERSION) + "; " +
                 platform_text(platform, CL_PLATFORM_VERSION);
  facts.vendor_id = property<cl_uint>(device, CL_DEVICE_VENDOR_ID);
  facts.n_compute_units = property<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  facts.memory_bytes = property<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  facts.local_bytes = property<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  facts.group_size = property<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  const auto type = property<cl_device_type>(device, CL_DEVICE_TYPE);
  if ((type & CL_DEVICE_TYPE_GPU) != 0) facts.nvidia_capability = nvidia_capability(device);
  facts.is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0, facts.is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
  facts.is_little_endian = property<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE) != CL_FALSE;
  facts.has_compiler = property<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) != CL_FALSE;
  const std::string extensions = text(device, CL_DEVICE_EXTENSIONS);
  const auto has = [&](const char *extension) { return extensions.find(extension) != std::string::npos; };
  facts.has_int64_atomics = has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics");
  facts.has_fp64 = has("cl_khr_fp64");
  facts.has_subgroups = has("cl_khr_subgroups");
  return facts;
}

// Lists the properties that a device lacks to run the kernels; "" if none.
std::string what_is_missing(const DeviceFacts &facts) {
  std::string missing;
  const auto need = [&](bool there, const char *what) {
    if (!there) missing += (missing.empty() ? "" : ", ") + std::string(what);
  };
  need(facts.has_compiler, "a compiler");
  need(facts.is_little_endian, "little-endian numbers");
  need(facts.local_bytes >= kMinLocalBytes, "32 KiB of local memory");
  need(facts.group_size >= kMinGroupSize, "work-groups of 256");
  return missing;
}

std::vector<cl_platform_id> list_platforms() {
  cl_uint n = 0;
  const cl_int status = api().GetPlatformIDs(0, nullptr, &n);
  if (status == kNoPlatform || n == 0) return {};
  check(status, "listing platforms");
  std::vector<cl_platform_id> platforms(n);
  check(api().GetPlatformIDs(n, platforms.data(), nullptr), "listing platforms");
  return platforms;
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  cl_uint n = 0;
  if (would_abort(platform)) return {};
  if (api().GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n) != CL_SUCCESS || n == 0) return {};
  std::vector<cl_device_id> devices(n);
  check(api().GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, devices.data(), nullptr), "listing devices");
  return devices;
}

bool is_own(const Variant &variant, const DeviceFacts &facts) { return facts.is_gpu && facts.vendor_id == variant.vendor_id; }

// Adds the platform's devices to the list, or what they lack to its reason.
void add_devices(cl_platform_id platform, DeviceList *list) {
  for (const cl_device_id device : devices_of(platform)) {
    DeviceFacts facts = facts_of(platform, device);
    const std::string missing = what_is_missing(facts);
    if (missing.empty()) {
      list->devices.push_back(std::move(facts));
    } else {
      list->reason += (list->reason.empty() ? "" : "; ") + facts.name + " lacks " + missing;
    }
  }
}

DeviceFacts find_device(const Variant &variant, uint32_t index) {
  const DeviceList list = list_devices(variant);
  if (index < list.devices.size()) return list.devices[index];
  fail(ASR_NO_DEVICE, "%s:%u does not exist; there are %zu devices%s%s", variant.name, index, list.devices.size(),
       list.reason.empty() ? "" : ": ", list.reason.c_str());
}

}  // namespace

DeviceList list_devices(const Variant &variant, bool with_pocl) {
  const SignalsKept signals;  // drivers install handlers when they are loaded, and when they are asked for devices
  DeviceList list;
  std::vector<cl_platform_id> platforms = list_platforms();
  const auto pocl = std::stable_partition(platforms.begin(), platforms.end(), [](auto platform) { return !is_pocl(platform); });
  const auto add = [&](auto begin, auto end) {
    const auto n_before = static_cast<std::ptrdiff_t>(list.devices.size());
    for (; begin != end; ++begin) add_devices(*begin, &list);
    std::stable_partition(list.devices.begin() + n_before, list.devices.end(),
                          [&](const auto &facts) { return is_own(variant, facts); });
  };
  add(platforms.begin(), pocl);
  if (with_pocl) add(pocl, platforms.end());
  if (platforms.empty()) {
    list.reason = "no OpenCL driver is installed (none is listed in /etc/OpenCL/vendors)";
  } else if (list.devices.empty() && list.reason.empty()) {
    list.reason = "the OpenCL drivers here have no devices, but for PoCL, whose devices must be named";
    if (with_pocl) list.reason = "the OpenCL drivers here have no devices";
  }
  return list;
}

asr_backend_device_info info_of(const Variant &variant, const DeviceFacts &facts) {
  asr_backend_device_info info{};
  facts.name.copy(info.name, sizeof info.name - 1);
  info.memory_bytes = facts.memory_bytes;
  info.score = is_own(variant, facts) ? kOwnScore : kForeignScore;
  info.n_cores = facts.n_compute_units;
  return info;
}

Device::Device(const Variant &variant, uint32_t index, const asr_backend_options &options, const asr_host_api *host)
    : variant_(variant),
      host_(host),
      facts_(find_device(variant, index)),
      max_lanes_(std::max(1u, options.max_lanes)),
      window_frames_(std::max(1u, options.window_frames)),
      max_rows_(max_lanes_ * window_frames_),
      initial_capacity_shift_(options.initial_capacity_shift),
      halves_models_(options.model_bits == 16),
      pool_(options.n_threads),
      context_(facts_.id, options.most_memory_bytes),
      compute_(context_),
      copies_(context_) {}

uint64_t Device::free_bytes() const {
  size_t free_kilobytes[2] = {SIZE_MAX / 1024, 0};
  if (facts_.is_gpu) api().GetDeviceInfo(facts_.id, kAmdFreeMemory, sizeof free_kilobytes, free_kilobytes, nullptr);
  return std::min({facts_.memory_bytes, uint64_t{free_kilobytes[0]} * 1024, context_.account().n_left()});
}

void Device::finish() {
  compute_.finish();
  copies_.finish();
}

const Program &Device::program(const KernelSource &source, const std::string &options) {
  const std::string key = source.name + (' ' + options);
  auto found = programs_.find(key);
  if (found == programs_.end()) {
    found = programs_.emplace(key, Program(context_, facts_.driver, source, "-cl-std=CL1.2 -w " + options)).first;
  }
  return found->second;
}

const Kernel *Device::optional_kernel(const KernelSource &source, const std::string &options, const char *name,
                                      const char *instead) {
  if (refused_.count(source.name) != 0) return nullptr;
  const std::string key = source.name + (' ' + options);
  auto found = optional_kernels_.find(key);
  if (found != optional_kernels_.end()) return &found->second;
  try {
    return &optional_kernels_.emplace(key, program(source, options).kernel(name)).first->second;
  } catch (const Error &error) {
    if (error.code() == ASR_OUT_OF_MEMORY) throw;
    refused_.insert(source.name);
    if (host_ != nullptr) host_->log(ASR_LOG_WARNING, format("%s: %s: %s", variant_.name, instead, error.what()).c_str());
    return nullptr;
  }
}

}  // namespace asr::gpu
