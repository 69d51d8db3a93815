// SPDX-License-Identifier: Apache-2.0
// Compares graphs of texts with the paths that they should accept, by definition.
#include "builder/align/text_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "tests/unit/build/brute_force.h"

namespace asr {
namespace {

// Silence and two phones of one state each, whatever their neighbours.
HmmSet two_phones() {
  HmmSet set;
  set.phones = {{"SIL", true, 0}, {"A", false, 1}, {"B", false, 2}};
  set.silence = 0;
  set.topologies = {{1, {{0, 0, 0.5f}, {0, 1, 1.0f}, {kEntry, 0, 0}}}};
  set.hmms = {{0, {0}}, {0, {1}}, {0, {2}}};
  set.n_pdfs = 3;
  return set;
}

Lexicon ab() {
  Lexicon lexicon;
  lexicon.pronunciations = {{1}, {1, 2}};
  lexicon.pronunciations_of = {{"a", {0}}, {"ab", {1}}};
  return lexicon;
}

// The words of the paths, each followed by a blank.
std::set<std::string> sentences(const GraphData &graph, size_t n_words, size_t max_frames) {
  std::vector<std::string> names = {"<eps>"};
  for (size_t i = 1; i <= n_words; ++i) names.push_back(std::to_string(i));
  std::set<std::string> all;
  for (const auto &[path, costs] : test::paths_of_graph(graph, names, max_frames)) {
    all.insert(path.substr(0, path.find('|')));
  }
  return all;
}

TEST(TextGraphs, SayTheTextAndNothingElse) {
  const HmmSet set = two_phones();
  const TextGraphs graphs(set, {});
  const GraphData graph = graphs.graph({"a", "ab", "a"}, ab(), {});
  EXPECT_EQ(sentences(graph, 3, 6), (std::set<std::string>{"1 2 3 "}));
  const GraphData any_end = graphs.graph({"a", "ab", "a"}, ab(), {}, TextEnd::kAnyWord);
  EXPECT_EQ(sentences(any_end, 3, 6), (std::set<std::string>{"", "1 ", "1 2 ", "1 2 3 "}));
}

TEST(TextGraphs, LenientOnesLeaveWordsOutAtTheirCost) {
  const HmmSet set = two_phones();
  GraphOptions options;
  options.silence_prob = 0.3;
  const TextGraphs graphs(set, options);
  const GraphData graph = graphs.graph({"a", "ab"}, ab(), {true, 7, 11});
  const std::set<std::string> said = sentences(graph, 2, 4);
  EXPECT_EQ(said, (std::set<std::string>{"1 2 ", "1 ", "2 ", ""}));
  // The least cost of a path with one word is that of this word's text, and the cost of leaving the other out.
  const auto least = [](const GraphData &data, size_t n_words, const std::string &first) {
    std::vector<std::string> names = {"<eps>"};
    for (size_t i = 1; i <= n_words; ++i) names.push_back(std::to_string(i));
    double cost = INFINITY;
    for (const auto &[path, costs] : test::paths_of_graph(data, names, 1)) {
      if (path.compare(0, first.size(), first) == 0) cost = std::min(cost, costs.front());
    }
    return cost;
  };
  const double alone = least(graphs.graph({"a"}, ab(), {}), 1, "1 |");
  const double fewer = std::log(1 - 0.3) - std::log(1 - 0.3 - 2 * std::exp(-11.0));  // fillers share the probability
  EXPECT_NEAR(least(graph, 2, "1 |"), alone + 7 + fewer, 0.02);
}

}  // namespace
}  // namespace asr
