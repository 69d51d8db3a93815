// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/alignment.h"

#include <gtest/gtest.h>

namespace asr {
namespace {

// Transitions 1 ... 6 of phone 1 and 7 ... 12 of phone 2: entering state 0, staying there, entering state 1, ...
const TransitionLookup kTwoPhones = [](uint32_t id) -> const Transition & {
  static std::vector<Transition> all;
  for (uint32_t i = static_cast<uint32_t>(all.size()); i <= 12; ++i) {
    const uint32_t k = (i + 5) % 6;
    all.push_back({i <= 6 ? 1u : 2u, kAnyPosition, static_cast<uint16_t>(k / 2), k % 2 == 1, 100 + i});
  }
  return all[id];
};

std::vector<PhoneSpan> align(const std::vector<uint32_t> &ids, uint32_t first_frame) {
  return align_phones(ids.data(), static_cast<uint32_t>(ids.size()), first_frame, kTwoPhones);
}

TEST(Alignment, CutsFramesIntoPhonesAndStates) {
  const auto phones = align({1, 2, 2, 3, 5, 6, /**/ 7, 9, 11, /**/ 7, 8}, 20);
  ASSERT_EQ(phones.size(), 3u);
  EXPECT_EQ(phones[0].phone, 1u);
  EXPECT_EQ(phones[0].begin, 20u);
  EXPECT_EQ(phones[0].end, 26u);
  EXPECT_EQ(phones[1].phone, 2u);
  EXPECT_EQ(phones[1].end, 29u);
  EXPECT_EQ(phones[2].phone, 2u);
  EXPECT_EQ(phones[2].end, 31u);
  ASSERT_EQ(phones[0].states.size(), 3u);
  EXPECT_EQ(phones[0].states[0].begin, 20u);
  EXPECT_EQ(phones[0].states[0].end, 23u);
  EXPECT_EQ(phones[0].states[0].pdf, 101u);
  EXPECT_EQ(phones[0].states[1].hmm_state, 1u);
  EXPECT_EQ(phones[0].states[1].end, 24u);
  EXPECT_EQ(phones[0].states[2].end, 26u);
}

TEST(Alignment, PartsOfPhones) {
  EXPECT_TRUE(align({}, 5).empty());
  const auto phones = align({4, 5}, 0);
  ASSERT_EQ(phones.size(), 1u);
  ASSERT_EQ(phones[0].states.size(), 2u);
  EXPECT_EQ(phones[0].states[0].hmm_state, 1u);
}

// Entering one state repeatedly gives consecutive phones.
TEST(Alignment, EnteringAStateAgainIsANewPhone) { EXPECT_EQ(align({1, 2, 1, 1}, 0).size(), 3u); }

}  // namespace
}  // namespace asr
