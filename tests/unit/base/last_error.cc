// SPDX-License-Identifier: Apache-2.0
#include "core/base/last_error.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/limits.h"

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

TEST(Error, LongMessagesKeepBothEnds) {
  const auto text = [](size_t n) { return "file: '" + std::string(n, 'x') + "' is no word; correct it"; };
  EXPECT_EQ(Error(ASR_BAD_FILE, text(3000)).what(), text(3000));
  for (const size_t n : {3990, 3991, 5000, 3000000}) {
    const std::string message = Error(ASR_BAD_FILE, text(n)).what();
    EXPECT_LE(message.size(), kMaxMessageBytes + 5);
    EXPECT_EQ(message.substr(0, 20), text(n).substr(0, 20));
    EXPECT_EQ(message.substr(message.size() - 10), "correct it");
  }
  // Characters of three bytes stay whole at any offset.
  for (size_t i = 0; i < 3; ++i) {
    std::string message = std::string(i, 'x');
    while (message.size() < 9000) message += "€";
    const std::string kept = Error(ASR_BAD_FILE, message).what();
    EXPECT_LT(kept.size(), sizeof(LastError::text));
    EXPECT_EQ((kept.size() - i - 5) % 3, 0u);
    const size_t dots = kept.find(" ... ");
    ASSERT_NE(dots, std::string::npos);
    EXPECT_EQ((dots - i) % 3, 0u);
  }
}

}  // namespace
}  // namespace asr
