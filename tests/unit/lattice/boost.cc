// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/boost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <random>

#include "core/base/error.h"
#include "core/lattice/prune.h"
#include "tests/unit/lattice/small_lattice.h"

namespace asr {
namespace {

using Words = std::vector<std::string>;

const Words kWords{"<eps>", "a", "b", "c", "d"};
const std::string &text_of(uint32_t word) { return kWords[word]; }

// Returns the number of occurrences of each phrase times its bonus.
double cost_by_definition(const std::vector<Boost> &boosts, const std::vector<uint32_t> &words) {
  double cost = 0;
  for (const Boost &boost : boosts) {
    for (const Words &phrase : boost.phrases) {
      for (size_t at = 0; at + phrase.size() <= words.size(); ++at) {
        bool is_said = true;
        for (size_t i = 0; i < phrase.size(); ++i) is_said = is_said && text_of(words[at + i]) == phrase[i];
        if (is_said) cost -= boost.bonus;
      }
    }
  }
  return cost;
}

std::vector<Boost> random_boosts(std::mt19937 *random) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>((*random)() % n); };
  std::vector<Boost> boosts(1 + below(3));
  for (Boost &boost : boosts) {
    boost.bonus = static_cast<double>(below(16)) / 2 - 2;
    for (uint32_t n = 1 + below(4); n > 0; --n) {
      Words phrase;
      for (uint32_t m = 1 + below(4); m > 0; --m) phrase.push_back(below(8) == 0 ? "unknown" : kWords[1 + below(3)]);
      boost.phrases.push_back(phrase);
    }
  }
  return boosts;
}

Boosts shared(const std::vector<Boost> &boosts) {
  Boosts result;
  for (const Boost &boost : boosts) result.push_back(std::make_shared<Boost>(boost));
  return result;
}

double cost_of(BoostScores *scores, const std::vector<uint32_t> &words) {
  uint32_t state = scores->start();
  double cost = 0;
  for (const uint32_t word : words) cost += scores->advance(state, word, &state);
  return cost;
}

TEST(Boost, CountsEveryOccurrence) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Boost> boosts = random_boosts(&random);
    BoostScores scores(shared(boosts), text_of);
    for (int i = 0; i < 20; ++i) {
      std::vector<uint32_t> words(random() % 12);
      for (uint32_t &word : words) word = 1 + random() % 4;
      ASSERT_DOUBLE_EQ(cost_of(&scores, words), cost_by_definition(boosts, words)) << seed;
    }
  }
}

TEST(Boost, ChangesEveryPathOfALattice) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const CompactLattice lattice = test::random_lattice({2 + seed % 9, 3, 3, false, seed % 4 == 0}, random);
    const std::vector<Boost> boosts = random_boosts(&random);
    BoostScores scores(shared(boosts), text_of);
    std::multimap<std::vector<uint32_t>, double> expected, found;
    for (const auto &path : test::list_paths(lattice, 1)) {
      expected.emplace(path.words, path.cost.total(1) + cost_by_definition(boosts, path.words));
    }
    for (const auto &path : test::list_paths(boosted(lattice, &scores, 1, 1e9), 1))
      found.emplace(path.words, path.cost.total(1));
    ASSERT_EQ(found.size(), expected.size());
    for (const auto &[words, cost] : expected) {
      const auto range = found.equal_range(words);
      const auto same = std::find_if(range.first, range.second,
                                     [&, cost = cost](const auto &entry) { return std::abs(entry.second - cost) < 1e-9; });
      ASSERT_NE(same, range.second) << seed;
      found.erase(same);
    }
  }
}

// Paths that share states before the boost may not share them after it.
TEST(Boost, KeepsNothingBeyondTheBeam) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const CompactLattice lattice = test::random_lattice({2 + seed % 9, 3, 3, false, seed % 4 == 0}, random);
    BoostScores scores(shared(random_boosts(&random)), text_of);
    const double beam = 1 + seed % 5;
    const CompactLattice result = boosted(lattice, &scores, 1, beam);
    const BestCosts costs = best_costs(result, 1);
    for (uint32_t s = 0; s < result.n_states(); ++s) {
      for (uint64_t a = result.arc_begin[s]; a < result.arc_begin[s + 1]; ++a) {
        const CompactArc &arc = result.arcs[a];
        ASSERT_LE(costs.from_start[s] + arc.cost.total(1) + costs.to_end[arc.next_state], costs.best() + beam + 1e-6) << seed;
      }
    }
  }
}

TEST(Boost, PhrasesAreLinesOfWords) {
  EXPECT_EQ(boosted_phrases(" ada  lovelace\r\n\n# nobody\nalan\tturing"),
            (std::vector<Words>{{"ada", "lovelace"}, {"alan", "turing"}}));
  EXPECT_EQ(boosted_phrases("\xef\xbb\xbf"
                            "ada"),
            (std::vector<Words>{{"ada"}}));
  EXPECT_TRUE(boosted_phrases("").empty());
  EXPECT_TRUE(boosted_phrases("#\n \n").empty());
}

