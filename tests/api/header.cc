// SPDX-License-Identifier: Apache-2.0
// Tests that the header works from C and C++.
#include <gtest/gtest.h>

#include <string>

#include "api/asr.h"

extern "C" int header_from_c(void);

namespace asr::test {
namespace {

TEST(Header, WorksFromC) { EXPECT_EQ(header_from_c(), 0); }

TEST(Header, VersionsAgree) {
  const std::string version = std::to_string(ASR_VERSION_MAJOR) + "." + std::to_string(ASR_VERSION_MINOR) + "." +
                              std::to_string(ASR_VERSION_PATCH) + ASR_VERSION_SUFFIX;
  EXPECT_EQ(asr_version(), version);
}

}  // namespace
}  // namespace asr::test
