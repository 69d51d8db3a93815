// SPDX-License-Identifier: Apache-2.0
// Tests graphs of tokens against an enumeration: a graph must have exactly the alignments of the sentences of its grammar that
// the topology allows, at the same costs.
#include "builder/graph/token_expansion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "builder/graph/build.h"

namespace asr::test {
namespace {

constexpr uint32_t kBlank = 0, kDelim = 4;
constexpr uint32_t kGarbage = 100;  // added to tokens of garbage
using Tokens = std::vector<uint32_t>;
using Alignments = std::map<std::pair<std::string, Tokens>, double>;  // words and the token of each frame: least cost

HmmSet token_set() {
  HmmSet set;
  set.topologies = {{1, {{0, 0, 0.7f}, {0, 1, 0.7f}, {kEntry, 0, 0}}}};
  for (const char *name : {"<blank>", "a", "b", "c", "|"}) {
    const auto number = static_cast<uint32_t>(set.phones.size());
    set.phones.push_back({name, false, number});
    set.hmms.push_back({0, {number}});
  }
  set.n_pdfs = 5;
  return set;
}

Lexicon random_lexicon(size_t n_words, std::mt19937 *random) {
  std::string text;
  for (size_t word = 0; word < n_words; ++word) {
    for (uint32_t variant = 0; variant <= (*random)() % 2; ++variant) {
      text += "w" + std::to_string(word) + (variant > 0 ? "(2)" : "");
      for (uint32_t i = 0; i <= (*random)() % 3; ++i) text += std::string(" ") + "abc"[(*random)() % 3];
      text += "\n";
    }
  }
  size_t n_left_out = 0;
  return parse_sphinx_lexicon(text, "lexicon", token_set(), &n_left_out);
}

// A few states with words between them, and backing off from each state to an earlier one.
Grammar random_grammar(size_t n_words, std::mt19937 *random) {
  Grammar grammar;
  grammar.words = {"<eps>"};
  for (size_t word = 0; word < n_words; ++word) grammar.words.push_back("w" + std::to_string(word));
  const uint32_t n_states = 1 + (*random)() % 3;
  for (uint32_t state = 0; state < n_states; ++state) {
    grammar.add_state();
    if (state > 0 && (*random)() % 2 == 0) grammar.arcs[state].push_back({0, 0.5f, static_cast<uint32_t>((*random)() % state)});
    for (uint32_t word = 1; word <= n_words; ++word) {
      if ((*random)() % 3 > 0) {
        const auto cost = static_cast<float>((*random)() % 16) / 8;
        grammar.arcs[state].push_back({word, cost, static_cast<uint32_t>((*random)() % n_states)});
      }
    }
    grammar.final_costs[state] = (*random)() % 3 > 0 ? 0.25f : kNotFinal;
  }
  if ((*random)() % 3 == 0) {
    grammar.garbage = static_cast<uint32_t>(grammar.words.size());
    grammar.words.push_back("<garbage>");
    grammar.arcs[(*random)() % n_states].push_back({grammar.garbage, 0.5f, static_cast<uint32_t>((*random)() % n_states)});
  }
  grammar.start = n_states - 1;
  grammar.final_costs[0] = 1;
  return grammar;
}

void keep_least(Alignments *alignments, const std::string &words, const Tokens &frames, double cost) {
  const auto [found, is_new] = alignments->emplace(std::make_pair(words, frames), cost);
  if (!is_new) found->second = std::min(found->second, cost);
}

// By definition: the sentences, their tokens, and the frames of these.
class Definition {
 public:
  Definition(const Grammar &grammar, const Lexicon &lexicon, const TokenFrames &frames, size_t n_frames)
      : grammar_(grammar), lexicon_(lexicon), frames_(frames), n_frames_(n_frames) {}

  Alignments run() {
    sentence(grammar_.start, "", {}, false, 0);
    return alignments_;
  }

 private:
  const Grammar &grammar_;
  const Lexicon &lexicon_;
  const TokenFrames &frames_;
  const size_t n_frames_;
  Alignments alignments_;

  // Calls use(tokens) with and without a delimiter where words meet, as far as they may.
  template <typename Use>
  void with_delimiter(const Tokens &tokens, bool between_words, Use use) const {
    if (frames_.delimiter == kNoToken || !between_words || !frames_.needs_delimiter) use(tokens);
    if (frames_.delimiter == kNoToken) return;
    Tokens more = tokens;
    more.push_back(frames_.delimiter);
    use(more);
  }

