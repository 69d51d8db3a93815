// SPDX-License-Identifier: Apache-2.0
// Tests PieceDeterminiser with minutes in which paths go on without a word ("Pieces" in docs/search.md): its memory, the words
// before and after them, and the best path.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "core/lattice/determinise.h"
#include "core/lattice/nbest.h"
#include "tests/unit/lattice/allocated.h"
#include "tests/unit/lattice/determinised.h"

namespace asr {
namespace {

using test::kScale;

constexpr uint32_t kPieceFrames = 256, kWidth = 3;
constexpr double kBeam = 6;

// Frames whose arcs have word 1 or 2.
struct Beginning {
  uint32_t frame = 0, n_words = 1;
};

// A lattice of kWidth states a frame, each with an arc to each of the next frame's, and one in frame 0. Paths begin with words
// 1 and 2 and end with word 4 or 5. Between them an arc in a frame has word 3, if there is one.
class Pause {
 public:
  Pause(uint32_t n_frames, uint32_t word_frame, double word_cost, const Beginning &beginning = {})
      : n_frames_(n_frames),
        word_frame_(word_frame),
        word_cost_(word_cost),
        beginning_(beginning),
        noise_(size_t{n_frames} * kWidth * kWidth) {
    std::mt19937 random(n_frames);
    for (float &x : noise_) x = std::uniform_real_distribution<float>(0, 30)(random);
    to_end_.assign(size_t{n_frames + 1} * kWidth, kNoEnd.graph);
    for (uint32_t i = 0; i < kWidth; ++i) to_end_[size_t{n_frames} * kWidth + i] = 0;
    for (uint32_t t = n_frames; t-- > 0;) {
      for (uint32_t i = 0; i < width(t); ++i) {
        for (uint32_t j = 0; j < kWidth; ++j) {
          double &cost = to_end_[size_t{t} * kWidth + i];
          cost = std::min(cost, cost_of(t, i, j).total(kScale) + to_end_[size_t{t + 1} * kWidth + j]);
        }
      }
    }
  }

  double best() const { return to_end_[0]; }

  Determinised determinise(const DeterminiseOptions &options) {
    PieceDeterminiser pieces(options);
    from_start_ = {0};
    uint32_t begin = 0;
    for (; begin + kPieceFrames < n_frames_; begin += kPieceFrames) pieces.add(piece(begin, begin + kPieceFrames));
    return pieces.finish(piece(begin, n_frames_));
  }

 private:
  static uint32_t width(uint32_t t) { return t == 0 ? 1 : kWidth; }
  uint32_t word_of(uint32_t t, uint32_t i, uint32_t j) const {
    if (t >= beginning_.frame && t < beginning_.frame + beginning_.n_words) return 1 + j % 2;
    if (t + 1 == n_frames_) return 4 + j % 2;
    return t == word_frame_ && i == j ? 3 : 0;
  }
  LatticeCost cost_of(uint32_t t, uint32_t i, uint32_t j) const {
    return {word_of(t, i, j) == 3 ? word_cost_ : 0, noise_[(size_t{t} * kWidth + i) * kWidth + j]};
  }

  // Returns the states of frames begin ... end, and goes on with the costs from the start.
  Lattice piece(uint32_t begin, uint32_t end) {
    Lattice piece;
    for (uint32_t t = begin; t <= end; ++t) {
      const uint32_t first_of_next = piece.n_states() + width(t);
      for (uint32_t i = 0; i < width(t); ++i) {
        for (uint32_t j = 0; t < end && j < kWidth; ++j) {
          piece.arcs.push_back({first_of_next + j, 1 + (i + j) % 3, word_of(t, i, j), cost_of(t, i, j)});
        }
        piece.arc_begin.push_back(piece.arcs.size());
        piece.final_costs.push_back(kNoEnd);
      }
      piece.frames.insert(piece.frames.end(), width(t), t);
      if (t < end) advance(t);
    }
    for (uint32_t i = 0; i < kWidth; ++i) {
      const double extra = from_start_[i] + to_end_[size_t{end} * kWidth + i] - best();
      piece.final_costs[piece.n_states() - kWidth + i] = {end < n_frames_ ? extra : 0, 0};
    }
    return piece;
  }

  void advance(uint32_t t) {
    std::vector<double> next(kWidth, kNoEnd.graph);
    for (uint32_t i = 0; i < width(t); ++i) {
      for (uint32_t j = 0; j < kWidth; ++j) next[j] = std::min(next[j], from_start_[i] + cost_of(t, i, j).total(kScale));
    }
    from_start_ = next;
  }

