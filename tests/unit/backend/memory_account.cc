// SPDX-License-Identifier: Apache-2.0
// Tests the account of a device's memory: its limit, and the room that is made for allocations that fail.
#include "plugins/gpu/runtime/memory_account.h"

#include <gtest/gtest.h>

namespace asr {
namespace {

asr_status status_of_taking(MemoryAccount *account, uint64_t n_bytes, uint32_t n_failures = 0) {
  try {
    account->take(n_bytes, [&] {
      if (n_failures > 0) --n_failures, fail(ASR_OUT_OF_MEMORY, "full");
    });
    return ASR_OK;
  } catch (const Error &error) {
    return error.code();
  }
}

TEST(MemoryAccount, HasALimit) {
  MemoryAccount account(100);
  EXPECT_EQ(status_of_taking(&account, 100), ASR_OK);
  EXPECT_EQ(account.n_left(), 0u);
  EXPECT_EQ(status_of_taking(&account, 1), ASR_OUT_OF_MEMORY);
  account.give_back(100);
  EXPECT_EQ(account.n_bytes(), 0u);
}

TEST(MemoryAccount, MakesRoomUntilThereIsNone) {
  MemoryAccount account(100);
  ASSERT_EQ(status_of_taking(&account, 90), ASR_OK);
  uint64_t idle = 90;
  account.set_make_room([&] {
    if (idle == 0) return false;
    account.give_back(30);
    idle -= 30;
    return true;
  });
  EXPECT_EQ(status_of_taking(&account, 60), ASR_OK);
  EXPECT_EQ(idle, 30u);
  EXPECT_EQ(account.n_bytes(), 90u);
  EXPECT_EQ(status_of_taking(&account, 101), ASR_OUT_OF_MEMORY);
  EXPECT_EQ(idle, 0u);
  account.give_back(60);
}

TEST(MemoryAccount, AsksForRoomWhenTheDeviceIsFull) {
  MemoryAccount account;
  uint32_t n_asked = 0;
  account.set_make_room([&] { return ++n_asked < 4; });
  EXPECT_EQ(status_of_taking(&account, 10, 3), ASR_OK);
  EXPECT_EQ(n_asked, 3u);
  EXPECT_EQ(status_of_taking(&account, 10, 1), ASR_OUT_OF_MEMORY);
  account.give_back(10);
}

TEST(MemoryAccount, AModestCallerMakesNoRoom) {
  MemoryAccount account(10);
  uint32_t n_asked = 0;
  account.set_make_room([&] { return ++n_asked == 0; });
  {
    const MemoryAccount::Modest modest(account);
    EXPECT_EQ(status_of_taking(&account, 11), ASR_OUT_OF_MEMORY);
    EXPECT_EQ(n_asked, 0u);
  }
  EXPECT_EQ(status_of_taking(&account, 11), ASR_OUT_OF_MEMORY);
  EXPECT_EQ(n_asked, 1u);
}

}  // namespace
}  // namespace asr
