// SPDX-License-Identifier: Apache-2.0
// Tests classes of libsenone_build: lists that grammars use as $name, and words pronounced by G2P.
#include <fstream>
#include <thread>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"
#include "tests/build/hear.h"
#include "tests/build/tone_builder.h"

namespace asr::test {
namespace {

void set_class(asr_builder *builder, const char *name, const std::string &text) {
  ASSERT_BUILT(asr_builder_set_class(builder, name, text.data(), text.size(), nullptr));
}

void add_to_class(asr_builder *builder, const char *name, const std::string &text, const asr_build_config *config = nullptr) {
  ASSERT_BUILT(asr_builder_add_to_class(builder, name, text.data(), text.size(), config));
}

ResultPointer build_again(const asr_builder *builder, const asr_build_result *result) {
  asr_build_result *again = nullptr;
  EXPECT_BUILT(asr_build_again(builder, result, &again));
  return {again, asr_build_free};
}

std::string class_refusal(asr_builder *builder, const char *name, const std::string &text, asr_status status) {
  EXPECT_EQ(asr_builder_set_class(builder, name, text.data(), text.size(), nullptr), status) << text;
  return asr_build_last_error();
}

TEST(Classes, AreHeardAndChange) {
  const BuilderPointer builder = tone_builder();
  set_class(builder.get(), "tones", "mid");
  const ResultPointer first = build(asr_build_jsgf, builder.get(), jsgf("public <top> = low $tones;"));
  EXPECT_EQ(hear(archive_of(first.get()), "low mid").text, "low mid");
  EXPECT_EQ(info_of(first.get()).n_words, 2u);

  add_to_class(builder.get(), "tones", "high {H}\nmid high {MH}\n");
  const ResultPointer second = build_again(builder.get(), first.get());
  EXPECT_EQ(hear(archive_of(second.get()), "low mid").text, "low mid");
  EXPECT_EQ(hear(archive_of(second.get()), "low high").words, (std::vector<std::string>{"low[top|]", "high[top|H]"}));
  EXPECT_EQ(hear(archive_of(second.get()), "low mid high").words,
            (std::vector<std::string>{"low[top|]", "mid[top|]", "high[top|MH]"}));

  set_class(builder.get(), "tones", "low low");
  const ResultPointer third = build_again(builder.get(), second.get());
  EXPECT_EQ(hear(archive_of(third.get()), "low low low").text, "low low low");
  EXPECT_NE(hear(archive_of(third.get()), "low mid").text, "low mid");
  EXPECT_EQ(hear(archive_of(first.get()), "low mid").text, "low mid") << "a result has changed";
}

TEST(Classes, StandAnywhereInAnyNotation) {
  const BuilderPointer builder = tone_builder();
  set_class(builder.get(), "a", "low\nmid\n");
  set_class(builder.get(), "b", "high\nhigh mid\n");
  for (const ResultPointer &result :
       {build(asr_build_jsgf, builder.get(), jsgf("public <top> = ($a $b)+;")),
        build(asr_build_phrases, builder.get(), "$a $b\n$a $b $a $b"),
        build(asr_build_srgs, builder.get(),
              "<grammar root='top'><rule id='top'><item repeat='1-'>$a $b</item></rule></grammar>")}) {
    EXPECT_EQ(hear(archive_of(result.get()), "low high").text, "low high");
    EXPECT_EQ(hear(archive_of(result.get()), "mid high mid low high").text, "mid high mid low high");
  }
}

// Results equal those of written-out phrases, with the rule of the sentence, and tags of the name after those of the phrase.
TEST(Classes, HaveTagsAndRules) {
  const BuilderPointer builder = tone_builder();
  set_class(builder.get(), "c", "mid {M}\nhigh low {HL}\n");
  const ResultPointer result =
      build(asr_build_jsgf, builder.get(), jsgf("public <first> = low $c {one}; public <second> = $c {two};"));
  EXPECT_EQ(hear(archive_of(result.get()), "low high low").words,
            (std::vector<std::string>{"low[first|]", "high[first|]", "low[first|HL\none]"}));
  EXPECT_EQ(hear(archive_of(result.get()), "mid").words, std::vector<std::string>{"mid[second|M\ntwo]"});
}

// Lists of similar sizes are merged; each phrase keeps the options of its own call.
TEST(Classes, GrowByManyCalls) {
  const BuilderPointer builder = tone_builder();
  asr_build_config drop = default_config(), lower = default_config(), likely = default_config();
  drop.unknown = ASR_BUILD_DROP_UNKNOWN;
  lower.letter_case = ASR_BUILD_CASE_LOWER;
  likely.silence_prob = 0.5;
  set_class(builder.get(), "c", "low");
  const ResultPointer result = build(asr_build_phrases, builder.get(), "$c");
  const char *const phrases[] = {"mid high", "high high", "high low {HL}", "# none\n\nlow low"};
  for (int i = 0; i < 40; ++i) add_to_class(builder.get(), "c", phrases[i % 4], i % 3 == 0 ? &likely : nullptr);
  add_to_class(builder.get(), "c", "beep\nmid mid", &drop);
  add_to_class(builder.get(), "c", "\xef\xbb\xbfLOW MID", &lower);
  for (int i = 0; i < 40; ++i) add_to_class(builder.get(), "c", "mid low");
  const ResultPointer again = build_again(builder.get(), result.get());
  for (const char *const phrase : {"low", "mid high", "high high", "high low", "low low", "mid mid", "low mid", "mid low"}) {
    EXPECT_EQ(hear(archive_of(again.get()), phrase).text, phrase);
  }
  EXPECT_EQ(hear(archive_of(again.get()), "high low").words, (std::vector<std::string>{"high[|]", "low[|HL]"}));
  const asr_build_info info = info_of(again.get());
  ASSERT_EQ(info.n_unknown, 1u);
  EXPECT_STREQ(info.unknown[0], "beep");
}

TEST(Classes, MayBeEmpty) {
  const BuilderPointer builder = tone_builder();
  set_class(builder.get(), "c", "");
  const ResultPointer result = build(asr_build_phrases, builder.get(), "low $c\nmid");
  EXPECT_EQ(hear(archive_of(result.get()), "mid").text, "mid");
  EXPECT_EQ(info_of(result.get()).n_words, 2u);
  EXPECT_NE(refusal(asr_build_phrases, builder.get(), "low $c", ASR_BAD_FILE).find("no sentence can be said"),
            std::string::npos);
  add_to_class(builder.get(), "c", "high");
  EXPECT_EQ(hear(archive_of(build_again(builder.get(), result.get()).get()), "low high").text, "low high");
  add_to_class(builder.get(), "c", "# nothing more");
  EXPECT_EQ(hear(archive_of(build_again(builder.get(), result.get()).get()), "low high").text, "low high");
  set_class(builder.get(), "c", "\n");
  EXPECT_EQ(archive_of(build_again(builder.get(), result.get()).get()), archive_of(result.get()));
}

TEST(Classes, AreUsedInWordLists) {
  const BuilderPointer builder = tone_builder();
  set_class(builder.get(), "c", "high low");
  const ResultPointer result = build(asr_build_words, builder.get(), "mid\n$c");
  EXPECT_EQ(hear(archive_of(result.get()), "mid high low high low mid").text, "mid high low high low mid");
}

// A word of a lexicon stays a word, even if a class gets its name later.
TEST(Classes, AreThoseOfWhenTheGrammarWasBuilt) {
  const BuilderPointer builder = tone_builder();
  const std::string lexicon = "$d HIGH LOW\n";
  ASSERT_BUILT(asr_builder_add_lexicon_text(builder.get(), lexicon.data(), lexicon.size(), nullptr));
  set_class(builder.get(), "c", "low");
  const ResultPointer result = build(asr_build_phrases, builder.get(), "$c $d");
  set_class(builder.get(), "d", "mid");
  EXPECT_EQ(archive_of(build_again(builder.get(), result.get()).get()), archive_of(result.get()));
  EXPECT_EQ(hear(archive_of(build(asr_build_phrases, builder.get(), "$c $d").get()), "low mid").text, "low mid");
}

// A hundred optional uses have five thousand paths from one to another.
TEST(Classes, AreUsedAtManyPlaces) {
  const BuilderPointer builder = tone_builder();
  set_class(builder.get(), "c", "low\nmid high\n");
  std::string rules = "public <top> = high";
  for (int i = 0; i < 100; ++i) rules += " [$c]";
  const ResultPointer result = build(asr_build_jsgf, builder.get(), jsgf(rules + ";"));
  EXPECT_EQ(hear(archive_of(result.get()), "high low mid high low").text, "high low mid high low");
}

TEST(Classes, AreRefusedInMessages) {
  const BuilderPointer builder = tone_builder();
  EXPECT_EQ(class_refusal(builder.get(), "$c", "low", ASR_INVALID_ARGUMENT),
            "asr_builder_set_class: name: \"$c\" cannot name a class; give UTF-8 without blanks, control characters and any of "
            "$;=|()[]*+<>{}\"/");
  for (const char *const name : {"", "a|b", "c*", "a b", "a\tb", "x\x7f", "\xff", "a\x01"}) {
    EXPECT_NE(class_refusal(builder.get(), name, "low", ASR_INVALID_ARGUMENT).find("cannot name a class"), std::string::npos);
  }
  EXPECT_EQ(class_refusal(builder.get(), std::string(256, 'x').c_str(), "low", ASR_INVALID_ARGUMENT),
            "asr_builder_set_class: name has 256 bytes; the most is 255");
  EXPECT_EQ(class_refusal(builder.get(), "c", "low {tag", ASR_BAD_FILE),
            "c: line 1, column 5: the tag has no end; put '}' behind it");
  EXPECT_EQ(class_refusal(builder.get(), "c", "low\n {tag}", ASR_BAD_FILE), "c: line 2: no words; put a phrase before its tag");
  EXPECT_NE(class_refusal(builder.get(), "c", "low beep", ASR_INVALID_ARGUMENT).find("beep (line 1, column 5)"),
            std::string::npos);
  EXPECT_NE(refusal(asr_build_phrases, builder.get(), "low $c", ASR_INVALID_ARGUMENT).find("$c (line 1, column 5)"),
            std::string::npos);
  set_class(builder.get(), "c", "low");
  EXPECT_EQ(class_refusal(builder.get(), "d", "mid $c", ASR_UNSUPPORTED),
            "d: the class $c cannot be used in a class; write its phrases out");

  const ResultPointer result = build(asr_build_phrases, builder.get(), "$c");
  const BuilderPointer other = tone_builder();
  asr_build_result *again = nullptr;
  EXPECT_EQ(asr_build_again(other.get(), result.get(), &again), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(again, nullptr);
  EXPECT_STREQ(asr_build_last_error(), "asr_build_again: another builder has made the result; give that one");
}

// Each word of the list may have the name's tag.
TEST(Classes, HaveNoEndOfTags) {
  const BuilderPointer builder = tone_builder();
  std::string lexicon, phrases;
  for (int i = 0; i < 1000; ++i) {
    const std::string word = "w" + std::to_string(i);
    lexicon += word + " LOW MID\n";
    phrases += word + "\n";
  }
  ASSERT_BUILT(asr_builder_add_lexicon_text(builder.get(), lexicon.data(), lexicon.size(), nullptr));
  set_class(builder.get(), "c", phrases);
  const std::string rules = "public <top> = $c {" + std::string(100000, 'x') + "};";
  EXPECT_NE(refusal(asr_build_jsgf, builder.get(), jsgf(rules), ASR_UNSUPPORTED).find("64 MiB"), std::string::npos)
      << asr_build_last_error();
  std::string tags = "public <top> = $c";
  for (int i = 0; i < 64; ++i) tags += " {x}";
  EXPECT_EQ(info_of(build(asr_build_jsgf, builder.get(), jsgf(tags + ";")).get()).n_words, 1000u);
  set_class(builder.get(), "c", "low {l}\n");
  EXPECT_EQ(refusal(asr_build_jsgf, builder.get(), jsgf(tags + ";"), ASR_UNSUPPORTED),
            "grammar: with the tags of $c the word 'low' has more than 64; use fewer");
}

TEST(Classes, ListTheirUnknownWords) {
  const BuilderPointer builder = tone_builder();
  asr_build_config config = default_config();
  config.unknown = ASR_BUILD_DROP_UNKNOWN;
  const std::string text = "low\nmid beep\n";
  ASSERT_BUILT(asr_builder_set_class(builder.get(), "c", text.data(), text.size(), &config));
  const ResultPointer result = build(asr_build_phrases, builder.get(), "$c\nalarm $c", &config);
  const asr_build_info info = info_of(result.get());
  ASSERT_EQ(info.n_unknown, 2u);
  EXPECT_STREQ(info.unknown[0], "alarm");
  EXPECT_STREQ(info.unknown[1], "beep");
  EXPECT_EQ(hear(archive_of(result.get()), "low").text, "low");
}

TEST(Classes, WithoutAnyTheResultIsTheSame) {
  const BuilderPointer builder = tone_builder();
  const ResultPointer result = build(asr_build_phrases, builder.get(), "low mid");
  EXPECT_EQ(archive_of(build_again(builder.get(), result.get()).get()), archive_of(result.get()));
}

// Rebuilding gives the same bytes as building.
TEST(Classes, AreJoinedAlikeAtAnyTime) {
  const BuilderPointer builder = tone_builder();
  set_class(builder.get(), "c", "low");
  const ResultPointer before = build(asr_build_phrases, builder.get(), "mid $c\n$c high");
  set_class(builder.get(), "c", "high\nmid low\n");
  const std::string archive = archive_of(build_again(builder.get(), before.get()).get());
  EXPECT_EQ(archive, archive_of(build(asr_build_phrases, builder.get(), "mid $c\n$c high").get()));
}

TEST(Classes, ChangeWhileOthersBuild) {
  const BuilderPointer builder = tone_builder();
  set_class(builder.get(), "c", "low");
  const ResultPointer result = build(asr_build_phrases, builder.get(), "mid $c");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        if (t % 2 == 0) {
          EXPECT_BUILT(asr_builder_add_to_class(builder.get(), "c", "high low", 8, nullptr));
        } else {
          EXPECT_GT(info_of(build_again(builder.get(), result.get()).get()).n_arcs, 0u);
        }
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(hear(archive_of(build_again(builder.get(), result.get()).get()), "mid high low").text, "mid high low");
}

// Letters stand for tones: "l" LOW, "h" HIGH.
TEST(GuessedPronunciations, AreUsedAndListed) {
  const std::string dictionary = tone_bundle() + "/letters.dict", model = tone_bundle() + "/letters.g2p";
  std::ofstream(dictionary) << "l LOW\nh HIGH\nlh LOW HIGH\nhl HIGH LOW\nll LOW LOW\nhh HIGH HIGH\nlhl LOW HIGH LOW\n";
  const Outcome outcome = run_program("senone", "g2p --quiet --train " + dictionary + " --out " + model);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const BuilderPointer builder = tone_builder();
  ASSERT_BUILT(asr_builder_set_g2p(builder.get(), model.c_str(), 1));
  set_class(builder.get(), "c", "hlh\n");
  const ResultPointer result = build(asr_build_phrases, builder.get(), "mid lhh\nmid $c\nlow");
  const asr_build_info info = info_of(result.get());
  ASSERT_EQ(info.n_guessed, 2u);
  EXPECT_STREQ(info.guessed[0], "hlh");
  EXPECT_STREQ(info.guessed[1], "lhh");
  EXPECT_EQ(hear(archive_of(result.get()), "mid low high high").text, "mid lhh");
  EXPECT_EQ(hear(archive_of(result.get()), "mid high low high").text, "mid hlh");
  ASSERT_BUILT(asr_builder_set_g2p(builder.get(), nullptr, 0));
  EXPECT_NE(refusal(asr_build_phrases, builder.get(), "lhh", ASR_INVALID_ARGUMENT), "");
  EXPECT_EQ(asr_builder_set_g2p(builder.get(), dictionary.c_str(), 1), ASR_BAD_FILE);
  EXPECT_EQ(asr_builder_set_g2p(builder.get(), model.c_str(), 0), ASR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace asr::test
