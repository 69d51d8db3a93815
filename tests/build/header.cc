// SPDX-License-Identifier: Apache-2.0
// Tests that senone_build.hpp compiles like asr_build.h: handles, views, errors.
#include <gtest/gtest.h>

#include <fstream>
#include <senone_build.hpp>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/api/tone_bundle.h"
#include "tests/build/tone_builder.h"

namespace asr::test {
namespace {

static_assert(!std::is_copy_constructible_v<senone::GrammarBuilder> &&
              std::is_nothrow_move_constructible_v<senone::GrammarBuilder>);
static_assert(!std::is_copy_constructible_v<senone::Grammar> && std::is_nothrow_move_constructible_v<senone::Grammar>);
static_assert(std::is_nothrow_move_assignable_v<senone::Grammar>);

const char kTop[] = "#JSGF V1.0;\ngrammar g;\npublic <top> = low mid {M} | high;\n";

senone::GrammarBuilder open() {
  senone::GrammarBuilder builder(tone_model());
  builder.add_lexicon_text(kToneLexicon);
  return builder;
}

TEST(BuildHeader, AGrammarIsHeard) {
  senone::Engine engine(tone_bundle());
  {
    const senone::Grammar top = open().jsgf(kTop);  // outlives its builder
    engine.add_graph_bytes("top", top.bytes());
  }
  senone::StreamConfig config;
  config.graph = "top";
  senone::Stream stream = engine.open(config);
  stream.feed(speak("low mid"));
  stream.finish();
  const senone::Event final = stream.final_event();
  EXPECT_EQ(final.text(), "low mid");
  EXPECT_EQ(final.alternatives()[0].rule(), "top");
  EXPECT_EQ(final.words()[1].tags, "M");
}

TEST(BuildHeader, EveryNotationGivesTheLibrarysBytes) {
  const senone::GrammarBuilder builder = open();
  const BuilderPointer c_builder = tone_builder();
  const auto expect_same = [&](const senone::Grammar &grammar, Build function, const std::string &text) {
    const ResultPointer result = build(function, c_builder.get(), text);
    const asr_build_info info = info_of(result.get());
    EXPECT_EQ(grammar.bytes(), archive_of(result.get())) << text;
    EXPECT_EQ(grammar.n_states(), info.n_states);
    EXPECT_EQ(grammar.n_arcs(), info.n_arcs);
    EXPECT_EQ(grammar.n_words(), info.n_words);
  };
  const std::string srgs = "<grammar root='a'><rule id='a'>low</rule></grammar>";
  expect_same(builder.jsgf(kTop), asr_build_jsgf, kTop);
  expect_same(builder.srgs(srgs), asr_build_srgs, srgs);
  expect_same(builder.phrases("low mid\nhigh\n"), asr_build_phrases, "low mid\nhigh\n");
  expect_same(builder.words("low\nhigh\n"), asr_build_words, "low\nhigh\n");
}

TEST(BuildHeader, ClassesChange) {
  senone::GrammarBuilder builder = open();
  builder.set_g2p("");
  builder.set_class("tones", "mid {M}\n");
  const senone::Grammar first = builder.phrases("low $tones\n");
  EXPECT_EQ(first.n_classes(), 1u);
  EXPECT_EQ(first.n_words(), 2u);
  EXPECT_EQ(first.guessed().size(), 0u);
  builder.add_to_class("tones", "high\n");
  EXPECT_EQ(builder.build_again(first).n_words(), 3u);
  EXPECT_EQ(open().try_build_again(first).error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(builder.try_set_class("a b", "low").error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(builder.try_set_g2p("/no/such").error().status(), ASR_NOT_FOUND);
}

TEST(BuildHeader, UnknownWordsAreARangeOfTheGrammar) {
  const senone::GrammarBuilder builder = open();
  senone::BuildConfig config;
  EXPECT_EQ(config.silence_prob, 0.3);
  config.unknown = ASR_BUILD_DROP_UNKNOWN;
  const senone::Grammar grammar = builder.phrases("low zap\nhigh\nblip\n", config);
  std::vector<std::string_view> unknown;
  for (const std::string_view word : grammar.unknown()) unknown.push_back(word);
  EXPECT_EQ(unknown, (std::vector<std::string_view>{"blip", "zap"}));
  EXPECT_TRUE(builder.words("low\n").unknown().empty());
  const std::string_view bytes = grammar.bytes();
  EXPECT_EQ(bytes.data(), grammar.bytes().data());  // the library's own memory, not a copy
}

TEST(BuildHeader, MovedHandlesAreEmpty) {
  senone::GrammarBuilder builder = open(), moved = std::move(builder);
  EXPECT_FALSE(builder);
  EXPECT_TRUE(moved);
  senone::Grammar grammar = moved.words("low\n"), other;
  const char *bytes = grammar.bytes().data();
  other = std::move(grammar);
  EXPECT_FALSE(grammar);  // NOLINT(bugprone-use-after-move): tested
  EXPECT_EQ(other.bytes().data(), bytes);
  EXPECT_THROW(grammar.bytes(), senone::Error);
  EXPECT_EQ(builder.try_words("low\n").error().status(), ASR_INVALID_ARGUMENT);
}

TEST(BuildHeader, ErrorsHaveTheLibrarysStatusAndMessage) {
  senone::GrammarBuilder builder = open();
  senone::BuildConfig config;
  config.name = "menu";
  try {
    builder.jsgf("#JSGF V1.0;\ngrammar g;\npublic <a> = (low;\n", config);
    FAIL() << "it compiled";
  } catch (const senone::Error &error) {
    EXPECT_EQ(error.status(), ASR_BAD_FILE);
    EXPECT_STREQ(error.what(), asr_build_last_error());
    EXPECT_EQ(std::string(error.what()).rfind("menu: line 3, column ", 0), 0u) << error.what();
  }
  EXPECT_EQ(builder.try_phrases("zap\n").error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(builder.try_srgs("").error().status(), ASR_BAD_FILE);
  EXPECT_EQ(builder.try_words({}).error().status(), ASR_BAD_FILE);
  EXPECT_EQ(builder.try_add_lexicon("/no/such").error().status(), ASR_NOT_FOUND);
  EXPECT_THROW(builder.add_lexicon_text("low ZAP\n", "mine"), senone::Error);
  EXPECT_EQ(senone::GrammarBuilder::try_open("/no/such").error().status(), ASR_NOT_FOUND);
  EXPECT_THROW(senone::GrammarBuilder("/no/such"), senone::Error);
}

TEST(BuildHeader, LexiconsOfFilesAndOfTextAddUp) {
  senone::GrammarBuilder builder(tone_model());
  const std::string path = tone_model() + "/header.dict";
  std::ofstream(path) << "bass LOW\n";
  builder.add_lexicon(path);
  EXPECT_EQ(builder.try_words("bass\ntreble\n").error().status(), ASR_INVALID_ARGUMENT);
  builder.add_lexicon_text(std::string_view("treble HIGH\ncut", 12));  // a view need not end with NUL
  EXPECT_EQ(builder.words("bass\ntreble\n").unknown().size(), 0u);
}

TEST(BuildHeader, ThreadsShareABuilder) {
  const senone::GrammarBuilder builder = open();
  const std::string expected(builder.jsgf(kTop).bytes());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(builder.jsgf(kTop).bytes(), expected); });
  }
  for (std::thread &thread : threads) thread.join();
}

TEST(BuildHeader, PhrasesAndTextsOfCtcScores) {
  const senone::CtcGrammar grammar(3, 0, {{0, 1, 1, 1}, {1, 2, 2, 2}}, {2});
  const std::string path = tone_model() + "/phrases";
  grammar.save(path);
  EXPECT_EQ(senone::CtcGrammar::load(path).info().n_states, grammar.info().n_states);
  const float rows[] = {-9, -1, -9, -9, -9, -1};
  senone::CtcSearch search(grammar);
  search.feed(rows, 2, 3);
  const asr_ctc_phrase phrase = search.result();
  EXPECT_EQ(std::vector<int32_t>(phrase.ids, phrase.ids + phrase.n_ids), (std::vector<int32_t>{1, 2}));
  EXPECT_FLOAT_EQ(static_cast<float>(phrase.best_cost), 2);
  search.reset();
  EXPECT_EQ(search.result().n_ids, 0u);

  const char *const labels[] = {"", "a", "b"};
  senone::CtcDecoderConfig config;
  config.labels = labels;
  config.n_labels = 3;
  const senone::CtcDecoder decoder(config);
  const double log_probs[] = {-9, -1, -9, -9, -9, -1};
  const senone::CtcBeams beams = decoder.decode(log_probs, 2);
  ASSERT_GE(beams.size(), 1u);
  EXPECT_STREQ(beams[0].text, "ab");

  EXPECT_THROW(senone::CtcGrammar::load("/no/such"), senone::Error);
  EXPECT_THROW(senone::CtcLanguageModel("/no/such", "/no/such"), senone::Error);
  EXPECT_FALSE(senone::try_make_ctc_bundle("/no/such", "/no/such", 3, 0, 20, path));
}

}  // namespace
}  // namespace asr::test