  const uint32_t n_frames_, word_frame_;
  const double word_cost_;
  const Beginning beginning_;
  std::vector<float> noise_;
  std::vector<double> to_end_, from_start_;
};

using Costs = std::map<std::vector<uint32_t>, double>;

// Returns the total cost of each word sequence of the lattice.
Costs costs_of(const CompactLattice &lattice) {
  Costs costs;
  for (const auto &entry : reference::all_paths(lattice)) costs[entry.first] = entry.second.cost.total(kScale);
  return costs;
}

double best_of(const CompactLattice &lattice) { return best_costs(lattice, kScale).best(); }

// Returns the word sequences of all paths.
std::set<std::vector<uint32_t>> words_of(const CompactLattice &lattice) {
  std::set<std::vector<uint32_t>> result;
  for (const auto &entry : reference::all_paths(lattice)) result.insert(entry.first);
  return result;
}

// Little memory suffices for any length: without commits the beam would be 0.
TEST(LatticePauses, KeepTheBeamAndTheWordsBeside) {
  for (const uint32_t n_frames : {5000u, 20000u, 60000u}) {
    SCOPED_TRACE(n_frames);
    Pause pause(n_frames, n_frames, 0);
    const Determinised result = pause.determinise({kScale, kBeam, uint64_t{1} << 28, size_t{64} << 20});
    EXPECT_EQ(result.beam, kBeam);
    test::expect_well_formed(result.lattice);
    EXPECT_EQ(words_of(result.lattice), (std::set<std::vector<uint32_t>>{{1, 4}, {1, 5}, {2, 4}, {2, 5}}));
    EXPECT_NEAR(best_of(result.lattice), pause.best(), 1e-6 * pause.best());
  }
}

// What grows is the alignments.
TEST(LatticePauses, TakeNoMemory) {
  const auto peak_of = [](uint32_t n_frames) {
    Pause pause(n_frames, n_frames, 0);
    const test::PeakMemory peak;
    pause.determinise({kScale, kBeam});
    return peak.bytes();
  };
  const size_t of_short = peak_of(20000), of_long = peak_of(100000);
  EXPECT_LT(of_long, of_short + size_t{80000} * 64);
}

// A word inside is kept if it is on the best path, and only then.
TEST(LatticePauses, KeepTheBestWordsInside) {
  Pause best(30000, 7000, -2), near(30000, 7000, 1);
  const Determinised with = best.determinise({kScale, kBeam}), without = near.determinise({kScale, kBeam});
  EXPECT_NEAR(best_of(with.lattice), best.best(), 1e-6 * best.best());
  EXPECT_NEAR(best_of(without.lattice), near.best(), 1e-6 * near.best());
  const auto has_word = [](const std::vector<uint32_t> &words) { return std::count(words.begin(), words.end(), 3) > 0; };
  const auto inside = words_of(with.lattice), outside = words_of(without.lattice);
  EXPECT_TRUE(std::any_of(inside.begin(), inside.end(), has_word));
  EXPECT_FALSE(std::any_of(outside.begin(), outside.end(), has_word));
  test::expect_well_formed(with.lattice);
}

// Sequences that wait take memory for their alignments; where that is short, the beam is narrowed and the rest stays exact.
TEST(LatticePauses, NarrowTheBeamInLittleMemory) {
  for (const uint32_t begin : {0u, 20000u}) {
    SCOPED_TRACE(begin);
    const auto result_with = [begin](size_t megabytes) {
      Pause pause(begin + 60000, begin + 60000, 0, {begin, 7});
      return pause.determinise({kScale, kBeam, uint64_t{1} << 28, megabytes << 20});
    };
    const Determinised whole = result_with(1024), narrowed = result_with(16);
    EXPECT_EQ(whole.beam, kBeam);
    EXPECT_LT(narrowed.beam, kBeam);
    EXPECT_GT(narrowed.beam, 0);
    test::expect_well_formed(narrowed.lattice);
    const Costs all = costs_of(whole.lattice), kept = costs_of(narrowed.lattice);
    const double best = best_of(whole.lattice);
    for (const auto &[words, cost] : all) {
      if (cost > best + narrowed.beam - 1e-3) continue;
      ASSERT_EQ(kept.count(words), 1u) << "a word sequence is lost";
      EXPECT_NEAR(kept.at(words), cost, 1e-6);
    }
    EXPECT_LT(kept.size(), all.size());
    EXPECT_GT(kept.size(), 1u);
  }
}

}  // namespace
}  // namespace asr
