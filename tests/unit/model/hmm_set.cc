// SPDX-License-Identifier: Apache-2.0
// Tests HmmSet: refusals of validate(), hmms.bin, and the back-off order of ContextTable.
#include "core/model/hmm_set.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_error;
using test::Scratch;
using test::small_hmm_set;
using test::small_placed_hmm_set;

void expect_equal(const HmmSet &a, const HmmSet &b) {
  EXPECT_EQ(a.n_pdfs, b.n_pdfs);
  EXPECT_EQ(a.silence, b.silence);
  ASSERT_EQ(a.phones.size(), b.phones.size());
  for (size_t i = 0; i < a.phones.size(); ++i) {
    EXPECT_EQ(a.phones[i].name, b.phones[i].name);
    EXPECT_EQ(a.phones[i].filler, b.phones[i].filler);
    EXPECT_EQ(a.phones[i].hmm, b.phones[i].hmm);
  }
  ASSERT_EQ(a.topologies.size(), b.topologies.size());
  for (size_t i = 0; i < a.topologies.size(); ++i) {
    EXPECT_EQ(a.topologies[i].n_states, b.topologies[i].n_states);
    const auto same = [](const TopologyArc &x, const TopologyArc &y) {
      return x.from == y.from && x.to == y.to && x.cost == y.cost;
    };
    EXPECT_TRUE(std::equal(a.topologies[i].arcs.begin(), a.topologies[i].arcs.end(), b.topologies[i].arcs.begin(),
                           b.topologies[i].arcs.end(), same));
  }
  ASSERT_EQ(a.hmms.size(), b.hmms.size());
  for (size_t i = 0; i < a.hmms.size(); ++i) {
    EXPECT_EQ(a.hmms[i].topology, b.hmms[i].topology);
    EXPECT_EQ(a.hmms[i].pdfs, b.hmms[i].pdfs);
  }
  const auto same = [](const ContextPhone &x, const ContextPhone &y) {
    return x.base == y.base && x.left == y.left && x.right == y.right && x.position == y.position && x.hmm == y.hmm;
  };
  EXPECT_TRUE(std::equal(a.contexts.begin(), a.contexts.end(), b.contexts.begin(), b.contexts.end(), same));
  ASSERT_EQ(a.phone_contexts.size(), b.phone_contexts.size());
  for (size_t i = 0; i < a.phone_contexts.size(); ++i) {
    const PhoneContexts &x = a.phone_contexts[i], &y = b.phone_contexts[i];
    EXPECT_EQ(x.base, y.base);
    EXPECT_EQ(x.position, y.position);
    EXPECT_EQ(x.n_right_classes, y.n_right_classes);
    EXPECT_EQ(x.left_class, y.left_class);
    EXPECT_EQ(x.right_class, y.right_class);
    EXPECT_EQ(x.hmms, y.hmms);
  }
  ASSERT_EQ(a.transitions.size(), b.transitions.size());
  for (size_t i = 1; i < a.transitions.size(); ++i) {
    EXPECT_EQ(a.transitions[i].phone, b.transitions[i].phone);
    EXPECT_EQ(a.transitions[i].position, b.transitions[i].position);
    EXPECT_EQ(a.transitions[i].hmm_state, b.transitions[i].hmm_state);
    EXPECT_EQ(a.transitions[i].self_loop, b.transitions[i].self_loop);
    EXPECT_EQ(a.transitions[i].pdf, b.transitions[i].pdf);
  }
}

