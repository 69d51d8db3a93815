// SPDX-License-Identifier: Apache-2.0
// Questions and trees on drawn rows, beside plain sums over the rows themselves.
#include "builder/train/new/state_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tests/unit/scratch.h"

namespace asr::train {
namespace {

constexpr uint32_t kDims = 2;
const std::vector<double> kFloor = {0.01, 0.01};
using Rows = std::vector<std::vector<float>>;

RowMoments moments_of(const Rows &rows) {
  RowMoments moments;
  for (const std::vector<float> &row : rows) moments.add(row.data(), kDims);
  return moments;
}

// The negative log-likelihood of rows under their Gaussian, without ln 2 pi / 2 a value.
double cost_of(const Rows &rows) {
  double cost = 0;
  for (uint32_t i = 0; i < kDims; ++i) {
    double mean = 0, variance = 0;
    for (const auto &row : rows) mean += static_cast<double>(row[i]) / static_cast<double>(rows.size());
    for (const auto &row : rows) variance += std::pow(static_cast<double>(row[i]) - mean, 2) / static_cast<double>(rows.size());
    variance = std::max(variance, kFloor[i]);
    for (const auto &row : rows) cost += (std::log(variance) + std::pow(static_cast<double>(row[i]) - mean, 2) / variance) / 2;
  }
  return cost;
}

Rows draw(size_t n, double x, double y, std::mt19937 *random) {
  std::normal_distribution<double> normal;
  Rows rows;
  for (size_t i = 0; i < n; ++i) {
    rows.push_back({static_cast<float>(x + normal(*random)), static_cast<float>(y + normal(*random))});
  }
  return rows;
}

TEST(RowMoments, CostIsThatOfTheRows) {
  std::mt19937 random(1);
  const Rows a = draw(50, 0, 3, &random), b = draw(70, 2, 3, &random), flat(5, {1, 1});
  Rows both = a;
  both.insert(both.end(), b.begin(), b.end());
  EXPECT_NEAR(moments_of(a).cost(kFloor), cost_of(a), 1e-6);
  EXPECT_NEAR(moments_of(flat).cost(kFloor), cost_of(flat), 1e-6);
  EXPECT_NEAR(cost_of_merging(moments_of(a), moments_of(b), kFloor), cost_of(both) - cost_of(a) - cost_of(b), 1e-6);
}

// Four phones beside each other two by two: 0 with 3, 1 with 2.
TEST(Questions, JoinPhonesThatSoundAlike) {
  std::mt19937 random(2);
  std::vector<MomentsOfPhone> phones(4);
  const double at[] = {0, 50, 51, 1};
  for (size_t i = 0; i < 4; ++i) {
    for (RowMoments &of_state : phones[i]) of_state = moments_of(draw(100, at[i], 0, &random));
  }
  const std::vector<Question> questions = make_questions(phones, kFloor);
  ASSERT_EQ(questions.size(), 6u);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(questions[i][i]);
  const std::set<Question> sets(questions.begin() + 4, questions.end());
  EXPECT_EQ(sets, (std::set<Question>{{true, false, false, true}, {false, true, true, false}}));
}

// Phones A to D beside silence. State 0 of A depends on its left neighbour, state 2 on its right one, state 1 on whether it
// begins the word. Nothing else depends on anything.
class TreeTest : public ::testing::Test {
 protected:
  const HmmSet set_ = make_monophones({"A", "B", "C", "D"}, "set");
  std::map<PhoneInContext, std::array<Rows, kStatesOfPhone>> rows_;
  ContextMoments moments_;
  ThreadPool pool_{2};

  void SetUp() override {
    std::mt19937 random(3);
    for (uint32_t phone = 1; phone < 5; ++phone) {
      for (uint32_t left = 0; left < 5; ++left) {
        for (uint32_t right = 0; right < 5; ++right) {
          for (uint8_t position = 0; position < 4; ++position) {
            if (left == 2 && right == 2) continue;  // never heard
            const bool begins = position == 1 || position == 3;
            const double moved[] = {left == 2 ? 9.0 : 0, begins ? 7.0 : 0, right > 2 ? 5.0 : 0};
            const PhoneInContext context{phone, position, left, right};
            for (uint32_t k = 0; k < kStatesOfPhone; ++k) {
              rows_[context][k] = draw(20, phone == 1 ? moved[k] : 10.0 * phone, k, &random);
              moments_[context][k] = moments_of(rows_[context][k]);
            }
          }
        }
      }
    }
    for (RowMoments &of_state : moments_[{0, kAnyPosition, 0, 0}]) of_state = moments_of(draw(500, -30, 0, &random));
  }

