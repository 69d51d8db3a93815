// SPDX-License-Identifier: Apache-2.0
// Tests resampling: the same samples for any chunking, the right length, and an undistorted sine.
#include "core/audio/resampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

namespace asr {
namespace {

std::vector<float> noise(size_t n) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 3000);
  std::vector<float> samples(n);
  for (float &sample : samples) sample = normal(random);
  return samples;
}

std::vector<float> resample(const std::vector<float> &in, double from_hz, double to_hz, size_t chunk) {
  Resampler resampler(ResampleFilters().get(from_hz, to_hz));
  std::vector<float> out;
  for (size_t i = 0; i < in.size(); i += chunk) resampler.feed(in.data() + i, std::min(chunk, in.size() - i), &out);
  resampler.finish(&out);
  return out;
}

struct Rates {
  double from_hz, to_hz;
};

class ResamplerRates : public testing::TestWithParam<Rates> {};

TEST_P(ResamplerRates, ChunkingChangesNothing) {
  const auto [from_hz, to_hz] = GetParam();
  const std::vector<float> in = noise(static_cast<size_t>(from_hz * 0.7) + 13);
  const std::vector<float> whole = resample(in, from_hz, to_hz, in.size());
  EXPECT_NEAR(static_cast<double>(whole.size()), static_cast<double>(in.size()) * to_hz / from_hz, 1.0);
  for (const size_t chunk : {1u, 7u, 160u, 1000u, 16000u}) EXPECT_EQ(resample(in, from_hz, to_hz, chunk), whole) << chunk;
}

TEST_P(ResamplerRates, SineStaysInPlace) {
  const auto [from_hz, to_hz] = GetParam();
  const double tone_hz = 0.2 * std::min(from_hz, to_hz) / 2;
  std::vector<float> in(static_cast<size_t>(from_hz));
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(10000 * std::sin(2 * M_PI * tone_hz * double(i) / from_hz));
  const std::vector<float> out = resample(in, from_hz, to_hz, 333);
  for (size_t i = out.size() / 4; i < out.size() * 3 / 4; ++i) {
    ASSERT_NEAR(double(out[i]), 10000 * std::sin(2 * M_PI * tone_hz * double(i) / to_hz), 10.0) << "sample " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Audio, ResamplerRates,
                         testing::Values(Rates{8000, 16000}, Rates{16000, 8000}, Rates{44100, 16000}, Rates{48000, 16000},
                                         Rates{11025, 16000}, Rates{1000, 16000}, Rates{768000, 16000}, Rates{16001, 16000},
                                         Rates{22050, 8000}));

// Returns the root mean square of the middle half, in dB relative to a sine of amplitude 10000.
double level_db(const std::vector<float> &samples) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = samples.size() / 4; i < samples.size() * 3 / 4; ++i, ++n) sum += double(samples[i]) * double(samples[i]);
  return 10 * std::log10(sum / double(n) / 0.5e8 + 1e-30);
}

// Content above the lower rate's Nyquist frequency would alias.
TEST_P(ResamplerRates, PassesWhatTheLowerRateHoldsAndNothingAbove) {
  const auto [from_hz, to_hz] = GetParam();
  const double nyquist_hz = std::min(from_hz, to_hz) / 2;
  const auto level_of_tone = [from_hz = from_hz, to_hz = to_hz](double tone_hz) {
    std::vector<float> in(static_cast<size_t>(std::max(from_hz / 8, 2000.0)));
    for (size_t i = 0; i < in.size(); ++i) in[i] = float(10000 * std::sin(2 * M_PI * tone_hz * double(i) / from_hz));
    return level_db(resample(in, from_hz, to_hz, in.size()));
  };
  for (const double share : {0.1, 0.5, 0.8, 0.9}) EXPECT_NEAR(level_of_tone(share * nyquist_hz), 0, 0.01) << share;
  for (const double share : {1.02, 1.2, 1.7}) {
    if (share * nyquist_hz < from_hz / 2) {
      EXPECT_LT(level_of_tone(share * nyquist_hz), -115) << share;
    }
  }
}

TEST(ResampleFilters, StreamsOfTheSameRatesShareOne) {
  ResampleFilters filters;
  const auto first = filters.get(44100, 16000);
  const ResampleFilter *const address = first.get();
  EXPECT_EQ(filters.get(44100, 16000), first);
  EXPECT_NE(filters.get(48000, 16000), first);
  EXPECT_EQ(filters.get(44100, 16000).get(), address);
  EXPECT_EQ(filters.get(16000, 16000), nullptr);
}

TEST(Resampler, EqualRatesCopy) {
  const std::vector<float> in = noise(1001);
  EXPECT_EQ(resample(in, 16000, 16000, 10), in);
}

TEST(Resampler, ShortSignals) {
  EXPECT_TRUE(resample({}, 48000, 16000, 1).empty());
  EXPECT_EQ(resample({1000}, 8000, 16000, 1).size(), 2u);
  EXPECT_LE(resample({1000}, 48000, 16000, 1).size(), 1u);
}

// As many streams of odd rates as there may be: their filters go with them, but for the last few.
TEST(ResampleFilters, GoWithTheirStreams) {
  ResampleFilters filters;
  std::vector<std::weak_ptr<const ResampleFilter>> all;
  {
    std::vector<std::shared_ptr<const ResampleFilter>> streams;
    for (int i = 0; i < 50; ++i) streams.push_back(filters.get(16001 + i, 16000));
    EXPECT_EQ(filters.get(16001, 16000), streams[0]);  // shared while a stream has it
    all.assign(streams.begin(), streams.end());
  }
  const auto is_alive = [](const auto &filter) { return !filter.expired(); };
  EXPECT_EQ(std::count_if(all.begin(), all.end(), is_alive), static_cast<std::ptrdiff_t>(ResampleFilters::kMaxKept));
  EXPECT_TRUE(is_alive(all[0]));  // asked for last
  EXPECT_EQ(filters.get(16050, 16000), all[49].lock());
  EXPECT_TRUE(filters.get(16002, 16000)->is_for(16002, 16000));
  EXPECT_EQ(filters.get(16000, 16000), nullptr);
}

}  // namespace
}  // namespace asr
