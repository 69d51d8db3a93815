// SPDX-License-Identifier: Apache-2.0
// Tests the search for GPUs in made-up file systems.
#include "plugins/ocl/runtime/gpus_here.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/scratch.h"

namespace asr::gpu {
namespace {

class GpusHereTest : public testing::Test {
 protected:
  void add(const std::string &path, const std::string &text = "") {
    std::filesystem::create_directories(std::filesystem::path(scratch_ / path).parent_path());
    test::spill(scratch_ / path, text);
  }
  void add_pci(const std::string &address, const std::string &vendor, const std::string &its_class) {
    add("sys/bus/pci/devices/" + address + "/vendor", vendor + "\n");
    add("sys/bus/pci/devices/" + address + "/class", its_class + "\n");
  }
  bool found() const { return gpus_here(scratch_.path()); }

  test::Scratch scratch_;
};

TEST_F(GpusHereTest, NothingIsNoGpu) { EXPECT_FALSE(found()); }

TEST_F(GpusHereTest, OtherPartsOfTheVendorsAreNone) {
  add_pci("0000:00:01.0", "0x8086", "0x030000");  // a GPU of Intel
  add_pci("0000:00:02.0", "0x1af4", "0x020000");
  add_pci("0000:00:03.0", "0x1002", "0x040300");  // sound of AMD
  add_pci("0000:00:04.0", "0x10de", "0x068000");  // a bridge of NVIDIA
  add_pci("0000:00:05.0", "not a number", "0x030000");
  add("dev/dri/renderD128");
  add("proc/driver/rtc");
  EXPECT_FALSE(found());
}

TEST_F(GpusHereTest, PciShowsGpus) {
  add_pci("0000:00:01.0", "0x8086", "0x030000");
  add_pci("0000:41:00.0", "0x10de", "0x030200");
  EXPECT_TRUE(found());
}

TEST_F(GpusHereTest, AcceleratorsOfAmdAreGpus) {
  add_pci("0000:41:00.0", "0x1002", "0x120000");
  EXPECT_TRUE(found());
}

class Signs : public GpusHereTest, public testing::WithParamInterface<const char *> {};

TEST_P(Signs, OneIsEnough) {
  add(GetParam());
  EXPECT_TRUE(found());
}

INSTANTIATE_TEST_SUITE_P(Drivers, Signs,
                         testing::Values("dev/nvidiactl", "dev/nvidia0", "proc/driver/nvidia/version", "dev/kfd", "dev/dxg"));

}  // namespace
}  // namespace asr::gpu
