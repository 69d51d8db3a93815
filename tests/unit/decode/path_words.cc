// SPDX-License-Identifier: Apache-2.0
// Tests word times of hand-written paths.
#include "core/decode/path_words.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace asr {
namespace {

// Builds a path. Transitions (phone, position, hmm_state, self_loop) are created on first use.
class PathBuilder {
 public:
  PathBuilder() { transitions_.push_back({}); }

  // Adds `frames` frames of a phone of n_states states: each state is entered in turn, the last is held.
  void phone(uint32_t id, uint8_t position, uint32_t frames, uint16_t n_states = 3) {
    for (uint32_t f = 0; f < frames; ++f) {
      const bool holds = f >= n_states;
      const uint16_t state = holds ? n_states - 1 : static_cast<uint16_t>(f);
      transitions_.push_back({id, position, state, holds, 0});
      arcs_.push_back({frame_++, static_cast<uint32_t>(transitions_.size() - 1), 0, 0.5f, 2.0f});
    }
  }
  void phone(uint32_t id, WordPosition position, uint32_t frames, uint16_t n_states = 3) {
    phone(id, static_cast<uint8_t>(position), frames, n_states);
  }
  void label(uint32_t word) { arcs_.push_back({frame_, 0, word, 0.25f, 0}); }

  // Runs n_certain_words on the path's first n_arcs arcs; all by default.
  size_t n_certain(bool has_positions = true, size_t n_arcs = SIZE_MAX) {
    asr_path path{};
    path.arcs = arcs_.data();
    path.n_arcs = arcs_.size();
    path.n_frames = frame_;
    return n_certain_words(
        path, std::min(n_arcs, arcs_.size()), [&](uint32_t id) -> const Transition & { return transitions_[id]; },
        has_positions);
  }
  size_t n_arcs() const { return arcs_.size(); }
  const std::vector<asr_path_arc> &arcs() const { return arcs_; }
  TransitionLookup transition() const {
    return [this](uint32_t id) -> const Transition & { return transitions_[id]; };
  }

  PathWords words(double total_cost = 0, float acoustic_scale = 1) {
    asr_path path{};
    path.arcs = arcs_.data();
    path.n_arcs = arcs_.size();
    path.n_frames = frame_;
    path.total_cost = total_cost;
    return words_of_path(
        path, [&](uint32_t id) -> const Transition & { return transitions_[id]; }, acoustic_scale);
  }

