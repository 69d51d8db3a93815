// SPDX-License-Identifier: Apache-2.0
// Tests run_in_parallel: every task once, the first failure, and the caller alone if the system starts no threads.
#include "core/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "core/base/error.h"
#include "tests/sanitized.h"
#include "tests/unit/scratch.h"

namespace asr::test {
namespace {

TEST(RunInParallel, DoesEveryTaskOnce) {
  for (const size_t n_tasks : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> done(n_tasks);
    run_in_parallel(n_tasks, [&](size_t i) { ++done[i]; });
    for (const std::atomic<int> &n : done) EXPECT_EQ(n, 1);
  }
}

TEST(RunInParallel, ThrowsTheFirstFailure) {
  std::atomic<int> n_done{0};
  const auto action = [&] {
    run_in_parallel(100, [&](size_t i) {
      ++n_done;
      if (i % 2 == 1) fail(ASR_BAD_FILE, "task %zu", i);
    });
  };
  const Outcome outcome = outcome_of(action);
  EXPECT_EQ(outcome.message, "task 1");
  EXPECT_EQ(n_done, 100);
}

// A thread's stack does not fit into the rest of the address space.
TEST(RunInParallel, NeedsNoThreads) {
  if (kSanitized) GTEST_SKIP() << "address space cannot be limited under a sanitizer";
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &none);
    std::atomic<int> n_done{0};
    run_in_parallel(10, [&](size_t) { ++n_done; });
    _exit(n_done == 10 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace asr::test