TEST(HmmSet, RefusesWhatIsOutOfRange) {
  struct Case {
    const char *part;
    std::function<void(HmmSet &)> damage;
  };
  const Case cases[] = {
      {"there are no phones", [](auto &s) { s.phones.clear(); }},
      {"has 0 states", [](auto &s) { s.topologies[1].n_states = 0; }},
      {"states it does not have", [](auto &s) { s.topologies[0].arcs[0].from = 3; }},
      {"states it does not have", [](auto &s) { s.topologies[0].arcs[6].to = 4; }},
      {"not finite", [](auto &s) { s.topologies[0].arcs[0].cost = INFINITY; }},
      {"not in order", [](auto &s) { std::swap(s.topologies[0].arcs[0], s.topologies[0].arcs[1]); }},
      {"cannot be entered", [](auto &s) { s.topologies[0].arcs.pop_back(); }},
      {"cannot be entered or left", [](auto &s) { s.topologies[0].arcs.erase(s.topologies[0].arcs.begin() + 6); }},
      {"topology 2 of 2", [](auto &s) { s.hmms[0].topology = 2; }},
      {"2 pdfs for the 3 states", [](auto &s) { s.hmms[0].pdfs.pop_back(); }},
      {"pdf 9 of 9", [](auto &s) { s.hmms[0].pdfs[0] = 9; }},
      {"is empty", [](auto &s) { s.phones[0].name = ""; }},
      {"has blanks", [](auto &s) { s.phones[0].name = "A B"; }},
      {"two phones B", [](auto &s) { s.phones[0].name = "B"; }},
      {"HMM 6 of 6", [](auto &s) { s.phones[0].hmm = 6; }},
      {"silence is phone 3", [](auto &s) { s.silence = 3; }},
      {"phone beyond", [](auto &s) { s.contexts[0].left = 3; }},
      {"phone beyond", [](auto &s) { s.contexts[0].base = kNoPhone; }},
      {"word position 4", [](auto &s) { s.contexts[0].position = 4; }},
      {"uses HMM 6", [](auto &s) { s.contexts[0].hmm = 6; }},
      {"phone 3 of 3", [](auto &s) { s.transitions[1].phone = 3; }},
      {"pdf 9 of 9", [](auto &s) { s.transitions[2].pdf = 9; }},
      {"word position 4", [](auto &s) { s.transitions[1].position = 4; }},
  };
  small_hmm_set().validate("h.bin");
  for (const Case &c : cases) {
    HmmSet set = small_hmm_set();
    c.damage(set);
    expect_error([&] { set.validate("h.bin"); }, ASR_BAD_FILE, c.part);
  }
}

TEST(HmmSet, RefusesPhoneContextsOutOfRange) {
  struct Case {
    const char *part;
    std::function<void(HmmSet &)> damage;
  };
  const Case cases[] = {
      {"with and without positions", [](auto &s) { s.contexts = small_hmm_set().contexts; }},
      {"contexts 0 are of a phone that does not exist", [](auto &s) { s.phone_contexts[0].base = 3; }},
      {"contexts 1 are of an unknown word position", [](auto &s) { s.phone_contexts[1].position = 4; }},
      {"contexts 1 are those of a phone that has some", [](auto &s) { s.phone_contexts[1] = s.phone_contexts[0]; }},
      {"no HMM for each class", [](auto &s) { s.phone_contexts[0].hmms.pop_back(); }},
      {"no HMM for each class", [](auto &s) { s.phone_contexts[0].hmms.clear(); }},
      {"no HMM for each class", [](auto &s) { s.phone_contexts[0].n_right_classes = 0; }},
      {"class that does not exist", [](auto &s) { s.phone_contexts[0].left_class[9] = 2; }},
      {"class that does not exist", [](auto &s) { s.phone_contexts[0].right_class[0] = 2; }},
      {"class that does not exist", [](auto &s) { s.phone_contexts[1].left_class.pop_back(); }},
      {"HMM that does not exist", [](auto &s) { s.phone_contexts[1].hmms[0] = 6; }},
  };
  small_placed_hmm_set().validate("h.bin");
  for (const Case &c : cases) {
    HmmSet set = small_placed_hmm_set();
    c.damage(set);
    expect_error([&] { set.validate("h.bin"); }, ASR_BAD_FILE, c.part);
  }
}

TEST(HmmSet, FindsPhones) {
  const HmmSet set = small_hmm_set();
  EXPECT_EQ(set.find_phone("B"), 1u);
  EXPECT_EQ(set.find_phone("b"), kNoPhone);
}

