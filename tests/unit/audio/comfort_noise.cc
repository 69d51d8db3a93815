// SPDX-License-Identifier: Apache-2.0
#include "core/audio/comfort_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace asr::test {
namespace {

std::vector<float> with_noise(std::vector<float> samples, size_t chunk) {
  ComfortNoise noise;
  for (size_t at = 0; at < samples.size(); at += chunk) noise.add(&samples[at], std::min(chunk, samples.size() - at));
  return samples;
}

TEST(ComfortNoise, LeavesSoundAlone) {
  std::vector<float> sound(ComfortNoise::kMinRun, 0.0f);
  sound.push_back(3);
  sound.insert(sound.end(), ComfortNoise::kMinRun, 0.0f);
  EXPECT_EQ(with_noise(sound, sound.size()), sound);
}

// A fading sound in floats falls below every step that a model can distinguish from zero.
TEST(ComfortNoise, FollowsFadingSound) {
  std::vector<float> samples(3000);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = 100 * std::exp(-0.01f * static_cast<float>(i));
  const std::vector<float> heard = with_noise(samples, samples.size());
  for (size_t i = 0; i < 800; ++i) EXPECT_EQ(heard[i], samples[i]);
  double squares = 0;
  for (size_t i = 2000; i < 3000; ++i) squares += heard[i] * heard[i];
  EXPECT_NEAR(squares / 1000, 1.0 / 3, 0.05);
}

TEST(ComfortNoise, IsSmallWhiteAndWithoutMean) {
  const std::vector<float> noise = with_noise(std::vector<float>(100000, 0.0f), 100000);
  double sum = 0, squares = 0, products = 0;
  for (size_t i = ComfortNoise::kMinRun; i < noise.size(); ++i) {
    ASSERT_LE(std::abs(noise[i]), 1.0f);
    sum += noise[i];
    squares += noise[i] * noise[i];
    products += noise[i] * noise[i - 1];
  }
  const double n = 1e5;
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1.0 / 3, 0.01);
  EXPECT_NEAR(products / n, 0, 0.01);
}

TEST(ComfortNoise, DoesNotDependOnChunks) {
  std::vector<float> samples(5000, 0.0f);
  for (const size_t i : {0, 100, 101, 700, 4999}) samples[i] = 1;
  const std::vector<float> expected = with_noise(samples, samples.size());
  for (const size_t chunk : {1, 7, 64, 65, 160, 4999}) EXPECT_EQ(with_noise(samples, chunk), expected) << chunk;
}

TEST(ComfortNoise, RunsOnForHours) {
  ComfortNoise noise;
  std::vector<float> samples(1 << 20);
  for (int minute = 0; minute < 3; ++minute) {
    std::fill(samples.begin(), samples.end(), 0.0f);
    noise.add(samples.data(), samples.size());
    EXPECT_NE(samples.back(), 0.0f);
    EXPECT_NE(samples[samples.size() / 2], 0.0f);
  }
}

}  // namespace
}  // namespace asr::test
