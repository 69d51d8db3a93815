// SPDX-License-Identifier: Apache-2.0
// The central test of graph building. On small random models, lexicons and grammars a graph must have exactly the paths
// of the definition, with the same costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <sstream>

#include "builder/graph/acceptor.h"
#include "builder/graph/open_graph.h"
#include "builder/graph/phrases.h"
#include "tests/unit/build/brute_force.h"

namespace asr::test {
namespace {

constexpr double kTolerance = 0.02;  // costs are rounded to the grid, a few times per word and frame

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine_() % n); }
  double real() { return (engine_() % 10000 + 0.5) / 10000; }

 private:
  std::mt19937 engine_;
};

float cost_of(double probability) { return static_cast<float>(-std::log(probability)); }

enum class Shape { kLeftToRight, kSkips, kTee, kLoopingSilence };

// Makes 1 or 2 emitting states, entered at the first; kSkips also enters after it; kLoopingSilence lets silence go back.
Topology make_topology(uint32_t n_states, Shape shape, Random *random) {
  Topology topology;
  topology.n_states = n_states;
  for (uint32_t state = 0; state < n_states; ++state) {
    const double stay = 0.2 + 0.6 * random->real(), skip = shape == Shape::kSkips && state + 2 <= n_states ? 0.3 : 0;
    const double back = shape == Shape::kLoopingSilence && state == 1 ? 0.25 : 0;
    if (back > 0) topology.arcs.push_back({state, 0, cost_of((1 - stay) * back)});
    topology.arcs.push_back({state, state, cost_of(stay)});
    topology.arcs.push_back({state, state + 1, cost_of((1 - stay) * (1 - skip - back))});
    if (skip > 0) topology.arcs.push_back({state, state + 2, cost_of((1 - stay) * skip)});
  }
  const double past = (shape == Shape::kSkips && n_states == 2) || shape == Shape::kTee ? 0.3 : 0;
  topology.arcs.push_back({kEntry, 0, cost_of(1 - past)});
  if (past > 0) topology.arcs.push_back({kEntry, shape == Shape::kTee ? n_states : 1, cost_of(past)});
  return topology;
}

enum class Positions { kNone, kOfPhones, kOfNeighbours };

// Makes classes of neighbours at random: 1 to 3 on each side.
PhoneContexts make_phone_contexts(uint32_t base, uint8_t position, const std::vector<uint32_t> &hmms, Random *random) {
  PhoneContexts contexts{base, position, 1 + random->below(3), {}, {}, {}};
  const uint32_t n_left_classes = 1 + random->below(3), n_phones = 5;
  for (size_t i = 0; i < 3 * n_phones + 1; ++i) {
    contexts.left_class.push_back(static_cast<uint16_t>(random->below(n_left_classes)));
    contexts.right_class.push_back(static_cast<uint16_t>(random->below(contexts.n_right_classes)));
  }
  for (uint32_t i = 0; i < n_left_classes * contexts.n_right_classes; ++i) contexts.hmms.push_back(hmms[random->below(4)]);
  return contexts;
}

