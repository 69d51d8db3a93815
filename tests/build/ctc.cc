// SPDX-License-Identifier: Apache-2.0
// Tests the searches of CTC scores by asr_build.h: phrases against OpenFst's composition and shortest paths, files that are
// damaged anywhere, misuse. The bindings' tests compare the rest with enumerations.
#include <fst/script/arcsort.h>
#include <fst/script/compose.h>
#include <fst/script/fst-class.h>
#include <fst/script/project.h>
#include <fst/script/rmepsilon.h>
#include <fst/script/shortest-path.h>
#include <fst/vector-fst.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>

#include "api/asr_build.h"
#include "tests/unit/scratch.h"

namespace asr::test {
namespace {

using fst::StdArc;
using fst::StdVectorFst;
using fst::script::VectorFstClass;
using Grammar = std::unique_ptr<asr_ctc_grammar, void (*)(asr_ctc_grammar *)>;
using Search = std::unique_ptr<asr_ctc_search, void (*)(asr_ctc_search *)>;

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Case {
  uint32_t n_tokens;
  std::vector<int32_t> arcs, finals;
  std::vector<float> rows;
  size_t n_rows() const { return rows.size() / (n_tokens + 1); }
};

Case random_case(std::mt19937 *random) {
  const auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(*random); };
  Case c{static_cast<uint32_t>(number(1, 4)), {}, {}, {}};
  const int n_states = number(2, 6);
  for (int from = 0; from + 1 < n_states; ++from) {
    for (int k = number(1, 3); k > 0; --k) {
      const int token = number(-1, static_cast<int>(c.n_tokens) - 1);
      c.arcs.insert(c.arcs.end(), {from, number(from + 1, n_states - 1), token, token});
    }
  }
  c.arcs.insert(c.arcs.end(), {0, n_states - 1, 0, 0});
  c.finals = {n_states - 1};
  std::normal_distribution<float> noise(0, 2);
  for (int t = number(0, 8); t > 0; --t) {
    std::vector<float> row(c.n_tokens + 1);
    double sum = 0;
    for (float &value : row) sum += std::exp(static_cast<double>(value = noise(*random)));
    for (float &value : row) c.rows.push_back(value - static_cast<float>(std::log(sum)));
  }
  return c;
}

StdVectorFst composed(const StdVectorFst &left, const StdVectorFst &right) {
  const VectorFstClass a(left), b(right);
  VectorFstClass out("standard");
  fst::script::Compose(a, b, &out);
  return StdVectorFst(*out.GetFst<StdArc>());
}

int add_states(StdVectorFst *graph, int n) {
  for (int i = 0; i < n; ++i) graph->AddState();
  graph->SetStart(0);
  return n;
}

// The two cheapest sequences of ids, by the composition of rows, CTC's topology and the grammar.
std::pair<std::vector<int32_t>, std::pair<double, double>> by_openfst(const Case &c) {
  StdVectorFst grammar, topology, rows;
  add_states(&grammar, 8);
  for (size_t i = 0; i < c.arcs.size(); i += 4) {
    grammar.AddArc(c.arcs[i], StdArc(c.arcs[i + 2] + 1, c.arcs[i + 3] + 1, 0, c.arcs[i + 1]));
  }
  for (const int32_t state : c.finals) grammar.SetFinal(state, 0);
  const int blank = static_cast<int>(c.n_tokens) + 1;
  add_states(&topology, blank);
  for (int last = 0; last < blank; ++last) {  // state 0: behind a blank; else the last token + 1
    topology.SetFinal(last, 0);
    topology.AddArc(last, StdArc(blank, 0, 0, 0));
    for (int token = 1; token < blank; ++token) topology.AddArc(last, StdArc(token, token == last ? 0 : token, 0, token));
  }
  add_states(&rows, static_cast<int>(c.n_rows()) + 1);
  for (size_t i = 0; i < c.rows.size(); ++i) {
    const int t = static_cast<int>(i) / blank, label = static_cast<int>(i) % blank + 1;
    rows.AddArc(t, StdArc(label, label, -c.rows[i], t + 1));
  }
  rows.SetFinal(static_cast<int>(c.n_rows()), 0);
  fst::ArcSort(&grammar, fst::ILabelCompare<StdArc>());
  VectorFstClass all(composed(rows, [&] {
    StdVectorFst graph = composed(topology, grammar);
    fst::ArcSort(&graph, fst::ILabelCompare<StdArc>());
    return graph;
  }()));
  std::pair<std::vector<int32_t>, std::pair<double, double>> result{{}, {kNever, kNever}};
  if (all.Start() < 0) return result;
  fst::script::Project(&all, fst::ProjectType::OUTPUT);
  const auto none = fst::script::WeightClass::Zero("tropical");
  fst::script::RmEpsilon(&all, fst::script::RmEpsilonOptions(fst::AUTO_QUEUE, true, none));
  VectorFstClass best("standard");
  fst::script::ShortestPath(all, &best, fst::script::ShortestPathOptions(fst::AUTO_QUEUE, 2, true, 1e-6f, none));
  const StdVectorFst paths(*best.GetFst<StdArc>());
  std::vector<std::pair<double, std::vector<int32_t>>> found;
  const std::function<void(int, double, std::vector<int32_t>)> walk = [&](int state, double cost, std::vector<int32_t> ids) {
    if (paths.Final(state) != StdArc::Weight::Zero()) found.push_back({cost + paths.Final(state).Value(), ids});
    for (fst::ArcIterator<StdVectorFst> arc(paths, state); !arc.Done(); arc.Next()) {
      std::vector<int32_t> longer = ids;
      if (arc.Value().olabel > 0) longer.push_back(arc.Value().olabel - 1);
      walk(arc.Value().nextstate, cost + arc.Value().weight.Value(), longer);
    }
  };
  if (paths.Start() >= 0) walk(paths.Start(), 0, {});
  std::sort(found.begin(), found.end());
  if (!found.empty()) result = {found[0].second, {found[0].first, found.size() > 1 ? found[1].first : kNever}};
  return result;
}

Grammar open_grammar(const Case &c) {
  asr_ctc_grammar *grammar = nullptr;
  EXPECT_EQ(asr_ctc_grammar_open(c.n_tokens, c.n_tokens, c.arcs.data(), c.arcs.size() / 4, c.finals.data(), c.finals.size(),
                                 &grammar),
            ASR_OK)
      << asr_build_last_error();
  return {grammar, asr_ctc_grammar_close};
}

Search open_search(const asr_ctc_grammar *grammar, asr_ctc_distinct distinct) {
  asr_ctc_search_config config;
  asr_ctc_search_config_default(&config);
  config.distinct = distinct;
  asr_ctc_search *search = nullptr;
  EXPECT_EQ(asr_ctc_search_open(grammar, &config, &search), ASR_OK) << asr_build_last_error();
  return {search, asr_ctc_search_close};
}

asr_ctc_phrase decode(asr_ctc_search *search, const Case &c) {
  EXPECT_EQ(asr_ctc_search_feed(search, c.rows.data(), c.n_rows(), c.n_tokens + 1), ASR_OK) << asr_build_last_error();
  asr_ctc_phrase phrase{};
  phrase.size = sizeof(phrase);
  EXPECT_EQ(asr_ctc_search_result(search, &phrase), ASR_OK);
  return phrase;
}

TEST(Ctc, PhrasesAreThoseOfOpenFst) {
  std::mt19937 random(1);
  for (int k = 0; k < 300; ++k) {
    const Case c = random_case(&random);
    const Grammar grammar = open_grammar(c);
    const Search search = open_search(grammar.get(), ASR_CTC_DISTINCT_IDS);
    const asr_ctc_phrase phrase = decode(search.get(), c);
    const auto [ids, costs] = by_openfst(c);
    EXPECT_EQ(std::vector<int32_t>(phrase.ids, phrase.ids + phrase.n_ids), ids) << k;
    if (std::isfinite(costs.first)) {
      EXPECT_NEAR(phrase.best_cost, costs.first, 2e-3) << k;
    } else {
      EXPECT_EQ(phrase.best_cost, kNever) << k;
    }
    if (std::isfinite(costs.second)) {
      EXPECT_NEAR(phrase.second_cost, costs.second, 2e-3) << k;
    } else {
      EXPECT_EQ(phrase.second_cost, kNever) << k;
    }
  }
}

TEST(Ctc, AGrammarOutlivesItsHandleInASearch) {
  std::mt19937 random(2);
  Case c = random_case(&random);
  while (c.n_rows() < 3) c = random_case(&random);
  Grammar grammar = open_grammar(c);
  const Search one = open_search(grammar.get(), ASR_CTC_DISTINCT_TIMES);
  const double cost = decode(one.get(), c).best_cost;
  grammar.reset();
  EXPECT_EQ(asr_ctc_search_reset(one.get()), ASR_OK);
  EXPECT_EQ(decode(one.get(), c).best_cost, cost);
}

TEST(Ctc, ADamagedFileIsRefused) {
  const Scratch scratch;
  const std::string path = scratch / "grammar";
  Case c{3, {0, 1, 0, 0, 1, 2, 1, 1, 0, 2, 2, 2}, {2}, {}};
  ASSERT_EQ(asr_ctc_grammar_save(open_grammar(c).get(), path.c_str()), ASR_OK) << asr_build_last_error();
  const std::string whole = slurp(path);
  for (size_t at = 0; at < 2 * whole.size(); ++at) {
    std::string bytes = at < whole.size() ? whole : whole.substr(0, at - whole.size());
    if (at < whole.size()) bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    spill(path, bytes);
    asr_ctc_grammar *grammar = nullptr;
    EXPECT_EQ(asr_ctc_grammar_load(path.c_str(), &grammar), ASR_BAD_FILE) << at;
    EXPECT_EQ(grammar, nullptr);
  }
}

TEST(Ctc, ArgumentsThatDoNotFitAreRefused) {
  Case c{2, {0, 1, 0, 0}, {1}, {}};
  const Grammar grammar = open_grammar(c);
  asr_ctc_search_config config;
  asr_ctc_search_config_default(&config);
  asr_ctc_search *search = nullptr;
  config.beam = -1;
  EXPECT_EQ(asr_ctc_search_open(grammar.get(), &config, &search), ASR_INVALID_ARGUMENT);
  EXPECT_STREQ(asr_build_last_error(), "asr_ctc_search_config.beam is -1; its range is 0 to 1.797693e+308");
  config.beam = 0;
  config.size = 12;
  EXPECT_EQ(asr_ctc_search_open(grammar.get(), &config, &search), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_ctc_search_open(nullptr, nullptr, &search), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(search, nullptr);
  const Search good = open_search(grammar.get(), ASR_CTC_DISTINCT_IDS);
  const float rows[] = {0, 0};
  EXPECT_EQ(asr_ctc_search_feed(good.get(), rows, 1, 2), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_ctc_search_feed(good.get(), nullptr, 1, 3), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_ctc_search_feed(good.get(), nullptr, 0, 3), ASR_OK);
  asr_ctc_phrase phrase{};
  EXPECT_EQ(asr_ctc_search_result(good.get(), &phrase), ASR_INVALID_ARGUMENT);
  asr_ctc_decoder *decoder = nullptr;
  asr_ctc_decoder_config labels;
  asr_ctc_decoder_config_default(&labels);
  EXPECT_EQ(asr_ctc_decoder_open(&labels, &decoder), ASR_INVALID_ARGUMENT);
  const char *const names[] = {"a", nullptr};
  labels.labels = names;
  labels.n_labels = 2;
  EXPECT_EQ(asr_ctc_decoder_open(&labels, &decoder), ASR_INVALID_ARGUMENT);
  EXPECT_STREQ(asr_build_last_error(), "asr_ctc_decoder_open: config->labels[1] is NULL");
  EXPECT_EQ(asr_ctc_beams_count(nullptr), 0u);
  asr_ctc_grammar_close(nullptr);
  asr_ctc_search_close(nullptr);
  asr_ctc_decoder_close(nullptr);
  asr_ctc_lm_close(nullptr);
  asr_ctc_beams_free(nullptr);
}

}  // namespace
}  // namespace asr::test
