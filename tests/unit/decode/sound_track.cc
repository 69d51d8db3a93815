// SPDX-License-Identifier: Apache-2.0
// Tests the variation of sounds: steady noise of any colour and level, also swelling, and sounds with a moving spectrum.
#include "core/decode/sound_track.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace asr {
namespace {

constexpr uint32_t kRate = 16000, kShift = 160;

std::vector<float> noise(double seconds, double rms, double colour, double swell_hz = 0) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, rms * std::sqrt(1 - colour * colour));
  std::vector<float> samples;
  double last = 0;
  for (size_t i = 0; i < seconds * kRate; ++i) {
    last = colour * last + normal(random);
    const double gain = swell_hz > 0 ? 0.2 + std::abs(std::sin(2 * M_PI * swell_hz * static_cast<double>(i) / kRate)) : 1;
    samples.push_back(static_cast<float>(std::round(gain * last)));
  }
  return samples;
}

Sound track(const std::vector<float> &samples) {
  SoundTrack track(kRate, kShift, 0);
  track.add(samples.data(), samples.size());
  return track.sound(0, samples.size() / kShift);
}

double variation_db(const std::vector<float> &samples) {
  return track(samples).variation_db(0, samples.size() / kShift).value();
}

TEST(SoundTrack, SteadyNoiseDoesNotVary) {
  for (const double rms : {8.0, 300.0, 5000.0}) {
    for (const double colour : {0.0, 0.9, 0.99}) {
      EXPECT_LT(variation_db(noise(0.5, rms, colour)), 1.1) << rms << " " << colour;
      EXPECT_LT(variation_db(noise(3, rms, colour, 2)), 1.1) << rms << " " << colour;
    }
  }
  EXPECT_EQ(variation_db(std::vector<float>(kRate, 0)), 0);
}

TEST(SoundTrack, ColoursThatFollowEachOtherVary) {
  std::vector<float> samples;
  for (const double colour : {0.0, 0.99, 0.5, 0.95}) {
    const std::vector<float> more = noise(0.1, 1000, colour);
    samples.insert(samples.end(), more.begin(), more.end());
  }
  EXPECT_GT(variation_db(samples), 2);
}

TEST(SoundTrack, PiecesAndWhatIsForgottenMakeNoDifference) {
  const std::vector<float> samples = noise(1, 1000, 0.9);
  const Sound whole = track(samples);
  SoundTrack pieces(kRate, kShift, 0);
  for (size_t i = 0; i < samples.size(); i += 37) pieces.add(&samples[i], std::min<size_t>(37, samples.size() - i));
  pieces.forget_before(20);
  const Sound rest = pieces.sound(20, 60);
  ASSERT_EQ(rest.frames.size(), 40u);
  for (size_t f = 0; f < rest.frames.size(); ++f) EXPECT_EQ(rest.frames[f], whole.frames[20 + f]);
}

TEST(SoundTrack, OfTooFewFramesNothingIsSaid) {
  const Sound sound = track(noise(0.2, 1000, 0));
  EXPECT_FALSE(sound.variation_db(5, 10).has_value());
  EXPECT_FALSE(sound.variation_db(15, 500).has_value());
  EXPECT_TRUE(sound.variation_db(5, 500).has_value());
  EXPECT_FALSE(Sound().variation_db(0, 100).has_value());
}

}  // namespace
}  // namespace asr
