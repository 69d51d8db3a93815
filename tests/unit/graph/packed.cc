// SPDX-License-Identifier: Apache-2.0
// Tests packed graphs: unpacking restores the arrays bit for bit, in order, and every arc is found by its number.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/graph/packed/check.h"
#include "core/graph/packed/pack.h"
#include "tests/unit/scratch.h"

namespace asr::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The arrays of a random graph with everything that a record can hold. It has self-loops first, last, between, twice
// and with words, and states with very many arcs or none. Costs are repeated, unique or -0. Transition-ids are of the
// state entered and of others.
struct RandomArrays {
  std::vector<uint32_t> emitting_begin, epsilon_begin, pdf_of{0};
  std::vector<asr_graph_arc> arcs;
  std::vector<float> final_costs;
  uint32_t n_states, n_ids, n_pdfs, start;

  explicit RandomArrays(std::mt19937 &random, uint32_t max_pdfs = 50) {
    n_states = 1 + random() % 60;
    n_ids = 1 + random() % 20;
    n_pdfs = 1 + random() % max_pdfs;
    start = random() % n_states;
    for (uint32_t i = 0; i < n_ids; ++i) pdf_of.push_back(random() % n_pdfs);
    for (const bool emitting : {true, false}) {
      for (uint32_t s = 0; s < n_states; ++s) {
        (emitting ? emitting_begin : epsilon_begin).push_back(static_cast<uint32_t>(arcs.size()));
        add_arcs(s, emitting, random);
      }
      (emitting ? emitting_begin : epsilon_begin).push_back(static_cast<uint32_t>(arcs.size()));
    }
    for (uint32_t s = 0; s < n_states; ++s) final_costs.push_back(random() % 3 != 0 ? kInfinity : cost(random));
  }

  asr_graph_view view() const {
    asr_graph_view view{};
    view.size = sizeof(view);
    view.n_states = n_states, view.start_state = start, view.n_transition_ids = n_ids, view.n_pdfs = n_pdfs;
    view.n_arcs = arcs.size();
    view.emitting_begin = emitting_begin.data(), view.epsilon_begin = epsilon_begin.data(), view.arcs = arcs.data();
    view.final_costs = final_costs.data(), view.pdf_of = pdf_of.data();
    return view;
  }

 private:
  static float cost(std::mt19937 &random) {
    const uint32_t kind = random() % 8;
    return kind == 0 ? -0.0f : kind < 5 ? static_cast<float>(random() % 4) : std::ldexp(static_cast<float>(random()), -28);
  }
  void add_arcs(uint32_t s, bool emitting, std::mt19937 &random) {
    const uint32_t n = random() % 20 == 0 ? random() % 100 : random() % 4;
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t to = random() % 3 == 0 ? s : random() % n_states;
      const uint32_t id = !emitting ? 0 : random() % 2 == 0 ? 1 + to % n_ids : 1 + random() % n_ids;
      arcs.push_back({to, id, random() % 4 == 0 ? 1 + static_cast<uint32_t>(random() % 99) : 0, cost(random)});
    }
  }
};

// `arrays` must outlive it.
asr_packed_graph packed_of(const RandomArrays &graph, const PackedArrays &arrays) {
  asr_packed_graph packed{};
  packed.n_states = graph.n_states, packed.start_state = arrays.start_state;
  packed.n_transition_ids = graph.n_ids, packed.n_pdfs = graph.n_pdfs, packed.n_words = 100;
  packed.n_arcs = graph.arcs.size(), packed.n_emitting_arcs = graph.emitting_begin.back();
  packed.n_units = static_cast<uint32_t>(arrays.records.size());
  packed.n_costs = static_cast<uint32_t>(arrays.costs.size());
  packed.n_classes = static_cast<uint32_t>(arrays.classes.size());
  packed.n_other_ids = static_cast<uint32_t>(arrays.other_ids.size());
  packed.costs = arrays.costs.data(), packed.classes = arrays.classes.data(), packed.other_ids = arrays.other_ids.data();
  packed.first_records = arrays.first_records.data(), packed.records = arrays.records.data();
  packed.pdf_of = graph.pdf_of.data();
  return packed;
}

