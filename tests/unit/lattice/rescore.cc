// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/rescore.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "tests/unit/lattice/small_lattice.h"

namespace asr {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Costs by the last `n_words` words, optionally some of them infinite.
class HistoryScores : public WordScores {
 public:
  HistoryScores(size_t n_words, unsigned seed, bool forbids) : n_words_(n_words), seed_(seed), forbids_(forbids) {}

  uint32_t start() override { return state_of({}); }
  double advance(uint32_t state, uint32_t word, uint32_t *next) override {
    std::vector<uint32_t> history = histories_[state];
    history.push_back(word);
    const double cost = cost_of(history);
    if (history.size() > n_words_) history.erase(history.begin());
    *next = state_of(history);
    return cost;
  }
  double end(uint32_t state) override {
    std::vector<uint32_t> history = histories_[state];
    history.push_back(1000);
    return cost_of(history);
  }
  double cost_of_sentence(const std::vector<uint32_t> &words) {
    double cost = 0;
    uint32_t state = start();
    for (const uint32_t word : words) cost += advance(state, word, &state);
    return cost + end(state);
  }

 private:
  size_t n_words_;
  unsigned seed_;
  bool forbids_;
  std::vector<std::vector<uint32_t>> histories_;
  std::map<std::vector<uint32_t>, uint32_t> state_of_;

  uint32_t state_of(const std::vector<uint32_t> &history) {
    const auto [found, is_new] = state_of_.emplace(history, uint32_t(histories_.size()));
    if (is_new) histories_.push_back(history);
    return found->second;
  }
  double cost_of(const std::vector<uint32_t> &words) const {
    std::seed_seq seed(words.begin(), words.end());
    uint32_t value[1];
    seed.generate(value, value + 1);
    value[0] = value[0] * 2654435761u + seed_ * 40503u;
    if (forbids_ && value[0] % 7 == 0) return kNever;
    return double(value[0] % 1000) / 200;
  }
};

TEST(Rescore, ChangesEveryPathByItsWords) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const CompactLattice lattice = test::random_lattice({2 + seed % 9, 3, 2, false, seed % 4 == 0}, random);
    HistoryScores old_scores(1, seed, false), new_scores(2, seed + 1, seed % 2 == 0);
    std::multimap<std::vector<uint32_t>, LatticeCost> wanted;
    for (const auto &path : test::list_paths(lattice, 1)) {
      const double cost = new_scores.cost_of_sentence(path.words);
      if (cost == kNever) continue;
      wanted.emplace(path.words, path.cost + LatticeCost{cost - old_scores.cost_of_sentence(path.words), 0});
    }
    const CompactLattice result = rescore(lattice, old_scores, new_scores);
    const auto paths = test::list_paths(result, 1);
    ASSERT_EQ(paths.size(), wanted.size()) << seed;
    for (const auto &path : paths) {
      const auto close = [&](const auto &entry) {
        return std::abs(entry.second.graph - path.cost.graph) < 1e-9 &&
               std::abs(entry.second.acoustic - path.cost.acoustic) < 1e-9;
      };
      const auto range = wanted.equal_range(path.words);
      const auto found = std::find_if(range.first, range.second, close);
      ASSERT_NE(found, range.second) << seed;
      wanted.erase(found);
    }
    for (uint32_t s = 0; s < result.n_states(); ++s) {  // every state is on a path, and arcs lead forward
      EXPECT_TRUE(is_end(result.ends[s].cost) || result.arc_begin[s] < result.arc_begin[s + 1]);
      for (uint64_t a = result.arc_begin[s]; a < result.arc_begin[s + 1]; ++a) {
        const CompactArc &arc = result.arcs[a];
        ASSERT_GT(arc.next_state, s);
        ASSERT_LT(arc.next_state, result.n_states());
        EXPECT_EQ(result.frames[s] + arc.alignment.size, result.frames[arc.next_state]);
      }
    }
  }
}

TEST(Rescore, TheSameModelChangesNothing) {
  std::mt19937 random(3);
  const CompactLattice lattice = test::random_lattice({}, random);
  HistoryScores old_scores(0, 1, false), new_scores(0, 1, false);
  const CompactLattice result = rescore(lattice, old_scores, new_scores);
  ASSERT_EQ(result.arcs.size(), lattice.arcs.size());
  for (size_t a = 0; a < result.arcs.size(); ++a) EXPECT_EQ(result.arcs[a].cost, lattice.arcs[a].cost);
  EXPECT_EQ(result.arc_begin, lattice.arc_begin);
}

TEST(Rescore, RefusesAnOldModelThatCannotHaveMadeTheLattice) {
  std::mt19937 random(5);
  const CompactLattice lattice = test::random_lattice({12, 4, 3, false, false}, random);
  HistoryScores old_scores(2, 1, true), new_scores(0, 1, false);
  EXPECT_THROW(rescore(lattice, old_scores, new_scores), Error);
}

TEST(Rescore, NothingAllowedIsTheEmptyLattice) {
  class Never : public WordScores {
    uint32_t start() override { return 0; }
    double advance(uint32_t, uint32_t, uint32_t *) override { return kNever; }
    double end(uint32_t) override { return kNever; }
  };
  std::mt19937 random(7);
  Never never;
  HistoryScores old_scores(0, 1, false);
  EXPECT_EQ(rescore(test::random_lattice({}, random), old_scores, never).n_states(), 0u);
  EXPECT_EQ(rescore({}, old_scores, never).n_states(), 0u);
}

}  // namespace
}  // namespace asr