TEST(Boost, PhrasesThatTheGraphCannotSayAreLeftOut) {
  const WordIndex index(kWords);
  Boost given;
  given.phrases = boosted_phrases("a b\nc :10.0\nb :10.0\nx y x\n");
  const GraphBoost found(given, index);
  EXPECT_EQ(found.unheard.what(),
            "3 of 4 phrases have words that the graph lacks (':10.0', 'x', 'y'), so that they are never heard");
  EXPECT_EQ(found.boost.phrases, (std::vector<Words>{{"a", "b"}}));
  given.phrases.resize(1);
  EXPECT_TRUE(GraphBoost(given, index).unheard.phrases.empty());
}

// A zero byte does not end the message, and no character is cut in half.
TEST(Boost, ShowsUnknownWordsOfAnyBytes) {
  Boost given;
  given.phrases = {{std::string("a\0b", 3)}, {"\xff"}};
  EXPECT_NE(GraphBoost(given, WordIndex(kWords)).unheard.what().find("('a\\x00b', '\\xff'), so"), std::string::npos);
  std::string long_word = "x";
  for (int i = 0; i < 30; ++i) long_word += "\u00e9";
  given.phrases = {{long_word}};
  EXPECT_NE(GraphBoost(given, WordIndex(kWords)).unheard.what().find("\u00e9'), so"), std::string::npos);
}

// All words are listed, unless there are more than a message may have.
TEST(Boost, ListsUnknownWords) {
  const WordIndex index(kWords);
  Boost given;
  for (int i = 0; i < 100; ++i) given.phrases.push_back({"none" + std::to_string(i)});
  EXPECT_NE(GraphBoost(given, index).unheard.what().find("'none98', 'none99'), so"), std::string::npos);
  for (int i = 100; i < 9000; ++i) given.phrases.push_back({"none" + std::to_string(i)});
  const std::string many = GraphBoost(given, index).unheard.what();
  EXPECT_NE(many.find(" more), so that"), std::string::npos) << many;
  EXPECT_LT(many.size(), 3000u);
}

TEST(WordIndex, FindsWordsInAnyCaseAndForm) {
  const Words words = {"<eps>", "Ada", "polish", "Polish",   "\u00c9TUDE", "\u041c\u0418\u0420",
                       "ada",   "{x}", "\u03c3", "caf\u00e9"};
  const WordIndex index(words);
  const auto found = [&](const std::string &word) {
    const std::string *const text = index.find(word);
    return text != nullptr ? *text : "none";
  };
  EXPECT_EQ(found("ADA"), "Ada");
  EXPECT_EQ(found("ada"), "ada");
  EXPECT_EQ(found("Polish"), "Polish");
  EXPECT_EQ(found("pOLISH"), "polish");
  EXPECT_EQ(found("\u00e9tude"), "\u00c9TUDE");
  EXPECT_EQ(found("e\u0301tude"), "\u00c9TUDE");
  EXPECT_EQ(found("Cafe\u0301"), "caf\u00e9");
  EXPECT_EQ(found("cafe"), "none");
  EXPECT_EQ(found("\u043c\u0438\u0440"), "\u041c\u0418\u0420");
  EXPECT_EQ(found("\u03c2"), "\u03c3");
  EXPECT_EQ(found("{X}"), "{x}");
  EXPECT_EQ(found("ada,"), "none");
  EXPECT_EQ(found("\xc3"), "none");
  EXPECT_EQ(found("<eps>"), "none");
  Boost given;
  given.phrases = {{"ADA", "pOLISH"}};
  EXPECT_EQ(GraphBoost(given, index).boost.phrases, (std::vector<Words>{{"Ada", "polish"}}));
}

// The case decides only between words that are the same letters in the form of the graph.
TEST(WordIndex, PrefersTheSameCase) {
  const Words words = {"<eps>", "CAF\u00c9", "caf\u00e9", "na\u00efve", "nai\u0308ve"};
  const WordIndex index(words);
  EXPECT_EQ(index.find("cafe\u0301"), &words[2]);
  EXPECT_EQ(index.find("Cafe\u0301"), &words[1]);
  EXPECT_EQ(index.find("nai\u0308ve"), &words[4]);
}

// Every word sequence of a long loop ends with prefixes of other phrases.
TEST(Boost, IsBounded) {
  CompactLattice lattice;
  std::vector<Boost> boosts(1);
  constexpr uint32_t kLength = 30;
  for (uint32_t s = 0; s <= kLength; ++s) {
    lattice.frames.push_back(s);
    lattice.ends.emplace_back();
    for (uint32_t word = 1; s < kLength && word <= 2; ++word) lattice.arcs.push_back({s + 1, word, {0, 0}, {}});
    lattice.arc_begin.push_back(lattice.arcs.size());
  }
  lattice.ends.back().cost = {0, 0};
  for (uint32_t i = 0; i < 1u << 17; ++i) {
    Words phrase;
    for (uint32_t bit = 0; bit < 17; ++bit) phrase.push_back(kWords[1 + (i >> bit & 1)]);
    boosts[0].phrases.push_back(phrase);
  }
  BoostScores scores(shared(boosts), text_of);
  EXPECT_THROW(boosted(lattice, &scores, 1, 1e9), Error);
  const std::atomic<bool> stopped(true);
  EXPECT_THROW(boosted(lattice, &scores, 1, 1e9, StopToken(&stopped)), Error);
  EXPECT_THROW(BoostScores(shared(boosts), text_of, StopToken(&stopped)), Error);
}

}  // namespace
}  // namespace asr
