// SPDX-License-Identifier: Apache-2.0
#include "builder/align/aligned_words.h"

#include <gtest/gtest.h>

#include "builder/align/goodness.h"

namespace asr {
namespace {

constexpr auto position(WordPosition p) { return static_cast<uint8_t>(p); }

// Phones: 0 is silence, 1 and 2 speak. One state each, so a transition-id is a phone in a position.
struct Path {
  HmmSet set;
  train::AlignmentJob job;

  Path() {
    set.phones = {{"SIL", true, 0}, {"A", false, 1}, {"B", false, 2}};
    job.graph.transitions = {{},
                             {0, kAnyPosition, 0, false, 0},
                             {1, position(WordPosition::kBegin), 0, false, 1},
                             {2, position(WordPosition::kEnd), 0, false, 2},
                             {2, position(WordPosition::kSingle), 0, false, 2},
                             {1, kAnyPosition, 0, false, 1},
                             {2, kAnyPosition, 0, false, 2}};
    for (uint32_t id = 1; id <= 6; ++id) {  // the same, staying in the state
      Transition loop = job.graph.transitions[id];
      loop.self_loop = true;
      job.graph.transitions.push_back(loop);
    }
  }

  void add(uint32_t id, uint32_t n_frames, float cost) {
    for (uint32_t i = 0; i < n_frames; ++i) {
      job.transition_ids.push_back(i == 0 ? id : id + 6);
      job.costs.push_back(cost);
    }
  }
};

TEST(AlignedWords, AreReadOffThePath) {
  Path path;
  path.add(1, 3, 9);  // silence
  path.add(2, 2, 1);  // A B
  path.add(3, 4, 3);
  path.add(4, 1, 5);  // B
  path.add(1, 2, 9);
  path.job.words = {1, 3};  // the text's second word is not said
  const std::vector<AlignedWord> words = aligned_words(path.job, path.set);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].number, 0u);
  EXPECT_EQ(words[0].begin(), 3u);
  EXPECT_EQ(words[0].end(), 9u);
  ASSERT_EQ(words[0].phones.size(), 2u);
  EXPECT_EQ(words[0].phones[1].phone, 2u);
  EXPECT_EQ(words[0].phones[1].begin, 5u);
  EXPECT_EQ(words[0].phones[1].log_likelihood, -3);
  EXPECT_EQ(words[1].number, 2u);
  EXPECT_EQ(words[1].begin(), 9u);
  EXPECT_EQ(words[1].end(), 10u);
}

TEST(AlignedWords, PhonesBetweenWordsAreForeign) {
  Path path;
  path.add(4, 2, 1);
  path.add(5, 3, 2);
  path.add(6, 1, 2);
  path.add(1, 2, 9);  // silence ends the stretch
  path.add(5, 2, 2);
  path.add(4, 2, 1);
  path.job.words = {1, 2};
  const std::vector<AlignedWord> words = aligned_words(path.job, path.set);
  ASSERT_EQ(words.size(), 4u);
  EXPECT_FALSE(words[0].is_foreign());
  EXPECT_TRUE(words[1].is_foreign());
  EXPECT_EQ(words[1].phones.size(), 2u);
  EXPECT_EQ(words[1].begin(), 2u);
  EXPECT_EQ(words[1].end(), 6u);
  EXPECT_TRUE(words[2].is_foreign());
  EXPECT_EQ(words[3].number, 1u);
}

// A is fit worse than the free path's phones by 2 a frame, B as well as they do.
TEST(Goodness, ComparesWithTheBestPhonesOfTheSameFrames) {
  Path path, free_path;
  path.add(2, 3, 6);  // A B
  path.add(3, 2, 1);
  path.job.words = {1};
  free_path.add(5, 1, 3);  // A, then B for longer
  free_path.add(6, 2, 4.5f);
  free_path.add(6, 2, 1);
  const std::vector<PhoneGoodness> rated = rate(aligned_words(path.job, path.set)[0], free_path.job);
  ASSERT_EQ(rated.size(), 2u);
  EXPECT_DOUBLE_EQ(rated[0].goodness, -2);
  EXPECT_EQ(rated[0].likeliest, 2u);
  EXPECT_DOUBLE_EQ(rated[1].goodness, 0);
  EXPECT_EQ(rated[1].likeliest, 2u);
}

TEST(AlignedWords, NoneWithoutAPath) {
  const Path path;
  EXPECT_TRUE(aligned_words(path.job, path.set).empty());
}

}  // namespace
}  // namespace asr