template <typename T>
bool same_bytes(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && (a.empty() || memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

TEST(PackedGraph, ComesBack) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const RandomArrays graph(random, round % 10 == 0 ? 1u << 22 : 50);
    const PackedArrays arrays = pack_graph(graph.view());
    const asr_packed_graph packed = packed_of(graph, arrays);
    ASSERT_NO_THROW(check_packed_graph(packed, "packed")) << "round " << round;
    const UnpackedArrays back = unpack_graph(packed);
    ASSERT_EQ(back.start_state, graph.start);
    ASSERT_TRUE(same_bytes(back.emitting_begin, graph.emitting_begin)) << "round " << round;
    ASSERT_TRUE(same_bytes(back.epsilon_begin, graph.epsilon_begin)) << "round " << round;
    ASSERT_TRUE(same_bytes(back.final_costs, graph.final_costs)) << "round " << round;
    ASSERT_TRUE(same_bytes(back.arcs, graph.arcs)) << "round " << round;
  }
}

// Numbers of arcs into one state are in the order of their indices, separately for emitting and epsilon arcs. A state's
// offset is in the order of its number.
TEST(PackedGraph, ArcsHaveNumbers) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const RandomArrays graph(random);
    const PackedArrays arrays = pack_graph(graph.view());
    const asr_packed_graph packed = packed_of(graph, arrays);
    std::vector<std::pair<uint32_t, uint32_t>> last_into(graph.n_states);  // numbers + 1 of the last emitting and epsilon arc
    std::vector<uint32_t> places;
    for (uint64_t place = 0; place < packed.n_units; place += packed.units_of(static_cast<uint32_t>(place))) {
      places.push_back(static_cast<uint32_t>(place));
    }
    ASSERT_EQ(places.size(), graph.n_states);
    for (uint32_t s = 0; s < graph.n_states; ++s) {
      const StateRecord record = packed.state(places[s]);
      const auto expect_arc = [&](uint32_t number, const asr_graph_arc &want) {
        const asr_graph_arc got = packed.arc(number);
        ASSERT_EQ(got.next_state, places[want.next_state]);
        ASSERT_EQ(packed.next_state(number), got.next_state);
        ASSERT_EQ(got.transition_id, want.transition_id);
        ASSERT_EQ(got.word, want.word);
        // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the same bits are wanted
        ASSERT_EQ(memcmp(&got.graph_cost, &want.graph_cost, sizeof(float)), 0);
        uint32_t &last = want.transition_id != 0 ? last_into[want.next_state].first : last_into[want.next_state].second;
        ASSERT_GT(number + 1, last);
        last = number + 1;
      };
      uint32_t index = graph.emitting_begin[s];
      const auto expect_loop = [&] { expect_arc(asr_packed_graph::number_of_loop(places[s]), graph.arcs[index++]); };
      record.for_each_emitting([&](const PackedArc &arc) { expect_arc(packed.number_of(arc), graph.arcs[index++]); },
                               expect_loop);
      ASSERT_EQ(index, graph.emitting_begin[s + size_t{1}]);
      index = graph.epsilon_begin[s];
      for (const PackedArc *arc = record.last_emitting(); arc != record.last_arc(); ++arc) {
        expect_arc(packed.number_of(*arc), graph.arcs[index++]);
      }
    }
  }
}