 private:
  std::vector<Transition> transitions_;
  std::vector<asr_path_arc> arcs_;
  uint32_t frame_ = 0;
};

std::string shown(const PathWords &words) {
  std::string text;
  for (const WordSpan &w : words.words) {
    text += std::to_string(w.word) + "[" + std::to_string(w.begin) + "," + std::to_string(w.end) + ") ";
  }
  return text;
}

TEST(PathWords, SilenceIsBetweenWords) {
  PathBuilder path;
  path.phone(0, kAnyPosition, 5);
  path.label(7);
  path.phone(1, WordPosition::kBegin, 4);
  path.phone(2, WordPosition::kInternal, 3);
  path.phone(3, WordPosition::kEnd, 6);
  path.phone(0, kAnyPosition, 10);
  path.label(8);
  path.phone(4, WordPosition::kSingle, 3);
  path.phone(0, kAnyPosition, 3);
  EXPECT_EQ(shown(path.words()), "7[5,18) 8[28,31) ");
}

TEST(PathWords, LabelsMayComeEarlyOrLate) {
  PathBuilder path;
  path.label(7);
  path.label(8);
  path.phone(0, kAnyPosition, 5);
  path.phone(1, WordPosition::kBegin, 4);
  path.phone(3, WordPosition::kEnd, 6);
  path.phone(1, WordPosition::kBegin, 4);
  path.phone(3, WordPosition::kEnd, 6);
  path.phone(4, WordPosition::kSingle, 3);
  path.label(9);
  EXPECT_EQ(shown(path.words()), "7[5,15) 8[15,25) 9[25,28) ");
}

TEST(PathWords, TheSameWordTwiceIsTwoWords) {
  PathBuilder path;
  path.label(7);
  path.phone(4, WordPosition::kSingle, 5);
  path.label(7);
  path.phone(4, WordPosition::kSingle, 5);
  path.label(7);
  path.phone(4, WordPosition::kSingle, 1, 1);
  path.label(7);
  path.phone(4, WordPosition::kSingle, 3, 1);
  EXPECT_EQ(shown(path.words()), "7[0,5) 7[5,10) 7[10,11) 7[11,14) ");
}

TEST(PathWords, ACutOffWordEndsWithThePath) {
  PathBuilder path;
  path.label(7);
  path.phone(1, WordPosition::kBegin, 4);
  path.phone(2, WordPosition::kInternal, 2);
  EXPECT_EQ(shown(path.words()), "7[0,6) ");
}

TEST(PathWords, ALabelWithoutPhonesIsAtTheEnd) {
  PathBuilder path;
  path.label(7);
  path.phone(4, WordPosition::kSingle, 4);
  path.phone(0, kAnyPosition, 4);
  path.label(8);
  EXPECT_EQ(shown(path.words()), "7[0,4) 8[4,4) ");
}

TEST(PathWords, WithoutPositionsLabelsTell) {
  PathBuilder path;
  path.phone(0, kAnyPosition, 5);
  path.label(7);
  path.phone(1, kAnyPosition, 4);
  path.label(8);
  path.phone(2, kAnyPosition, 3);
  EXPECT_EQ(shown(path.words()), "7[5,9) 8[9,12) ");
}

TEST(PathWords, CostsAreKeptApart) {
  PathBuilder path;
  path.label(7);
  path.phone(4, WordPosition::kSingle, 4);
  const PathWords words = path.words(7.5, 0.5f);
  EXPECT_DOUBLE_EQ(words.acoustic_cost, 8);
  EXPECT_DOUBLE_EQ(words.graph_cost, 7.5 - 0.5 * 8);
}

TEST(PathWords, AWordIsCertainOnceItsLastPhoneIsOver) {
  PathBuilder path;
  path.phone(0, kAnyPosition, 5);
  path.label(7);
  path.phone(1, WordPosition::kBegin, 4);
  path.phone(3, WordPosition::kEnd, 6);
  EXPECT_EQ(path.n_certain(), 0u);
  path.phone(0, kAnyPosition, 1);
  EXPECT_EQ(path.n_certain(), 1u);
  path.label(8);
  path.phone(1, WordPosition::kBegin, 4);
  EXPECT_EQ(path.n_certain(), 1u);
  path.phone(3, WordPosition::kEnd, 6);
  path.phone(4, WordPosition::kSingle, 3);
  EXPECT_EQ(path.n_certain(), 2u);
}

TEST(PathWords, AWordWhoseLabelIsNotCertainIsNot) {
  PathBuilder path;
  path.phone(4, WordPosition::kSingle, 5);
  path.phone(0, kAnyPosition, 5);
  const size_t before = path.n_arcs();
  path.label(7);
  EXPECT_EQ(path.n_certain(true, before), 0u);
  EXPECT_EQ(path.n_certain(), 1u);
}

TEST(PathWords, WithoutPositionsTheNextLabelMakesAWordCertain) {
  PathBuilder path;
  path.label(7);
  path.phone(1, kAnyPosition, 4);
  path.label(8);
  path.phone(2, kAnyPosition, 3);
  EXPECT_EQ(path.n_certain(false), 1u);
  EXPECT_EQ(path.n_certain(true), 0u);  // later arcs may have positions, which would then determine the times
}

TEST(PathWords, NothingIsNoWords) { EXPECT_EQ(shown(PathBuilder().words()), ""); }

// Wherever a path is cut, its words, their times, and how many of them are certain are those of the whole path.
TEST(PathWords, OfAPathInPieces) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    PathBuilder path;
    const bool has_positions = i % 3 != 0;
    const auto position_of = [&](WordPosition position) {
      return has_positions ? static_cast<uint8_t>(position) : kAnyPosition;
    };
    for (uint32_t word = 1; word < 10; ++word) {
      if (random() % 2 == 0) path.phone(0, kAnyPosition, 1 + random() % 5);
      path.label(word);
      if (random() % 3 == 0) {
        path.phone(1, position_of(WordPosition::kSingle), 1 + random() % 6);
      } else {
        path.phone(2, position_of(WordPosition::kBegin), 1 + random() % 6);
        path.phone(3, position_of(WordPosition::kEnd), 1 + random() % 6);
      }
    }
    const PathWords whole = path.words(500, 0.7f);
    SpokenPath before;
    size_t taken = 0;
    while (taken < path.n_arcs()) {
      const size_t n = std::min<size_t>(1 + random() % 9, path.n_arcs() - taken);
      before.add(path.arcs().data() + taken, n, path.transition());
      taken += n;
      asr_path rest{};
      rest.arcs = path.arcs().data() + taken;
      rest.n_arcs = path.n_arcs() - taken;
      rest.total_cost = 500;
      const PathWords found = words_of_path(rest, path.transition(), 0.7f, before);
      ASSERT_EQ(shown(found), shown(whole));
      ASSERT_EQ(found.graph_cost, whole.graph_cost);
      ASSERT_EQ(found.acoustic_cost, whole.acoustic_cost);
      const size_t more = random() % (rest.n_arcs + 1);
      ASSERT_EQ(n_certain_words(rest, more, path.transition(), has_positions, before),
                path.n_certain(has_positions, taken + more));
    }
  }
}