TEST(HmmFile, RoundTrips) {
  const Scratch scratch;
  write_hmm_set(small_hmm_set(), scratch / "hmms.bin");
  expect_equal(read_hmm_set(scratch / "hmms.bin"), small_hmm_set());
}

// Older releases read every set that they can use.
TEST(HmmFile, PhoneContextsAreASecondVersion) {
  const Scratch scratch;
  const std::string path = scratch / "hmms.bin";
  const auto version = [&] { return test::slurp(path)[8]; };
  write_hmm_set(small_hmm_set(), path);
  EXPECT_EQ(version(), 1);
  write_hmm_set(small_placed_hmm_set(), path);
  EXPECT_EQ(version(), 2);
  expect_equal(read_hmm_set(path), small_placed_hmm_set());
  std::string bytes = test::slurp(path);
  bytes[8] = 3;
  test::spill(path, bytes);
  expect_error([&] { read_hmm_set(path); }, ASR_BAD_FILE, "has version 3, but this program reads version 2");
}

TEST(HmmFile, SurvivesDamage) {
  const Scratch scratch;
  const std::string path = scratch / "hmms.bin";
  for (const HmmSet &set : {small_hmm_set(), small_placed_hmm_set()}) {
    write_hmm_set(set, path);
    const size_t size = std::filesystem::file_size(path);
    EXPECT_GT(test::count_refused_damages(path, [&] { read_hmm_set(path).validate(path); }), size);
  }
}

// ---- ContextTable: phones 0 = A, 1 = B, 2 = SIL (filler), 3 = +NOISE+ (filler)

constexpr uint32_t kA = 0, kB = 1, kSil = 2, kNoise = 3;
constexpr auto kInternal = WordPosition::kInternal, kBegin = WordPosition::kBegin, kEnd = WordPosition::kEnd,
               kSingle = WordPosition::kSingle;

uint8_t code(WordPosition position) { return static_cast<uint8_t>(position); }

// HMM numbers identify the match: context i of the list has HMM 10 + i, the phones themselves 0 ... 3.
HmmSet context_set(const std::vector<ContextPhone> &contexts) {
  HmmSet set;
  set.phones = {{"A", false, 0}, {"B", false, 1}, {"SIL", true, 2}, {"+NOISE+", true, 3}};
  set.silence = kSil;
  set.contexts = contexts;
  for (size_t i = 0; i < contexts.size(); ++i) set.contexts[i].hmm = static_cast<uint32_t>(10 + i);
  return set;
}

TEST(ContextTable, TakesTheExactContextFirst) {
  const HmmSet set = context_set({{kA, kB, kA, code(kBegin), 0}, {kA, kB, kA, code(kEnd), 0}, {kA, kA, kB, code(kEnd), 0}});
  const ContextTable table(set);
  EXPECT_EQ(table.find(kA, kB, kA, kBegin), 10u);
  EXPECT_EQ(table.find(kA, kB, kA, kEnd), 11u);
  EXPECT_EQ(table.find(kA, kA, kB, kEnd), 12u);
}

TEST(ContextTable, TriesOtherPositionsInTheirOrder) {
  const HmmSet set = context_set({{kA, kB, kA, code(kSingle), 0}, {kA, kB, kA, code(kEnd), 0}});
  EXPECT_EQ(ContextTable(set).find(kA, kB, kA, kInternal), 11u);
  EXPECT_EQ(ContextTable(set).find(kA, kB, kA, kBegin), 11u);
}

TEST(ContextTable, FillersCountAsSilence) {
  const HmmSet set = context_set({{kA, kSil, kB, code(kBegin), 0}, {kA, kB, kSil, code(kInternal), 0}});
  EXPECT_EQ(ContextTable(set).find(kA, kNoise, kB, kBegin), 10u);
  EXPECT_EQ(ContextTable(set).find(kA, kB, kNoise, kInternal), 11u);
}