  void sentence(uint32_t state, const std::string &words, const Tokens &tokens, bool after_word, double cost) {
    if (tokens.size() > n_frames_) return;
    if (grammar_.final_costs[state] != kNotFinal) {
      const double whole = cost + static_cast<double>(grammar_.final_costs[state]);
      with_delimiter(tokens, false, [&](const Tokens &all) { align(words, all, 0, {}, whole); });
    }
    for (const GrammarArc &arc : grammar_.arcs[state]) {
      const double next_cost = cost + static_cast<double>(arc.cost);
      if (arc.word == 0) {
        sentence(arc.next, words, tokens, after_word, next_cost);
        continue;
      }
      if (arc.word == grammar_.garbage) {
        for (uint32_t token = 0; token < 5; ++token) {
          if (token == frames_.blank || token == frames_.delimiter) continue;
          with_delimiter(tokens, after_word, [&](Tokens all) {
            all.push_back(kGarbage + token);
            sentence(arc.next, words, all, false, next_cost + std::log(5.0));
          });
        }
        continue;
      }
      const std::string &word = grammar_.words[arc.word];
      for (const uint32_t pronunciation : lexicon_.pronunciations_of.at(word)) {
        with_delimiter(tokens, after_word, [&](Tokens all) {
          const Tokens &spelled = lexicon_.pronunciations[pronunciation];
          all.insert(all.end(), spelled.begin(), spelled.end());
          sentence(arc.next, words + word + " ", all, true, next_cost);
        });
      }
    }
  }

