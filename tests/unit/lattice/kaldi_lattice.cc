// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/kaldi_lattice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "core/lattice/determinise.h"
#include "core/lattice/state_level.h"
#include "reference/determinise.h"
#include "tests/unit/lattice/random_state_lattice.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using Entries = std::vector<std::pair<std::string, CompactLattice>>;

Entries read_all(const std::string &path) {
  KaldiLatticeReader reader(path);
  Entries entries;
  for (std::pair<std::string, CompactLattice> entry; reader.next(&entry.first, &entry.second);) entries.push_back(entry);
  return entries;
}

void expect_same(const CompactLattice &a, const CompactLattice &b) {
  const auto same_ids = [&](const Alignment &x, const Alignment &y) {
    return std::equal(a.begin(x), a.begin(x) + x.size, b.begin(y), b.begin(y) + y.size);
  };
  const auto expect_same_cost = [](const LatticeCost &x, const LatticeCost &y) {
    EXPECT_FLOAT_EQ(static_cast<float>(x.graph), static_cast<float>(y.graph));
    EXPECT_FLOAT_EQ(static_cast<float>(x.acoustic), static_cast<float>(y.acoustic));
  };
  ASSERT_EQ(a.arc_begin, b.arc_begin);
  ASSERT_EQ(a.frames, b.frames);
  for (size_t i = 0; i < a.arcs.size(); ++i) {
    EXPECT_EQ(a.arcs[i].next_state, b.arcs[i].next_state);
    EXPECT_EQ(a.arcs[i].word, b.arcs[i].word);
    expect_same_cost(a.arcs[i].cost, b.arcs[i].cost);
    EXPECT_TRUE(same_ids(a.arcs[i].alignment, b.arcs[i].alignment));
  }
  for (size_t s = 0; s < a.ends.size(); ++s) {
    ASSERT_EQ(is_end(a.ends[s].cost), is_end(b.ends[s].cost));
    if (!is_end(a.ends[s].cost)) continue;
    expect_same_cost(a.ends[s].cost, b.ends[s].cost);
    EXPECT_TRUE(same_ids(a.ends[s].alignment, b.ends[s].alignment));
  }
}

