// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/runtime/gpus_here.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace asr::gpu {
namespace {

// Devices and files of kernel drivers. Containers have some of them, often without /sys. NVIDIA's devices may appear only when
// a program uses a driver for the first time after the machine's start; PCI shows these GPUs.
constexpr const char *kSigns[] = {
    "/dev/nvidiactl", "/dev/nvidia0", "/proc/driver/nvidia/version",  // NVIDIA
    "/dev/kfd",                                                       // AMD
    "/dev/dxg",                                                       // a GPU of Windows, under WSL
};
constexpr uint32_t kNvidia = 0x10de, kAmd = 0x1002;          // PCI numbers of vendors
constexpr uint32_t kDisplay = 0x03, kProcessingUnit = 0x12;  // and of classes: both make other parts, too

// Returns the number in a file of /sys such as "0x10de"; 0 if there is none.
uint32_t number_in(const std::filesystem::path &path) {
  std::ifstream file(path);
  uint32_t number = 0;
  file >> std::hex >> number;
  return file ? number : 0;
}

bool is_gpu(const std::filesystem::path &device) {
  const uint32_t vendor = number_in(device / "vendor");
  if (vendor != kNvidia && vendor != kAmd) return false;
  const uint32_t base_class = number_in(device / "class") >> 16;
  return base_class == kDisplay || base_class == kProcessingUnit;
}

}  // namespace

bool gpus_here(const std::string &root) {
  std::error_code error;
  for (const char *sign : kSigns) {
    if (std::filesystem::exists(root + sign, error)) return true;
  }
  std::filesystem::directory_iterator device(root + "/sys/bus/pci/devices", error);
  for (; !error && device != std::filesystem::directory_iterator(); device.increment(error)) {
    if (is_gpu(device->path())) return true;
  }
  return false;
}

}  // namespace asr::gpu