  // Aligns the tokens from number i on with the frames behind `frames`.
  void align(const std::string &words, const Tokens &tokens, size_t i, const Tokens &frames, double cost) {
    if (frames.size() == n_frames_ && i == tokens.size()) keep_least(&alignments_, words, frames, cost);
    if (frames.size() >= n_frames_) return;
    const auto go_on = [&](uint32_t frame, size_t next) {
      Tokens more = frames;
      more.push_back(frame);
      align(words, tokens, next, more, cost);
    };
    if (frames_.blank != kNoToken) go_on(frames_.blank, i);
    if (i > 0 && frames.back() == tokens[i - 1] % kGarbage) go_on(tokens[i - 1] % kGarbage, i);
    if (i == tokens.size()) return;
    const bool repeats = !frames.empty() && i > 0 && frames.back() == tokens[i] && tokens[i - 1] == tokens[i];
    if (!repeats || frames_.topology != TokenTopology::kCtc) go_on(tokens[i] % kGarbage, i + 1);
  }
};

// All paths of a graph with so many frames.
void walk(const GraphData &graph, const Grammar &grammar, uint32_t state, size_t n_left, const std::string &words,
          const Tokens &frames, double cost, Alignments *alignments) {
  if (n_left == 0 && graph.final_costs[state] != INFINITY) {
    keep_least(alignments, words, frames, cost + static_cast<double>(graph.final_costs[state]));
  }
  const auto follow = [&](const asr_graph_arc &arc) {
    Tokens more = frames;
    if (arc.transition_id != 0) more.push_back(graph.transitions[arc.transition_id].pdf);
    const std::string said = arc.word != 0 ? words + grammar.words[arc.word] + " " : words;
    walk(graph, grammar, arc.next_state, n_left - (arc.transition_id != 0), said, more,
         cost + static_cast<double>(arc.graph_cost), alignments);
  };
  for (uint32_t a = graph.epsilon_begin[state]; a < graph.epsilon_begin[state + 1]; ++a) follow(graph.arcs[a]);
  for (uint32_t a = graph.emitting_begin[state]; n_left > 0 && a < graph.emitting_begin[state + 1]; ++a) follow(graph.arcs[a]);
}

TokenFrames frames_of(TokenTopology topology, bool has_delimiter, bool needs_delimiter) {
  TokenFrames frames;
  frames.topology = topology;
  if (topology != TokenTopology::kHmm) frames.blank = kBlank;
  if (has_delimiter) frames.delimiter = kDelim;
  frames.needs_delimiter = needs_delimiter;
  return frames;
}

GraphData graph_of(const Grammar &grammar, const Lexicon &lexicon, const TokenFrames &frames) {
  GraphOptions options;
  options.tokens = frames;
  GraphSizes sizes{};
  return build_graph(
      token_set(), lexicon, grammar, options, [](double, const std::string &) {}, &sizes);
}

void expect_same(const Alignments &found, const Alignments &expected, const std::string &what) {
  constexpr double kTolerance = 0.01;  // costs are rounded to the grid
  const auto shown = [](const std::pair<std::string, Tokens> &key) {
    std::string text = key.first + ":";
    for (const uint32_t token : key.second) text += " " + std::to_string(token);
    return text;
  };
  for (const auto &[key, cost] : expected) {
    const auto same = found.find(key);
    ASSERT_NE(same, found.end()) << what << ": lacks " << shown(key);
    ASSERT_NEAR(same->second, cost, kTolerance) << what << ": " << shown(key);
  }
  for (const auto &[key, cost] : found) ASSERT_EQ(expected.count(key), 1u) << what << ": has " << shown(key);
}

TEST(TokenExpansion, HasTheAlignmentsOfTheDefinition) {
  size_t n_alignments = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const size_t n_words = 1 + random() % 3;
    const Lexicon lexicon = random_lexicon(n_words, &random);
    const Grammar grammar = random_grammar(n_words, &random);
    for (const TokenTopology topology : {TokenTopology::kCtc, TokenTopology::kCtcCompact, TokenTopology::kHmm}) {
      for (const auto &[has_delimiter, needs_delimiter] : {std::pair(false, false), {true, false}, {true, true}}) {
        const TokenFrames frames = frames_of(topology, has_delimiter, needs_delimiter);
        const GraphData graph = graph_of(grammar, lexicon, frames);
        for (size_t n_frames = 1; n_frames <= 4; ++n_frames) {
          Alignments found;
          walk(graph, grammar, graph.start_state, n_frames, "", {}, 0, &found);
          const Alignments expected = Definition(grammar, lexicon, frames, n_frames).run();
          expect_same(found, expected,
                      "seed " + std::to_string(seed) + ", topology " + std::to_string(static_cast<int>(topology)) +
                          ", frames " + std::to_string(n_frames) + (has_delimiter ? ", delimiter" : "") +
                          (needs_delimiter ? " needed" : ""));
          if (testing::Test::HasFatalFailure()) return;
          n_alignments += found.size();
        }
      }
    }
  }
  EXPECT_GT(n_alignments, 10000u);
}

// The rule of CTC itself: tokens that follow each other are one, and blanks go.
Tokens collapsed(const Tokens &frames) {
  Tokens tokens;
  for (size_t t = 0; t < frames.size(); ++t) {
    if (frames[t] != kBlank && (t == 0 || frames[t] != frames[t - 1])) tokens.push_back(frames[t]);
  }
  return tokens;
}

TEST(TokenExpansion, ReadsEverySequenceOfFramesAsCtcDoes) {
  // The words spell their tokens, and any word may follow any.
  size_t n_left_out = 0;
  const Lexicon lexicon = parse_sphinx_lexicon("a a\nb b\naa a a\n", "lexicon", token_set(), &n_left_out);
  Grammar grammar;
  grammar.words = {"<eps>", "a", "b", "aa"};
  grammar.add_state();
  for (uint32_t word = 1; word <= 3; ++word) grammar.arcs[0].push_back({word, 0, 0});
  grammar.final_costs[0] = 0;
  const GraphData graph = graph_of(grammar, lexicon, frames_of(TokenTopology::kCtc, false, false));
  constexpr size_t kFrames = 6;
  Alignments found;
  walk(graph, grammar, graph.start_state, kFrames, "", {}, 0, &found);
  std::set<Tokens> heard;
  for (const auto &[key, cost] : found) {
    std::string letters;
    for (const char letter : key.first) {
      if (letter != ' ') letters += letter;
    }
    std::string expected;
    for (const uint32_t token : collapsed(key.second)) expected += "_ab"[token];
    EXPECT_EQ(letters, expected) << key.first;
    heard.insert(key.second);
  }
  EXPECT_EQ(heard.size(), std::pow(3, kFrames));
}

// The compact topology is the same graph where no token is repeated, which its users can rely on.
TEST(TokenExpansion, CompactIsTheSameWhereNoTokenIsRepeated) {
  size_t n_left_out = 0;
  const Lexicon lexicon = parse_sphinx_lexicon("x a b\ny a c\n", "lexicon", token_set(), &n_left_out);
  const Grammar grammar = word_list_grammar({"x", "y"}, false, {[](const std::string &) { return true; }, "words"}, "words");
  const GraphData full = graph_of(grammar, lexicon, frames_of(TokenTopology::kCtc, false, false));
  const GraphData compact = graph_of(grammar, lexicon, frames_of(TokenTopology::kCtcCompact, false, false));
  EXPECT_EQ(full.n_states(), compact.n_states());
  EXPECT_EQ(full.arcs.size(), compact.arcs.size());
  Alignments of_full, of_compact;
  walk(full, grammar, full.start_state, 7, "", {}, 0, &of_full);
  walk(compact, grammar, compact.start_state, 7, "", {}, 0, &of_compact);
  EXPECT_EQ(of_full, of_compact);
}

// A blank belongs to the word that it is in, and to no word otherwise, so that words have their times.
TEST(TokenExpansion, BlanksAreInWordsOrBetween) {
  size_t n_left_out = 0;
  const Lexicon lexicon = parse_sphinx_lexicon("x a b\n", "lexicon", token_set(), &n_left_out);
  const Grammar grammar = word_list_grammar({"x"}, false, {[](const std::string &) { return true; }, "words"}, "words");
  const GraphData graph = graph_of(grammar, lexicon, frames_of(TokenTopology::kCtc, false, false));
  std::set<uint8_t> positions;
  for (size_t id = 1; id < graph.transitions.size(); ++id) {
    if (graph.transitions[id].phone == kBlank) positions.insert(graph.transitions[id].position);
  }
  EXPECT_EQ(positions, (std::set<uint8_t>{static_cast<uint8_t>(WordPosition::kInternal), kAnyPosition}));
}

TEST(TokenLoop, HasAnyTokensInAnyOrder) {
  const GraphData graph = make_token_loop(frames_of(TokenTopology::kCtc, false, false), 3);
  Grammar names;
  names.words = {"<eps>", "<blank>", "a", "b"};
  Alignments found;
  walk(graph, names, graph.start_state, 4, "", {}, 0, &found);
  std::set<Tokens> heard;
  for (const auto &[key, cost] : found) heard.insert(key.second);
  EXPECT_EQ(heard.size(), std::pow(3, 4));
}

}  // namespace
}  // namespace asr::test