// Makes phones SIL, NSN (fillers), A, B, C; contexts for most of their triphones, with few distinct HMMs.
HmmSet make_hmms(Shape shape, Positions positions_of, Random *random) {
  const bool positions = positions_of == Positions::kOfPhones;
  HmmSet set;
  const bool looping = shape == Shape::kLoopingSilence;
  set.topologies = {make_topology(looping ? 2 : 1, looping || shape == Shape::kTee ? shape : Shape::kLeftToRight, random),
                    make_topology(shape == Shape::kSkips ? 2 : 1 + random->below(2),
                                  shape == Shape::kSkips ? shape : Shape::kLeftToRight, random)};
  const auto add_hmm = [&](uint32_t topology, uint32_t first_pdf, uint32_t n_choices) {
    Hmm hmm{topology, {}};
    for (uint32_t i = 0; i < set.topologies[topology].n_states; ++i)
      hmm.pdfs.push_back(first_pdf + 10 * i + random->below(n_choices));
    set.hmms.push_back(hmm);
    return static_cast<uint32_t>(set.hmms.size() - 1);
  };
  for (const char *name : {"SIL", "NSN", "A", "B", "C"}) {
    const bool filler = set.phones.size() < 2;
    set.phones.push_back({name, filler, add_hmm(filler ? 0 : 1, 20 * uint32_t(set.phones.size()), 1)});
  }
  set.silence = 0;
  for (uint32_t base = 2; base < 5; ++base) {
    std::vector<uint32_t> choices;
    for (int i = 0; i < 4; ++i) choices.push_back(add_hmm(1, 20 * base + 1, 3));
    for (uint8_t position = 0; position < 4 && positions_of == Positions::kOfNeighbours; ++position) {
      set.phone_contexts.push_back(make_phone_contexts(base, position, choices, random));
    }
    if (positions_of == Positions::kOfNeighbours) continue;
    for (uint32_t left : {0, 2, 3, 4}) {
      for (uint32_t right : {0, 2, 3, 4}) {
        for (uint8_t position = 0; position < 4; ++position) {
          if (!positions && position != 0) continue;
          if (random->below(8) == 0) continue;
          set.contexts.push_back({base, left, right, positions ? position : kAnyPosition, choices[random->below(4)]});
        }
      }
    }
  }
  set.n_pdfs = 120;
  return set;
}

// Gives every line a probability, in half of the dictionaries.
std::string with_probabilities(const std::string &text) {
  const std::hash<std::string> hash;
  if (hash(text) % 2 == 0) return text;
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const size_t end = line.find(' ');
    result += line.substr(0, end) + format(" %.2f", double(1 + hash(line) % 100) / 100) + line.substr(end) + "\n";
  }
  return result;
}

// Makes words with variants, homophones, prefixes of each other, and single phones.
Lexicon make_lexicon(const HmmSet &set, Random *random) {
  std::string text = "x A\nx(2) A B\ny A B\nz C\nw B C A\nv C\n";
  const char *phones[] = {" A", " B", " C"};
  for (const char *word : {"u", "u(2)", "t"}) {
    text += word;
    for (uint32_t n = 1 + random->below(3); n > 0; --n) text += phones[random->below(3)];
    text += "\n";
  }
  size_t n_left_out = 0;
  return parse_sphinx_lexicon(with_probabilities(text), "test", set, &n_left_out);
}

// Makes a random n-gram model over some of the words, order 1 to 3.
Grammar make_ngram_grammar(const Lexicon &lexicon, Random *random) {
  const std::vector<std::string> words = {"<s>", "</s>", "x", "y", "z", "v", "u"};
  const size_t order = 1 + random->below(3);
  NgramBuilder builder(words, order, "test");
  const auto cost = [&] { return cost_of(random->real()); };
  for (uint32_t a = 0; a < words.size(); ++a) {
    builder.add(0, &a, cost(), cost());
    for (uint32_t b = 1; b < words.size() && order > 1; ++b) {
      if (a == 1 || random->below(3) != 0) continue;
      const uint32_t two[] = {a, b};
      builder.add(1, two, cost(), order > 2 ? cost() : 0);
      for (uint32_t c = 1; c < words.size() && order > 2; ++c) {
        const uint32_t three[] = {a, b, c};
        if (b != 1 && random->below(4) == 0) builder.add(2, three, cost(), 0);
      }
    }
  }
  return ngram_grammar(builder.finish(), {[&](const std::string &word) { return lexicon.contains(word); }, "test", false},
                       "test");
}

// Makes a random automaton like those of JSGF grammars.
Grammar make_automaton(Random *random) {
  Grammar grammar;
  grammar.words = {"<eps>", "x", "y", "z", "w", "v", "u", "t"};
  for (int state = 0; state < 4; ++state) grammar.add_state();
  grammar.final_costs[3] = 0.5f;
  for (uint32_t state = 0; state < 4; ++state) {
    for (uint32_t n = 1 + random->below(3); n > 0; --n) {
      grammar.arcs[state].push_back({1 + random->below(7), cost_of(random->real()), random->below(4)});
    }
  }
  grammar.arcs[0].push_back({1 + random->below(7), 1, 3});
  return optimise(grammar, "test");
}