// Other transition-ids must belong to emitting arcs, and have their pdfs.
TEST(PackedGraph, OtherIdsAreChecked) {
  std::mt19937 random(4);
  int n_tried = 0;
  for (int round = 0; round < 300; ++round) {
    const RandomArrays graph(random);
    PackedArrays arrays = pack_graph(graph.view());
    if (arrays.other_ids.empty()) continue;
    const asr_packed_graph packed = packed_of(graph, arrays);
    OtherId &other = arrays.other_ids[random() % arrays.other_ids.size()];
    const OtherId good = other;
    other.arc += 1;  // would be a self-loop
    expect_error([&] { check_packed_graph(packed, "packed"); }, ASR_BAD_FILE, "");
    other = good;
    other.transition_id = 1 + other.transition_id % graph.n_ids;
    if (graph.pdf_of[other.transition_id] == graph.pdf_of[good.transition_id]) continue;
    expect_error([&] { check_packed_graph(packed, "packed"); }, ASR_BAD_FILE, "not that of its transition-id");
    ++n_tried;
  }
  EXPECT_GT(n_tried, 100);
}

// Makes a circle of HMM states.
RandomArrays chain_of(uint32_t n_states) {
  std::mt19937 random(3);
  RandomArrays chain(random);
  chain.n_states = n_states, chain.start = 0, chain.n_ids = 4, chain.n_pdfs = 2, chain.pdf_of = {0, 0, 0, 1, 1};
  chain.arcs.clear(), chain.emitting_begin.clear();
  for (uint32_t s = 0; s < n_states; ++s) {
    chain.emitting_begin.push_back(static_cast<uint32_t>(chain.arcs.size()));
    chain.arcs.push_back({s, 1 + 2 * (s % 2), 0, 0.25f});
    const uint32_t next = (s + 1) % n_states;
    chain.arcs.push_back({next, 2 + 2 * (next % 2), 0, 0.5f});
  }
  chain.emitting_begin.push_back(2 * n_states);
  chain.epsilon_begin.assign(n_states + 1, 2 * n_states);
  chain.final_costs.assign(n_states, kInfinity);
  return chain;
}

// Records of several chunks, which are checked in parallel (kChunkBlocks): damage is found in each of them.
TEST(PackedGraph, EveryChunkIsChecked) {
  const RandomArrays chain = chain_of(900000);
  PackedArrays arrays = pack_graph(chain.view());
  const asr_packed_graph packed = packed_of(chain, arrays);
  ASSERT_NO_THROW(check_packed_graph(packed, "packed"));
  const auto expect_refused = [&](auto &field, auto value, const std::string &what) {
    const auto good = field;
    field = value;
    expect_error([&] { check_packed_graph(packed, "packed"); }, ASR_BAD_FILE, what);
    field = good;
  };
  for (const uint32_t state : {1u, 340000u, 349525u, 349526u, 600000u, 899999u}) {  // offsets 3 * state; chunks of 2^20
    expect_refused(arrays.records[3 * state + 1], 3 * state + 1, format("records[%u]: next_state is not a state", 3 * state));
    expect_refused(arrays.records[3 * state + 2], arrays.records[3 * state + 2] ^ 1, format("records[%u]: pdf", 3 * state));
    expect_refused(arrays.first_records[3 * state / 64], uint8_t{63}, "first_records");
  }
  for (const uint32_t block : {16384u, 2 * 16384u}) {  // at the beginnings of chunks, and inside them
    for (const uint8_t place : {0, 1, 2, 3, 4, 5, 254, 255}) {
      if (place == arrays.first_records[block]) continue;
      expect_refused(arrays.first_records[block], place, "");
    }
  }
}

// Rare costs and words and other transition-ids take space; a chain of HMM states takes 12 bytes per state.
TEST(PackedGraph, IsSmall) {
  constexpr uint32_t kStates = 1000;
  const RandomArrays chain = chain_of(kStates);
  const PackedArrays arrays = pack_graph(chain.view());
  EXPECT_EQ(arrays.records.size(), 3 * kStates);
  EXPECT_EQ(arrays.costs.size(), 1u);
  EXPECT_EQ(arrays.classes.size(), 2u);
  EXPECT_TRUE(arrays.other_ids.empty());
}

}  // namespace
}  // namespace asr::test
