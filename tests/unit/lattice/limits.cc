// SPDX-License-Identifier: Apache-2.0
// Tests limits of work and memory, and stopping, on lattices with more word sequences than any memory holds.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "core/base/limits.h"
#include "core/lattice/confusion_network.h"
#include "core/lattice/determinise.h"
#include "core/lattice/nbest.h"
#include "core/lattice/prepared_lattice.h"
#include "core/lattice/prune.h"
#include "tests/unit/lattice/allocated.h"
#include "tests/unit/lattice/lattice_cuts.h"
#include "tests/unit/lattice/word_loop_lattice.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

constexpr double kScale = 0.1;
constexpr size_t kMegabyte = 1 << 20;

size_t bytes_of(const Lattice &lattice) { return lattice.arcs.size() * sizeof(LatticeArc) + size_t{lattice.n_states()} * 28; }

// Expects the result under a limit: a narrower beam, and the best path with its alignment.
void expect_narrow(const Lattice &lattice, const Determinised &result, double beam) {
  const PreparedLattice prepared = prepare(lattice, kScale, beam);
  EXPECT_LT(result.beam, beam);
  EXPECT_GE(result.beam, 0);
  const LatticePath best = best_path(result.lattice, kScale);
  EXPECT_NEAR(best.cost.total(kScale), prepared.best, 1e-9 * std::fabs(prepared.best));
  EXPECT_EQ(best.transition_ids.size(), lattice.frames.back());
  const BestCosts costs = best_costs(result.lattice, kScale);
  for (uint32_t s = 0; s < result.lattice.n_states(); ++s) {
    EXPECT_TRUE(std::isfinite(costs.from_start[s] + costs.to_end[s])) << "state " << s << " is on no path";
  }
}

struct Case {
  const char *name;
  test::WordLoop shape;
};

class Limits : public testing::TestWithParam<Case> {};

TEST_P(Limits, MemoryIsBounded) {
  const Lattice lattice = test::word_loop_lattice(GetParam().shape);
  for (const size_t max_bytes : {size_t{0}, kMegabyte, 8 * kMegabyte, 32 * kMegabyte}) {
    SCOPED_TRACE(max_bytes);
    Lattice given = lattice;
    const test::PeakMemory peak;
    const Determinised result = determinise(std::move(given), {kScale, 12, uint64_t{1} << 28, max_bytes});
    EXPECT_LE(peak.bytes(), max_bytes + 4 * bytes_of(lattice));
    expect_narrow(lattice, result, 12);
  }
}

TEST_P(Limits, MemoryIsBoundedInPieces) {
  const Lattice lattice = test::word_loop_lattice(GetParam().shape);
  const std::vector<Lattice> cut = test::cut_lattice(lattice, kScale, 40);
  size_t largest = 0;
  for (const Lattice &piece : cut) largest = std::max(largest, bytes_of(piece));
  for (const size_t max_bytes : {size_t{0}, kMegabyte, 16 * kMegabyte}) {
    SCOPED_TRACE(max_bytes);
    std::vector<Lattice> given = cut;
    const test::PeakMemory peak;
    PieceDeterminiser pieces({kScale, 12, uint64_t{1} << 28, max_bytes});
    for (size_t i = 0; i + 1 < given.size(); ++i) pieces.add(std::move(given[i]));
    const Determinised result = pieces.finish(std::move(given.back()));
    EXPECT_LE(peak.bytes(), max_bytes + 4 * largest + uint64_t{200} * GetParam().shape.n_frames);
    expect_narrow(lattice, result, 12);
  }
}