TEST(ContextTable, ThenTakesSilenceAtTheEdgesOfTheWord) {
  const HmmSet set = context_set({{kA, kSil, kB, code(kBegin), 0},    // 10
                                  {kB, kA, kSil, code(kEnd), 0},      // 11
                                  {kA, kSil, kSil, code(kEnd), 0}});  // 12
  const ContextTable table(set);
  EXPECT_EQ(table.find(kA, kA, kB, kBegin), 10u);    // the left neighbour is in another word
  EXPECT_EQ(table.find(kA, kA, kB, kInternal), 0u);  // the left neighbour is in this word: nothing fits
  EXPECT_EQ(table.find(kB, kA, kA, kEnd), 11u);
  EXPECT_EQ(table.find(kB, kA, kA, kBegin), 1u);
  EXPECT_EQ(table.find(kA, kB, kB, kSingle), 12u);  // both neighbours, and another position
}

TEST(ContextTable, UnknownNeighboursGiveTheContextIndependentModel) {
  const HmmSet set = context_set({{kA, kSil, kB, code(kBegin), 0}});
  EXPECT_EQ(ContextTable(set).find(kA, kNoPhone, kB, kBegin), 0u);
  EXPECT_EQ(ContextTable(set).find(kSil, kA, kB, kSingle), 2u);
}

TEST(ContextTable, IgnoresPositionsWhereTheSetHasNone) {
  const HmmSet set = context_set({{kA, kB, kA, kAnyPosition, 0}});
  for (const WordPosition position : {kInternal, kBegin, kEnd, kSingle}) {
    EXPECT_EQ(ContextTable(set).find(kA, kB, kA, position), 10u);
  }
}

TEST(ContextTable, ListedContextsKnowNoPositionsOfNeighbours) {
  const HmmSet set = context_set({{kA, kB, kSil, code(kEnd), 0}});
  const ContextTable table(set);
  EXPECT_EQ(table.n_neighbours(), 5u);
  EXPECT_EQ(table.neighbour(kB, kBegin), kB);
  EXPECT_EQ(table.neighbour(kNoise, kBegin), table.silence_neighbour());
  EXPECT_EQ(table.edge_neighbour(), table.silence_neighbour());
  EXPECT_EQ(table.find_between(kA, kB, table.silence_neighbour(), kEnd), 10u);
  EXPECT_EQ(table.find_between(kA, kB, table.n_neighbours(), kEnd), 10u);
}

TEST(ContextTable, NeighboursInTheirPositions) {
  const HmmSet set = small_placed_hmm_set();  // phones A, B, SIL
  const ContextTable table(set);
  const auto b_after = [&](uint32_t left, uint32_t right) { return table.find_between(1, left, right, kEnd); };
  EXPECT_EQ(b_after(table.neighbour(0, kBegin), table.edge_neighbour()), 1u);
  EXPECT_EQ(b_after(table.neighbour(0, kInternal), table.edge_neighbour()), 3u);
  EXPECT_EQ(b_after(table.neighbour(0, kBegin), table.silence_neighbour()), 5u);
  EXPECT_EQ(b_after(table.neighbour(0, kBegin), table.n_neighbours()), 5u);  // counts as silence
  EXPECT_EQ(b_after(table.neighbour(0, kInternal), table.silence_neighbour()), 4u);
  EXPECT_EQ(b_after(table.neighbour(0, kBegin), table.neighbour(2, kSingle)), 1u);  // a word of silence is none
  EXPECT_EQ(table.find_between(1, 0, 0, kBegin), 1u);                               // not listed: context-independent
  for (const WordPosition position : {kInternal, kBegin, kEnd, kSingle}) {
    EXPECT_EQ(table.find_between(0, 0, 0, position), 3u);
  }
}

TEST(ContextTable, OneSidedContextsComeLast) {
  const HmmSet set = context_set({{kA, kB, kNoPhone, kAnyPosition, 0}, {kA, kNoPhone, kA, kAnyPosition, 0}});
  EXPECT_EQ(ContextTable(set).find(kA, kB, kA, kInternal), 10u);
  EXPECT_EQ(ContextTable(set).find(kA, kA, kA, kInternal), 11u);
  EXPECT_EQ(ContextTable(set).find(kA, kA, kB, kInternal), 0u);
}

}  // namespace
}  // namespace asr