// Labels come early or late: the words of a cut path are the first ones, and its frames those before the cut.
TEST(CutPath, HasTheFirstWordsAndFrames) {
  const std::vector<asr_path_arc> arcs{
      {0, 1, 7, 1, 10}, {1, 2, 8, 2, 20}, {2, 0, 9, 4, 0}, {2, 3, 0, 8, 40}, {3, 4, 6, 16, 80}};
  asr_path path{};
  path.arcs = arcs.data();
  path.n_arcs = arcs.size();
  path.n_frames = 4;
  path.reached_final = 1;
  path.final_cost = 100;
  path.total_cost = 31 + 0.5 * 150 + 4 * 3 + 100;
  for (const size_t n_words : {1, 2, 3, 4}) {
    const CutPath cut = cut_path(path, 2, n_words, 0, 0.5f, 3);
    EXPECT_EQ(cut.path.n_frames, 2u);
    EXPECT_EQ(cut.path.reached_final, 0u);
    EXPECT_NEAR(cut.path.total_cost, 3 + 0.5 * 30 + 3 * static_cast<double>(n_words), 1e-9);
    std::vector<uint32_t> words;
    size_t n_frames = 0;
    for (uint64_t i = 0; i < cut.path.n_arcs; ++i) {
      if (cut.path.arcs[i].word != 0) words.push_back(cut.path.arcs[i].word);
      n_frames += cut.path.arcs[i].transition_id != 0;
    }
    const std::vector<uint32_t> all{7, 8, 9, 6};
    EXPECT_EQ(words, std::vector<uint32_t>(all.begin(), all.begin() + static_cast<ptrdiff_t>(n_words)));
    EXPECT_EQ(n_frames, 2u);
  }
  EXPECT_EQ(cut_path(path, 2, 3, 2, 0.5f, 3).path.arcs[0].word, 7u);  // two words came before
  EXPECT_EQ(cut_path(path, 2, 3, 2, 0.5f, 3).arcs[1].word, 0u);
}

}  // namespace
}  // namespace asr