void expect_same(const Paths &expected, const Paths &actual) {
  for (const auto &[path, costs] : expected) {
    const auto found = actual.find(path);
    ASSERT_NE(found, actual.end()) << "missing: " << path;
    ASSERT_EQ(found->second.size(), costs.size()) << path;
    for (size_t i = 0; i < costs.size(); ++i) ASSERT_NEAR(found->second[i], costs[i], kTolerance) << path;
  }
  for (const auto &[path, costs] : actual) ASSERT_EQ(expected.count(path), 1u) << "unexpected: " << path;
}

GraphOptions make_options(Random *random) {
  GraphOptions options;
  options.silence_prob = random->below(4) ? 0.3 : 0;
  options.filler_phones = {0, 1};
  options.filler_prob = random->below(2) ? 0.05 : 0;
  options.scales.transition = 0.5 + random->real();
  options.scales.self_loop = random->real();
  return options;
}

Positions positions(bool of_phones, bool of_neighbours) {
  return of_neighbours ? Positions::kOfNeighbours : of_phones ? Positions::kOfPhones : Positions::kNone;
}

// Compares the paths; returns their number.
size_t check(unsigned seed, Shape shape, bool of_neighbours) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const HmmSet set = make_hmms(shape, positions(random.below(3) != 0, of_neighbours), &random);
  set.validate("test");
  const Lexicon lexicon = make_lexicon(set, &random);
  const Grammar grammar = random.below(2) ? make_ngram_grammar(lexicon, &random) : make_automaton(&random);
  const GraphOptions options = make_options(&random);
  GraphSizes sizes{};
  const GraphData graph = build_graph(
      set, lexicon, grammar, options, [](double, const std::string &) {}, &sizes);
  const size_t max_frames = 4;
  const Paths expected = paths_by_definition(set, lexicon, grammar, options, max_frames);
  expect_same(expected, paths_of_graph(graph, grammar.words, max_frames));
  return expected.size();
}

void check_all(unsigned first_seed, unsigned n_seeds, Shape shape, bool of_neighbours = false) {
  size_t n_paths = 0;
  for (unsigned seed = first_seed; seed < first_seed + n_seeds; ++seed) n_paths += check(seed, shape, of_neighbours);
  EXPECT_GT(n_paths, 2000u) << "too few paths to tell anything";
}

TEST(GraphPaths, LeftToRightModels) { check_all(0, 40, Shape::kLeftToRight); }

TEST(GraphPaths, ModelsWithSkips) { check_all(100, 20, Shape::kSkips); }

TEST(GraphPaths, SilenceThatGoesBack) { check_all(200, 20, Shape::kLoopingSilence); }

// A filler without a frame would equal no filler, so only phones of words may be skipped that way.
TEST(GraphPaths, SilenceThatCanBePassed) { check_all(300, 20, Shape::kTee); }

// Every phone has the HMM of its position between neighbours of their positions, also across words and beside silence.
TEST(GraphPaths, PositionsOfNeighbours) {
  check_all(400, 60, Shape::kLeftToRight, true);
  check_all(500, 20, Shape::kSkips, true);
  check_all(600, 20, Shape::kTee, true);
}

// Makes up to three phrases of one or two words, some the prefixes of others; sometimes with the word "n", a filler.
Grammar make_phrases(Random *random) {
  const char *const words[] = {"x", "y", "z", "w", "v", "u", "t", random->below(3) ? "x" : "n"};
  std::string text = words[random->below(8)];
  if (random->below(2)) text += "\n" + text + " " + words[random->below(8)];
  if (random->below(2)) text = text + "\n" + words[random->below(8)];
  const Vocabulary vocabulary = {[](const std::string &) { return true; }, "test", false};
  return rules_grammar(parse_phrases(text, "test", LetterCase::kAsIs), "", vocabulary, "test");
}

struct TestList {
  uint32_t name;  // word of the grammar
  Grammar phrases;
  float cost;
};

