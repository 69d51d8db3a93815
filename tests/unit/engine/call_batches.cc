// SPDX-License-Identifier: Apache-2.0
// Tests CallBatches: requests of many threads in common calls, their limits, and failures.
#include "core/engine/call_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

namespace asr {
namespace {

struct Request {
  size_t n;
  int *result;
  bool fails;
  size_t size() const { return n; }
};

using Batches = CallBatches<Request>;

// Holds the device while all threads come, so that they wait together.
TEST(CallBatches, WhoeverWaitsIsServedTogether) {
  std::mutex device;
  std::vector<std::vector<size_t>> calls;
  std::atomic<int> n_come{0};
  Batches batches(&device, 10, [&](const Batches::Batch &batch) {
    calls.emplace_back();
    for (const Request *request : batch) {
      calls.back().push_back(request->n);
      *request->result = static_cast<int>(request->n) + 100;
    }
  });
  const std::vector<size_t> sizes = {4, 4, 4, 30, 1, 2, 3, 4};
  std::vector<int> results(sizes.size());
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(device);
    for (size_t i = 0; i < sizes.size(); ++i) {
      threads.emplace_back([&, i] {
        ++n_come;
        batches.run({sizes[i], &results[i], false});
      });
    }
    while (n_come < static_cast<int>(sizes.size())) std::this_thread::yield();
  }
  for (std::thread &thread : threads) thread.join();
  size_t n_served = 0;
  for (const std::vector<size_t> &call : calls) {
    size_t total = 0;
    for (const size_t n : call) total += n;
    EXPECT_TRUE(call.size() == 1 || total <= 10) << total;
    n_served += call.size();
  }
  EXPECT_EQ(n_served, sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(results[i], static_cast<int>(sizes[i]) + 100);
}

// A failure is that of the request that caused it, whatever it was served with.
TEST(CallBatches, AFailureIsOfItsRequestAlone) {
  std::mutex device;
  Batches batches(&device, 1000, [&](const Batches::Batch &batch) {
    for (const Request *request : batch) {
      if (request->fails) throw std::runtime_error("failed");
    }
    for (const Request *request : batch) ++*request->result;
  });
  std::vector<int> results(32);
  std::atomic<int> n_failed{0}, n_others{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k) {
        const bool fails = i % 5 == 0;
        try {
          batches.run({1, &results[i], fails});
          if (fails) ++n_others;
        } catch (const std::runtime_error &) {
          ++(fails ? n_failed : n_others);
        }
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(n_failed, 7 * 50);
  EXPECT_EQ(n_others, 0);
  for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], i % 5 == 0 ? 0 : 50) << i;
}

}  // namespace
}  // namespace asr
