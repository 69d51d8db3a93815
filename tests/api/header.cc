// SPDX-License-Identifier: Apache-2.0
// The header from C and C++, and that the library exports its names and no others.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "api/asr.h"

extern "C" int header_from_c(void);

namespace asr::test {
namespace {

TEST(Header, WorksFromC) { EXPECT_EQ(header_from_c(), 0); }

TEST(Header, VersionsAgree) {
  const std::string version =
      std::to_string(ASR_VERSION_MAJOR) + "." + std::to_string(ASR_VERSION_MINOR) + "." + std::to_string(ASR_VERSION_PATCH);
  EXPECT_EQ(asr_version(), version);
}

TEST(Header, OnlyItsNamesAreExported) {
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<void *>(&asr_version), &info), 0);
  const std::string command = std::string("nm -D --defined-only '") + info.dli_fname + "'";
  FILE *names = popen(command.c_str(), "r");
  ASSERT_NE(names, nullptr);
  size_t n_names = 0;
  std::array<char, 512> line{};
  while (fgets(line.data(), line.size(), names) != nullptr) {
    const std::string text(line.data());
    const std::string name = text.substr(text.rfind(' ') + 1);
    if (text.find(" A ") != std::string::npos) continue;  // the version itself
    EXPECT_EQ(name.rfind("asr_", 0), 0u) << name;
    ++n_names;
  }
  EXPECT_EQ(pclose(names), 0);
  EXPECT_EQ(n_names, 31u);
}

}  // namespace
}  // namespace asr::test
