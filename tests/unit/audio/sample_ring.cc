// SPDX-License-Identifier: Apache-2.0
#include "core/audio/sample_ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace asr {
namespace {

TEST(SampleRing, IsAQueue) {
  std::mt19937 random(3);
  SampleRing ring;
  std::deque<float> expected;
  float next = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<float> in(random() % 300);
    for (float &value : in) value = next++;
    ring.push(in.data(), in.size());
    expected.insert(expected.end(), in.begin(), in.end());
    std::vector<float> out(random() % 310);
    const size_t n = ring.pop(out.data(), out.size());
    ASSERT_EQ(n, std::min(out.size(), expected.size()));
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(out[i], expected.front());
      expected.pop_front();
    }
    ASSERT_EQ(ring.size(), expected.size());
  }
}

TEST(SampleRing, EmptyGivesNothing) {
  SampleRing ring;
  float value = 5;
  EXPECT_EQ(ring.pop(&value, 1), 0u);
  ring.push(nullptr, 0);
  EXPECT_EQ(ring.size(), 0u);
}

}  // namespace
}  // namespace asr