uint32_t number_of(const std::vector<std::string> &words, const std::string &word) {
  return static_cast<uint32_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

// Returns the grammar with the phrases in place of the classes' names.
Grammar written_out(const Grammar &grammar, const std::vector<TestList> &lists) {
  Grammar out = grammar;
  for (uint32_t state = 0; state < grammar.n_states(); ++state) {
    out.arcs[state].clear();
    for (const GrammarArc &arc : grammar.arcs[state]) {
      if (!grammar.is_class[arc.word]) out.arcs[state].push_back(arc);
      for (const auto &[name, phrases, cost] : lists) {
        if (name != arc.word) continue;
        const uint32_t first = out.n_states();
        for (uint32_t i = 0; i < phrases.n_states(); ++i) out.add_state();
        out.arcs[state].push_back({0, arc.cost + cost, first + phrases.start});
        for (uint32_t from = 0; from < phrases.n_states(); ++from) {
          for (const GrammarArc &of_list : phrases.arcs[from]) {
            const uint32_t word = number_of(grammar.words, phrases.words[of_list.word]);
            out.arcs[first + from].push_back({word, of_list.cost, first + of_list.next});
          }
          if (phrases.final_costs[from] != kNotFinal)
            out.arcs[first + from].push_back({0, phrases.final_costs[from], arc.next});
        }
      }
    }
  }
  return out;
}

size_t check_classes(unsigned seed, Shape shape, bool of_neighbours) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const HmmSet set = make_hmms(shape, positions(random.below(3) != 0, of_neighbours), &random);
  Lexicon lexicon = make_lexicon(set, &random);
  add_words(&lexicon, {{"n", {{1}}}}, "test");
  Grammar grammar = make_automaton(&random);
  grammar.words = {"<eps>", "x", "y", "z", "$c", "v", "$d", "t", "w", "u", "n"};
  for (const std::string &word : grammar.words) grammar.is_class.push_back(word[0] == '$');
  std::vector<TestList> lists;
  lists.push_back({4, make_phrases(&random), 0});
  lists.push_back({6, make_phrases(&random), cost_of(0.25)});
  lists.push_back({6, make_phrases(&random), cost_of(0.75)});
  const GraphOptions options = make_options(&random);
  const ContextTable contexts(set);
  const OpenGraph open = build_open_graph(set, contexts, lexicon, grammar, options);
  std::vector<ClassGrammar> classes;
  std::vector<OpenGraph> graphs;
  for (const TestList &list : lists) {
    classes.push_back(class_grammar(list.phrases, "test"));
    graphs.push_back(build_class_graph(set, contexts, lexicon, classes.back(), options));
  }
  std::vector<std::vector<ClassFilling>> fillings(grammar.words.size());
  for (size_t i = 0; i < lists.size(); ++i) {
    std::vector<uint32_t> words;
    for (const std::string &word : classes[i].grammar.words) words.push_back(number_of(grammar.words, word));
    fillings[lists[i].name].push_back({&graphs[i], words, lists[i].cost});
  }
  std::vector<uint32_t> words(grammar.words.size());
  std::iota(words.begin(), words.end(), 0);
  const auto n_words = static_cast<uint32_t>(words.size());
  const GraphData graph = join_classes(open, words, fillings, set.n_pdfs, n_words, "test");
  const size_t max_frames = 4;
  const Paths expected = paths_by_definition(set, lexicon, written_out(grammar, lists), options, max_frames);
  expect_same(expected, paths_of_graph(graph, grammar.words, max_frames));
  return expected.size();
}

void check_all_classes(unsigned first_seed, unsigned n_seeds, Shape shape, bool of_neighbours = false) {
  size_t n_paths = 0;
  for (unsigned seed = first_seed; seed < first_seed + n_seeds; ++seed) n_paths += check_classes(seed, shape, of_neighbours);
  EXPECT_GT(n_paths, 2000u) << "too few paths to tell anything";
}

TEST(ClassPaths, LeftToRightModels) { check_all_classes(0, 100, Shape::kLeftToRight); }

TEST(ClassPaths, ModelsWithSkips) { check_all_classes(100, 20, Shape::kSkips); }

TEST(ClassPaths, PositionsOfNeighbours) {
  check_all_classes(300, 100, Shape::kLeftToRight, true);
  check_all_classes(400, 20, Shape::kSkips, true);
}

TEST(ClassPaths, SilenceThatGoesBack) { check_all_classes(200, 60, Shape::kLoopingSilence); }

}  // namespace
}  // namespace asr::test
