// SPDX-License-Identifier: Apache-2.0
#include "core/audio/sample_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace asr {
namespace {

template <typename Sample>
std::vector<float> mono(SampleFormat format, const std::vector<Sample> &samples) {
  std::vector<float> out(samples.size() / format.n_channels);
  to_mono(format, samples.data(), out.size(), out.data());
  return out;
}

TEST(SampleFormat, Int16KeepsItsScale) {
  const std::vector<int16_t> in{0, 1, -1, 32767, -32768};
  EXPECT_EQ(mono({SampleType::kInt16, 16000, 1, -1}, in), (std::vector<float>{0, 1, -1, 32767, -32768}));
}

TEST(SampleFormat, FloatGetsTheScaleOfInt16) {
  const std::vector<float> in{0, 0.5f, -1, 2};
  EXPECT_EQ(mono({SampleType::kFloat, 16000, 1, 0}, in), (std::vector<float>{0, 16384, -32768, 65536}));
}

// The values of ITU-T's tables at the ends and around zero.
TEST(SampleFormat, G711) {
  const std::vector<uint8_t> in = {0x00, 0x7f, 0x80, 0xff, 0x55, 0xd5, 0x2a};
  EXPECT_EQ(mono({SampleType::kUlaw, 8000, 1, -1}, in), (std::vector<float>{-32124, 0, 32124, 0, -716, 716, -5372}));
  EXPECT_EQ(mono({SampleType::kAlaw, 8000, 1, -1}, in), (std::vector<float>{-5504, -848, 5504, 848, -8, 8, -32256}));
  EXPECT_EQ(mono({SampleType::kUlaw, 8000, 2, 1}, std::vector<uint8_t>{0x00, 0x80, 0xff, 0x00}),
            (std::vector<float>{32124, -32124}));
}

TEST(SampleFormat, ChannelsAreTakenOrAveraged) {
  const std::vector<int16_t> in{1, 10, 100, -1, -10, -101};
  EXPECT_EQ(mono({SampleType::kInt16, 16000, 3, 1}, in), (std::vector<float>{10, -10}));
  const std::vector<float> mean = mono({SampleType::kInt16, 16000, 3, -1}, in);
  EXPECT_NEAR(mean[0], 37, 1e-4);
  EXPECT_NEAR(mean[1], -112.0 / 3, 1e-4);
}

TEST(SampleFormat, AFullScaleMeanDoesNotOverflow) {
  const std::vector<int16_t> in(64, 32767);
  EXPECT_NEAR(mono({SampleType::kInt16, 16000, 64, -1}, in)[0], 32767, 0.01);
}

TEST(SampleFormat, FindsWhatIsNotFinite) {
  std::vector<float> values(100, 1);
  EXPECT_TRUE(all_finite(values.data(), values.size()));
  EXPECT_TRUE(all_finite(nullptr, 0));
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    values[99] = bad;
    EXPECT_FALSE(all_finite(values.data(), values.size()));
  }
}

}  // namespace
}  // namespace asr
