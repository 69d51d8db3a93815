// SPDX-License-Identifier: Apache-2.0
// Tests OpenCL that is missing, lacks something or fails: functions of the API are replaced by failing ones. Needs an ICD
// loader; the tests with a device need one, such as PoCL.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <optional>

#include "plugins/ocl/runtime/device.h"
#include "plugins/ocl/runtime/kernels.h"
#include "plugins/ocl/runtime/program_cache.h"
#include "tests/unit/scratch.h"

namespace asr::gpu {
namespace {

constexpr Variant kVariant = {"ocl_test", "nobody", 0, nullptr, nullptr, 4096, false};
constexpr asr_backend_options kOptions = {sizeof(asr_backend_options), 1, 8, 1, 0, 0, 0, 0, 0, 0, 0};
constexpr char kRows[] = "-DTILE_ROWS=8 -DDIMS=4";

int g_n_compiled = 0;
const char *g_hidden = "";
Api g_real;

cl_int no_platform(cl_uint, cl_platform_id *, cl_uint *n) {
  if (n != nullptr) *n = 0;
  return -1001;
}
cl_int no_devices(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *n) {
  if (n != nullptr) *n = 0;
  return CL_DEVICE_NOT_FOUND;
}
// Returns the extensions without g_hidden.
cl_int hide_extension(cl_device_id device, cl_device_info what, size_t n_bytes, void *value, size_t *n_written) {
  const cl_int status = g_real.GetDeviceInfo(device, what, n_bytes, value, n_written);
  if (what != CL_DEVICE_EXTENSIONS || value == nullptr) return status;
  for (char *found; (found = std::strstr(static_cast<char *>(value), g_hidden)) != nullptr;) *found = '-';
  return status;
}
cl_int no_compiler(cl_device_id device, cl_device_info what, size_t n_bytes, void *value, size_t *n_written) {
  const cl_int status = g_real.GetDeviceInfo(device, what, n_bytes, value, n_written);
  if (what == CL_DEVICE_COMPILER_AVAILABLE && value != nullptr) *static_cast<cl_bool *>(value) = CL_FALSE;
  return status;
}
cl_program count_compiled(cl_context context, cl_uint n, const char **texts, const size_t *sizes, cl_int *status) {
  ++g_n_compiled;
  return g_real.CreateProgramWithSource(context, n, texts, sizes, status);
}
cl_int failing_launch(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
                      const cl_event *, cl_event *) {
  return CL_OUT_OF_RESOURCES;
}
cl_mem failing_buffer(cl_context, cl_mem_flags, size_t, void *, cl_int *status) {
  *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return nullptr;
}

class FailuresTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("POCL_CACHE_DIR", SENONE_BUILD_DIR "/tests/cache/pocl", 0);  // PoCL's own cache outlives this test
    setenv("XDG_CACHE_HOME", (scratch_ / "cache").c_str(), 1);
    g_n_compiled = 0;
    try {
      g_real = api();
    } catch (const Error &error) {
      GTEST_SKIP() << error.what();
    }
    loaded_ = true;
  }
  void TearDown() override {
    if (loaded_) api() = g_real;
  }
  std::optional<Device> open() const {
    if (list_devices(kVariant).devices.empty()) return std::nullopt;
    return std::optional<Device>(std::in_place, kVariant, 0, kOptions);
  }
  test::Scratch scratch_;
  bool loaded_ = false;
};

// NOLINTBEGIN(bugprone-macro-parentheses): a name
#define OPEN_OR_SKIP(device)             \
  std::optional<Device> device = open(); \
  if (!device) GTEST_SKIP() << list_devices(kVariant).reason
// NOLINTEND(bugprone-macro-parentheses)

TEST_F(FailuresTest, NoDriver) {
  api().GetPlatformIDs = no_platform;
  const DeviceList list = list_devices(kVariant);
  EXPECT_TRUE(list.devices.empty());
  EXPECT_NE(list.reason.find("no OpenCL driver is installed"), std::string::npos) << list.reason;
  test::expect_error([] { Device(kVariant, 0, kOptions); }, ASR_NO_DEVICE, "ocl_test:0 does not exist");
}