// Returns the words, alignments and costs (rounded) of all paths in a fixed order, independent of the states.
std::vector<std::tuple<std::vector<uint32_t>, std::vector<uint32_t>, long>> paths_of(const CompactLattice &lattice) {
  std::vector<std::tuple<std::vector<uint32_t>, std::vector<uint32_t>, long>> paths;
  for (const auto &[words, path] : reference::all_paths(lattice)) {
    std::vector<uint32_t> spoken;
    for (const uint32_t word : words) {
      if (word != 0) spoken.push_back(word);
    }
    paths.emplace_back(spoken, path.transition_ids, std::lround(1e4 * path.cost.graph));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class KaldiLattice : public testing::TestWithParam<KaldiForm> {
 protected:
  test::Scratch scratch_;
  const std::string path_ = scratch_ / "lattices";

  template <typename AnyLattice>
  CompactLattice write_and_read(const AnyLattice &lattice) {
    OutputFile file(path_);
    write_kaldi_lattice(file, "one", lattice, GetParam());
    write_kaldi_lattice(file, "nothing", AnyLattice{}, GetParam());
    write_kaldi_lattice(file, "again", lattice, GetParam());
    file.commit();
    const Entries entries = read_all(path_);
    EXPECT_EQ(entries.size(), 3u);
    if (entries.size() != 3) return {};
    EXPECT_EQ(entries[0].first + " " + entries[1].first + " " + entries[2].first, "one nothing again");
    EXPECT_EQ(entries[1].second.n_states(), 0u);
    expect_same(entries[0].second, entries[2].second);
    return entries[0].second;
  }
};

TEST_P(KaldiLattice, ComesBackAsItWas) {
  for (uint32_t seed = 0; seed < 100 && !HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const CompactLattice lattice = determinise(test::random_state_lattice({}, random), {0.1, 8}).lattice;
    expect_same(write_and_read(lattice), lattice);
  }
}

TEST_P(KaldiLattice, AtStateLevelHasTheSamePaths) {
  for (uint32_t seed = 0; seed < 100 && !HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const CompactLattice lattice = determinise(test::random_state_lattice({}, random), {0.1, 8}).lattice;
    EXPECT_EQ(paths_of(write_and_read(state_level(lattice))), paths_of(lattice));
  }
}

TEST_P(KaldiLattice, KeysAreWords) {
  OutputFile file(path_);
  for (const char *key : {"", "two words", "line\n"}) {
    test::expect_error([&] { write_kaldi_lattice(file, key, CompactLattice{}, GetParam()); }, ASR_INVALID_ARGUMENT, "blanks");
  }
}

TEST_P(KaldiLattice, DamageIsAnError) {
  std::mt19937 random(1);
  const CompactLattice lattice = determinise(test::random_state_lattice({}, random), {0.1, 8}).lattice;
  write_and_read(lattice);
  EXPECT_GT(test::count_refused_damages(path_, [&] { read_all(path_); }), 100u);
}

// An entry with damage costs itself, not those behind it.
TEST_P(KaldiLattice, EntriesBehindADamagedOneAreRead) {
  std::mt19937 random(1);
  OutputFile file(path_);
  for (int i = 0; i < 5; ++i) {
    const CompactLattice lattice = determinise(test::random_state_lattice({}, random), {0.1, 8}).lattice;
    write_kaldi_lattice(file, "utt-" + std::to_string(i), lattice, GetParam());
  }
  file.commit();
  const std::string whole = test::slurp(path_);
  const size_t second = whole.find("utt-1"), third = whole.find("utt-2");
  size_t n_refused = 0;
  for (size_t at = second + 6; at + 1 < third; at += 1 + (third - second) / 200) {
    for (const char put : {'\0', '\x7f', '\xff'}) {
      std::string damaged = whole;
      if (GetParam() == KaldiForm::kText && damaged[at] == '\n') continue;
      damaged[at] = put;
      test::spill(path_, damaged);
      KaldiLatticeReader reader(path_);
      std::vector<std::string> keys;  // of entries after the first two
      std::string key;
      CompactLattice lattice;
      size_t n_errors = 0;
      for (bool more = true; more;) {
        try {
          more = reader.next(&key, &lattice);
          if (more && key > "utt-1") keys.push_back(key);
        } catch (const Error &) {
          ++n_errors;
        }
      }
      if (n_errors == 0) continue;
      ++n_refused;
      EXPECT_EQ(keys, (std::vector<std::string>{"utt-2", "utt-3", "utt-4"})) << at;
    }
  }
  EXPECT_GT(n_refused, 20u);
}

INSTANTIATE_TEST_SUITE_P(Forms, KaldiLattice, testing::Values(KaldiForm::kBinary, KaldiForm::kText));

TEST(KaldiLatticeText, IsReadInEveryFormThatKaldiWrites) {
  const test::Scratch scratch;
  const std::string path = scratch / "text";
  test::spill(path,
              "compact \n"
              "7 1 5 1.5,20,3_4\n"
              "7 3 6\n"  // no weight: no cost
              "1 9 2 0.5,1,\n"
              "3 1 2 0,0,1_1\n"
              "9\n\n"
              "state \n0 1 3 5 1.5,20\n1 2 4 0\n2 0.25,0\n\n");
  const Entries entries = read_all(path);
  ASSERT_EQ(entries.size(), 2u);
  const CompactLattice &compact = entries[0].second;
  EXPECT_EQ(compact.frames, (std::vector<uint32_t>{0, 0, 2, 2}));  // states 7 3 1 9
  EXPECT_EQ(compact.arc_begin, (std::vector<uint64_t>{0, 2, 3, 4, 4}));
  EXPECT_EQ(compact.arcs[0].next_state, 2u);
  EXPECT_EQ(compact.arcs[0].cost.acoustic, 20);
  EXPECT_EQ(compact.begin(compact.arcs[0].alignment)[1], 4u);
  EXPECT_EQ(compact.arcs[1].next_state, 1u);
  EXPECT_TRUE(is_end(compact.ends[3].cost));
  const CompactLattice &state = entries[1].second;
  EXPECT_EQ(state.frames, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(state.arcs[1].word, 0u);
  EXPECT_EQ(state.ends[2].cost.graph, 0.25);
}

TEST(KaldiLatticeText, NumbersOfAnySizeAreReadAsWhatTheyAre) {
  const test::Scratch scratch;
  const std::string path = scratch / "text";
  test::spill(path, "key\n0 1 5 1e-999,-1e300,\n0 1 6 1e999,0,\n1 0.5,0,\n");
  const CompactLattice lattice = read_all(path).at(0).second;
  ASSERT_EQ(lattice.arcs.size(), 1u);  // the other costs more than any path
  EXPECT_EQ(lattice.arcs[0].cost.graph, 0);
  EXPECT_EQ(lattice.arcs[0].cost.acoustic, -1e300);
  test::spill(path, "key\n0 1 5 -1e999,0,\n1\n");
  test::expect_error([&] { read_all(path); }, ASR_BAD_FILE, "a cost is not a number");
}

TEST(KaldiLatticeText, SaysWhatIsWrong) {
  const test::Scratch scratch;
  const std::string path = scratch / "text";
  const auto expect_refused = [&](const std::string &text, const std::string &message) {
    test::spill(path, text);
    test::expect_error([&] { read_all(path); }, ASR_BAD_FILE, message);
  };
  expect_refused("key\n0 1 x 0,0,\n1\n", ":2: a number is not one");
  expect_refused("key\n0 1\n1\n", ":2: a line is neither");
  expect_refused("key\n0 1 5 nan,0,\n1\n", ":2: a cost is not a number");
  expect_refused("key\n0 1 5 1,0,\n1 0 5\n1\n", "entry key: its arcs go round");
  expect_refused("key\n0 1 5 1,0,2\n0 1 6 1,0,2_2\n1\n", "entry key: paths with different numbers of frames lead to state 1");
  expect_refused("key\n0 1 5 1,0,2\n1\n1 0.5,0,\n", "entry key: state 1 ends twice");
  expect_refused("key", ": ends within the key");
  expect_refused("key not a lattice", "is no archive of lattices");
  expect_refused("0.3\n34 n_base\n", "is no archive of lattices");  // Sphinx's mdef
  expect_refused(std::string("\1\0x y", 5), "is no archive of lattices");
}

}  // namespace
}  // namespace asr
