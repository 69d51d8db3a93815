// SPDX-License-Identifier: Apache-2.0
#include "builder/train/new/phone_models.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/scratch.h"

namespace asr::train {
namespace {

TEST(PhonesOfDictionary, AreSortedAndWithoutPositions) {
  EXPECT_EQ(phones_of_dictionary("ab B A\nca(2) C A\n", "d"), (std::vector<std::string>{"A", "B", "C"}));
  EXPECT_EQ(phones_of_dictionary("ab B_B A_E\nbab B_B A_I B_E\na A_S\nab(2) A_B B_E\nba A_B A_I B_I A_E\nb B_S\n", "d"),
            (std::vector<std::string>{"A", "B"}));
  test::expect_error([] { phones_of_dictionary("", "d"); }, ASR_BAD_FILE, "d: no words in it");
}

TEST(Monophones, HaveSilenceAndPdfsOfTheirOwn) {
  const HmmSet added = make_monophones({"A", "SPN"}, "d");
  ASSERT_EQ(added.phones.size(), 3u);
  EXPECT_EQ(added.phones[added.silence].name, "SIL");
  EXPECT_TRUE(added.phones[added.find_phone("SPN")].filler);
  EXPECT_FALSE(added.phones[added.find_phone("A")].filler);
  EXPECT_EQ(added.n_pdfs, 9u);
  const HmmSet own = make_monophones({"A", "sil"}, "d");
  EXPECT_EQ(own.phones.size(), 2u);
  EXPECT_EQ(own.silence, 1u);
  const std::vector<PhoneState> states = phone_states(own);
  for (uint32_t pdf = 0; pdf < own.n_pdfs; ++pdf) {
    EXPECT_EQ(states[pdf].phone, pdf / 3);
    EXPECT_EQ(states[pdf].state, pdf % 3);
  }
}

// Phone 1 twice in a row, then silence, in the rows after the first two.
TEST(PhoneSegments, BeginWhereAStateComesAgain) {
  const std::vector<PhoneState> states = phone_states(make_monophones({"A"}, "d"));
  const uint8_t none = kAnyPosition;
  const AlignedRows rows{{9, 9, 3, 3, 4, 5, 3, 4, 4, 5, 5, 0, 1, 2}, {none, none, 1, 1, 1, 1, 2, 2, 2, 2, 2, none, none, none}};
  const std::vector<PhoneSegment> segments = phone_segments(states, rows, 2, 12);
  ASSERT_EQ(segments.size(), 3u);
  const auto expect = [&](size_t i, uint32_t phone, uint8_t position, std::vector<uint64_t> begin) {
    EXPECT_EQ(segments[i].phone, phone) << i;
    EXPECT_EQ(segments[i].position, position) << i;
    EXPECT_EQ(std::vector<uint64_t>(segments[i].begin, segments[i].begin + 4), begin) << i;
  };
  expect(0, 1, 1, {2, 4, 5, 6});
  expect(1, 1, 2, {6, 7, 9, 11});
  expect(2, 0, none, {11, 12, 13, 14});
}

TEST(Transitions, AreThoseOfTheSegments) {
  HmmSet set = make_monophones({"A"}, "d");
  std::vector<PhoneSegment> segments;
  for (uint64_t i = 0; i < 100000; ++i) segments.push_back({1, 0, {0, 1 + i % 2 * 3, 5, 13}});  // 2.5 frames, 2.5, 8
  estimate_transitions(segments, &set);
  const auto stay = [&](size_t phone, uint32_t state) {
    for (const TopologyArc &arc : set.topologies[phone].arcs) {
      if (arc.from == state && arc.to == state) return std::exp(-static_cast<double>(arc.cost));
    }
    return 0.0;
  };
  EXPECT_NEAR(stay(1, 0), 1 - 1 / 2.5, 1e-3);
  EXPECT_NEAR(stay(1, 2), 1 - 1 / 8.0, 1e-3);
  EXPECT_NEAR(stay(0, 1), 0.75, 1e-6);  // none of it
  set.validate("set");
}

}  // namespace
}  // namespace asr::train