  StateTree tree(const TreeOptions &options, ThreadPool *pool) const { return {set_, moments_, kFloor, options, pool}; }
};

TEST_F(TreeTest, AsksWhatStatesDependOn) {
  const StateTree tree = this->tree({2000, 50, 200}, &pool_);
  EXPECT_EQ(tree.n_leaves(), 5 * 3 + 3u);
  const auto leaf = [&](uint8_t position, uint32_t left, uint32_t right, uint32_t state) {
    return tree.leaf({1, position, left, right}, state);
  };
  EXPECT_NE(leaf(0, 2, 1, 0), leaf(0, 3, 1, 0));
  EXPECT_EQ(leaf(0, 1, 1, 0), leaf(2, 4, 3, 0));
  EXPECT_EQ(leaf(1, 1, 1, 1), leaf(3, 2, 4, 1));
  EXPECT_NE(leaf(1, 1, 1, 1), leaf(0, 1, 1, 1));
  EXPECT_EQ(leaf(0, 1, 3, 2), leaf(1, 2, 4, 2));
  EXPECT_NE(leaf(0, 1, 3, 2), leaf(0, 1, 2, 2));
  EXPECT_EQ(leaf(0, 2, 2, 0), leaf(0, 2, 1, 0));  // never heard, but answered
  double frames = 0, heard = 0;
  for (const RowMoments &moments : tree.leaf_moments()) frames += moments.frames;
  for (const auto &[context, of_states] : moments_) {
    for (const RowMoments &of_state : of_states) heard += of_state.frames;
  }
  EXPECT_EQ(frames, heard);
}

// The first split of a tree is the best of all, which plain sums over the rows find.
TEST_F(TreeTest, FirstSplitIsTheBest) {
  const uint32_t n_roots = 15;
  const StateTree tree = this->tree({n_roots + 1, 50, 0}, &pool_);
  ASSERT_EQ(tree.n_leaves(), n_roots + 1);
  std::vector<MomentsOfPhone> phones(5);
  for (const auto &[context, of_states] : moments_) {
    for (uint32_t k = 0; k < kStatesOfPhone; ++k) phones[context.phone][k].add(of_states[k]);
  }
  const auto gain_of = [&](uint32_t phone, uint32_t state, const std::function<bool(const PhoneInContext &)> &is_yes) {
    Rows all, sides[2];
    for (const auto &[context, of_states] : rows_) {
      if (context.phone != phone) continue;
      for (const auto &row : of_states[state]) {
        all.push_back(row);
        sides[is_yes(context)].push_back(row);
      }
    }
    if (sides[0].empty() || sides[1].empty()) return 0.0;
    return cost_of(all) - cost_of(sides[0]) - cost_of(sides[1]);
  };
  double best = 0;
  for (uint32_t phone = 1; phone < 5; ++phone) {
    for (uint32_t state = 0; state < kStatesOfPhone; ++state) {
      for (const Question &question : make_questions(phones, kFloor)) {
        best = std::max(best, gain_of(phone, state, [&](const PhoneInContext &context) { return question[context.left]; }));
        best = std::max(best, gain_of(phone, state, [&](const PhoneInContext &context) { return question[context.right]; }));
      }
      for (const std::set<uint8_t> &positions : {std::set<uint8_t>{1, 3}, {2, 3}, {3}}) {
        best = std::max(best, gain_of(phone, state, [&](const PhoneInContext &c) { return positions.count(c.position) > 0; }));
      }
    }
  }
  double found = 0, roots = 0;
  for (const RowMoments &moments : tree.leaf_moments()) found += moments.cost(kFloor);
  for (const MomentsOfPhone &phone : phones) {
    for (const RowMoments &of_state : phone) roots += of_state.cost(kFloor);
  }
  EXPECT_NEAR(roots - found, best, 1e-5 * best);
}

TEST_F(TreeTest, GraphsFindItsLeaves) {
  const StateTree tree = this->tree({2000, 50, 200}, &pool_);
  const HmmSet set = tree.hmms("set");
  EXPECT_EQ(set.n_pdfs, tree.n_leaves());
  const ContextTable table(set);
  for (uint32_t phone = 1; phone < 5; ++phone) {
    for (uint32_t left = 1; left < 6; ++left) {  // 5: silence
      for (uint32_t right = 1; right < 6; ++right) {
        for (const WordPosition position :
             {WordPosition::kInternal, WordPosition::kBegin, WordPosition::kEnd, WordPosition::kSingle}) {
          const auto neighbour = [&](uint32_t other) {
            return other == 5 ? table.silence_neighbour() : table.neighbour(other, WordPosition::kSingle);
          };
          const Hmm &hmm = set.hmms[table.find_between(phone, neighbour(left), neighbour(right), position)];
          for (uint32_t k = 0; k < kStatesOfPhone; ++k) {
            EXPECT_EQ(hmm.pdfs[k], tree.leaf({phone, static_cast<uint8_t>(position), left % 5, right % 5}, k));
          }
        }
      }
    }
  }
  const std::vector<PhoneState> states = phone_states(set);
  for (uint32_t phone = 0; phone < 5; ++phone) {
    for (uint32_t k = 0; k < kStatesOfPhone; ++k) {
      const PhoneState &of_leaf = states[tree.leaf({phone, 0, 2, 3}, k)];
      EXPECT_EQ(of_leaf.phone, phone);
      EXPECT_EQ(of_leaf.state, k);
    }
  }
}

TEST_F(TreeTest, AnyNumberOfThreadsGrowsTheSame) {
  ThreadPool one(1), three(3);
  const StateTree a = tree({40, 20, 0}, &one), b = tree({40, 20, 0}, &three);
  EXPECT_EQ(a.n_leaves(), 40u);
  for (const auto &[context, of_states] : moments_) {
    for (uint32_t k = 0; k < kStatesOfPhone; ++k) ASSERT_EQ(a.leaf(context, k), b.leaf(context, k));
  }
}

TEST_F(TreeTest, KeepsLeavesAboveTheMinimum) {
  const StateTree tree = this->tree({2000, 300, 0}, &pool_);
  for (const RowMoments &moments : tree.leaf_moments()) EXPECT_GE(moments.frames, 300);
}

}  // namespace
}  // namespace asr::train