TEST_F(FailuresTest, DriverWithoutDevices) {
  OPEN_OR_SKIP(device);
  api().GetDeviceIDs = no_devices;
  const DeviceList list = list_devices(kVariant);
  EXPECT_TRUE(list.devices.empty());
  EXPECT_NE(list.reason.find("have no devices"), std::string::npos) << list.reason;
}

TEST_F(FailuresTest, DeviceWithoutCompiler) {
  OPEN_OR_SKIP(device);
  api().GetDeviceInfo = no_compiler;
  const DeviceList list = list_devices(kVariant);
  EXPECT_TRUE(list.devices.empty());
  EXPECT_NE(list.reason.find("lacks a compiler"), std::string::npos) << list.reason;
}

TEST_F(FailuresTest, DeviceWithoutWideTypesIsUsedWithoutThem) {
  OPEN_OR_SKIP(device);
  api().GetDeviceInfo = hide_extension;
  g_hidden = "cl_khr_int64_base_atomics";
  EXPECT_FALSE(list_devices(kVariant).devices.at(0).has_int64_atomics);
  g_hidden = "cl_khr_fp64";
  EXPECT_FALSE(list_devices(kVariant).devices.at(0).has_fp64);
}

TEST_F(FailuresTest, KernelThatDoesNotCompile) {
  OPEN_OR_SKIP(device);
  const KernelSource broken = {"broken.cl", "__kernel void broken() { this is not C; }"};
  test::expect_error([&] { device->program(broken); }, ASR_UNSUPPORTED,
                     "does not compile broken.cl (CL_BUILD_PROGRAM_FAILURE): ");
}

TEST_F(FailuresTest, PtxThatTheDriverDoesNotTake) {
  OPEN_OR_SKIP(device);
  const KernelSource ptx = {"some_wgmma", ".version 8.0\n.target sm_90a\nnot an instruction\n", true};
  test::expect_error([&] { device->program(ptx); }, ASR_UNSUPPORTED, "does not take the PTX of some_wgmma");
  EXPECT_EQ(device->optional_kernel(ptx, "", "kernel", "others are used"), nullptr);
}

TEST_F(FailuresTest, CompiledOnceAndAgainWhenTheCacheIsDamaged) {
  OPEN_OR_SKIP(device);
  api().CreateProgramWithSource = count_compiled;
  const auto compile = [&] { open()->program(kernel_gmm_rows, kRows).kernel("gmm_tile_rows"); };
  compile();
  compile();
  EXPECT_EQ(g_n_compiled, 1);
  for (const auto &entry : std::filesystem::directory_iterator((scratch_ / "cache/senone"))) {
    std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) - 1);
  }
  compile();
  compile();
  EXPECT_EQ(g_n_compiled, 2);
}

// A complete file with a binary that the driver refuses.
TEST_F(FailuresTest, BinaryThatTheDriverRefuses) {
  OPEN_OR_SKIP(device);
  api().CreateProgramWithSource = count_compiled;
  const std::string options = std::string("-cl-std=CL1.2 -w ") + kRows;
  ProgramCache().store(Program::cache_key(device->facts().driver, kernel_gmm_rows, options), "not a binary");
  device->program(kernel_gmm_rows, kRows).kernel("gmm_tile_rows");
  EXPECT_EQ(g_n_compiled, 1);
}

TEST_F(FailuresTest, LaunchesAndMemoryThatFail) {
  OPEN_OR_SKIP(device);
  const Kernel kernel = device->program(kernel_gmm_rows, kRows).kernel("gmm_tile_rows");
  api().EnqueueNDRangeKernel = failing_launch;
  test::expect_error([&] { device->launch(kernel, {1}, {1}); }, ASR_DEVICE_LOST, "CL_OUT_OF_RESOURCES");
  api().CreateBuffer = failing_buffer;
  test::expect_error([&] { Array<float>(device->context(), 1000); }, ASR_OUT_OF_MEMORY, "CL_MEM_OBJECT_ALLOCATION_FAILURE");
}

}  // namespace
}  // namespace asr::gpu
