// SPDX-License-Identifier: Apache-2.0
#include "core/base/begun_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>

namespace asr {
namespace {

TEST(BegunThread, HasBegunWhenItIsReturned) {
  std::atomic<int> step{0};
  std::thread::id begins_on, runs_on;
  std::thread thread = begun_thread([&] { begins_on = std::this_thread::get_id(), step = 1; },
                                    [&] { runs_on = std::this_thread::get_id(), step = 2; });
  EXPECT_GE(step, 1);
  EXPECT_EQ(begins_on, thread.get_id());
  thread.join();
  EXPECT_EQ(step, 2);
  EXPECT_EQ(runs_on, begins_on);
}

TEST(BegunThread, DoesNotGoOnAfterAFailure) {
  std::atomic<bool> goes_on{false};
  EXPECT_THROW(begun_thread([] { throw std::bad_alloc(); }, [&] { goes_on = true; }), std::bad_alloc);
  EXPECT_FALSE(goes_on);
}

}  // namespace
}  // namespace asr
