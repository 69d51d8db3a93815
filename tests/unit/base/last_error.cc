// SPDX-License-Identifier: Apache-2.0
#include "core/base/last_error.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace asr {
namespace {

static_assert(std::is_trivial_v<LastError>, "a thread_local with a destructor needs memory");

TEST(LastError, CutsBetweenCharacters) {
  LastError error{};
  error.keep("short");
  EXPECT_STREQ(error.text, "short");
  const size_t most = sizeof(error.text) - 1;
  error.keep(std::string(most, 'x').c_str());
  EXPECT_EQ(error.text, std::string(most, 'x'));
  error.keep((std::string(most - 1, 'x') + "é!").c_str());  // a two-byte character where one byte is left
  EXPECT_EQ(error.text, std::string(most - 1, 'x'));
  error.keep("");
  EXPECT_STREQ(error.text, "");
}

}  // namespace
}  // namespace asr