TEST_P(Limits, WorkIsBounded) {
  const Lattice lattice = test::word_loop_lattice(GetParam().shape);
  for (const uint64_t max_work : {uint64_t{0}, uint64_t{1} << 16, uint64_t{1} << 20}) {
    const auto begin = std::chrono::steady_clock::now();
    const Determinised result = determinise(lattice, {kScale, 12, max_work, size_t{1} << 31});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    expect_narrow(lattice, result, 12);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Limits,
                         testing::Values(Case{"Flat", {}}, Case{"FlatAndLong", {2000, 3}},
                                         Case{"OneOfLogZero", {400, 5, 240, 1e10}}, Case{"OneOf1e18", {300, 3, 200, 1e18}},
                                         Case{"OneOf1e30", {300, 3, 200, 1e30}}),
                         [](const auto &info) { return std::string(info.param.name); });

// Sufficient memory changes nothing.
TEST(WideLimits, GiveTheWholeBeam) {
  const Lattice lattice = test::word_loop_lattice({8, 2});
  EXPECT_EQ(determinise(lattice, {kScale, 3}).beam, 3);
  EXPECT_EQ(determinise(lattice, {kScale, 3, uint64_t{1} << 28, 8 * kMegabyte}).beam, 3);
}

// Makes a word in every frame, each of them `n_arcs` times.
CompactLattice dense_lattice(uint32_t n_frames, uint32_t n_arcs) {
  CompactLattice lattice;
  for (uint32_t s = 0; s <= n_frames; ++s) {
    lattice.frames.push_back(s);
    for (uint32_t a = 0; s < n_frames && a < n_arcs; ++a) lattice.arcs.push_back({s + 1, a + 1, {0.5 * a, 0}, {}});
    lattice.arc_begin.push_back(lattice.arcs.size());
    lattice.ends.emplace_back();
  }
  lattice.ends.back().cost = {};
  return lattice;
}

// Returns the bytes that folding takes per state.
double fold_bytes(uint32_t n_frames, uint32_t n_arcs) {
  const CompactLattice lattice = dense_lattice(n_frames, n_arcs);
  const std::vector<WordPlace> words = best_words(lattice, kScale);
  const test::PeakMemory peak;
  const ConfusionNetwork network = fold_onto(lattice, words, kScale);
  EXPECT_EQ(network.slots.size(), 2 * words.size() + 1);
  return static_cast<double>(peak.bytes()) / n_frames;
}

// Folding keeps a value for each state and each slot within reach; its reach shrinks if these, or those of all arcs, are too
// many.
TEST(FoldLimits, DenseLatticesAreFoldedWithinLess) {
  const double usual = fold_bytes(2000, 2);
  const uint32_t n_slots_in_reach = 4 * static_cast<uint32_t>(kFoldReach);
  EXPECT_GT(usual, n_slots_in_reach * sizeof(double));
  EXPECT_LT(fold_bytes(static_cast<uint32_t>(kMaxFoldStateValues / n_slots_in_reach) + 1000, 1), 0.75 * usual);
  EXPECT_LT(fold_bytes(2000, static_cast<uint32_t>(kMaxFoldArcValues / 2000 / n_slots_in_reach) + 8), 0.75 * usual);
}

class Stopping : public testing::Test {
 protected:
  std::atomic<bool> flag_{true};
  const StopToken stop_{&flag_};

  void expect_stopped(const std::function<void()> &work) { test::expect_error(work, ASR_CANCELLED, "cancelled"); }
};

TEST_F(Stopping, EndsEveryKindOfWork) {
  const Lattice lattice = test::word_loop_lattice({10, 2});
  const CompactLattice compact = determinise(lattice, {kScale, 2}).lattice;
  const LatticePosteriors posteriors = lattice_posteriors(compact, kScale);
  const std::vector<WordPlace> words = best_words(compact, kScale);
  expect_stopped([&] { determinise(lattice, {kScale, 2}, stop_); });
  expect_stopped([&] { PieceDeterminiser({kScale, 2}).add(lattice, stop_); });
  expect_stopped([&] { PieceDeterminiser({kScale, 2}).finish(lattice, stop_); });
  expect_stopped([&] { n_best_paths(compact, kScale, 5, 8, stop_); });
  expect_stopped([&] { lattice_posteriors(compact, kScale, stop_); });
  expect_stopped([&] { word_confidences(compact, posteriors, words, stop_); });
  flag_ = false;
  EXPECT_EQ(determinise(lattice, {kScale, 2}, stop_).lattice.arcs.size(), compact.arcs.size());
}

TEST_F(Stopping, IsSoon) {
  const Lattice lattice = test::word_loop_lattice({2000, 3, 1500, 1e10});
  flag_ = false;
  std::chrono::steady_clock::time_point asked;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    asked = std::chrono::steady_clock::now();
    flag_ = true;
  });
  expect_stopped([&] {
    for (;;) determinise(lattice, {kScale, 12}, stop_);
  });
  const auto ended = std::chrono::steady_clock::now();
  other.join();
  EXPECT_LT(ended - asked, std::chrono::milliseconds(1000));  // usually a few, on an idle machine
}

}  // namespace
}  // namespace asr
