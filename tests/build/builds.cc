// SPDX-License-Identifier: Apache-2.0
// Tests libsenone_build: grammars that compile, errors of others, threads, and recognition with the results.
#include <cmath>
#include <ctime>
#include <fstream>
#include <thread>

#include "core/graph/archive.h"
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"
#include "tests/build/hear.h"
#include "tests/build/tone_builder.h"
#include "tests/unit/text/packed.h"

namespace asr::test {
namespace {

const char kCommands[] = "public <top> = [mid] (low | high) | chirp+;\n";

Heard hear_jsgf(const std::string &rules, const std::string &words, const char *rule = nullptr) {
  const BuilderPointer builder = tone_builder();
  asr_build_config config = default_config();
  config.rule = rule;
  return hear(archive_of(build(asr_build_jsgf, builder.get(), jsgf(rules), &config).get()), words);
}

TEST(Builds, AJsgfGrammarIsHeard) {
  EXPECT_EQ(hear_jsgf(kCommands, "mid low").text, "mid low");
  EXPECT_EQ(hear_jsgf(kCommands, "high").text, "high");
}

TEST(Builds, AnSrgsGrammarIsHeard) {
  const BuilderPointer builder = tone_builder();
  const std::string text =
      "<grammar root='top' xml:lang='en'><rule id='top'>low <one-of><item>mid<tag>M</tag></item>"
      "<item><tag> H </tag>high</item></one-of><item repeat='0-1'><ruleref uri='#end'/></item></rule>"
      "<rule id='end'>low<tag>end</tag></rule></grammar>";
  const std::string archive = archive_of(build(asr_build_srgs, builder.get(), text).get());
  EXPECT_EQ(hear(archive, "low mid").words, (std::vector<std::string>{"low[top|]", "mid[top|M]"}));
  EXPECT_EQ(hear(archive, "low high low").words, (std::vector<std::string>{"low[top|]", "high[top|H]", "low[top|end]"}));
  EXPECT_EQ(refusal(asr_build_srgs, builder.get(), "<grammar>\n<rule id='a'>&lt;<b/></rule></grammar>", ASR_BAD_FILE),
            "grammar: line 2, column 18: <b> is not supported here; correct the grammar");
}

TEST(Builds, PhrasesAreHeard) {
  const BuilderPointer builder = tone_builder();
  const std::string text = "\xef\xbb\xbf# commands\n\nlow mid\n  high\tmid \r\nmid mid mid";
  const ResultPointer result = build(asr_build_phrases, builder.get(), text);
  for (const char *const phrase : {"low mid", "high mid", "mid mid mid"}) {
    const Heard heard = hear(archive_of(result.get()), phrase);
    EXPECT_EQ(heard.text, phrase);
    EXPECT_EQ(heard.rule + heard.tags, "");
  }
}

TEST(Builds, WordsAreHeard) {
  const BuilderPointer builder = tone_builder();
  const ResultPointer result = build(asr_build_words, builder.get(), "low\n# no word\nhigh\n");
  EXPECT_EQ(hear(archive_of(result.get()), "high low low").text, "high low low");
  EXPECT_EQ(info_of(result.get()).n_words, 2u);
}

TEST(Builds, TellTheirSizes) {
  const BuilderPointer builder = tone_builder();
  const ResultPointer result = build(asr_build_jsgf, builder.get(), jsgf(kCommands));
  const asr_build_info info = info_of(result.get());
  const GraphParts parts = read_graph_archive(info.bytes, info.n_bytes, "result");
  EXPECT_EQ(info.n_states, parts.graph.n_states());
  EXPECT_EQ(info.n_arcs, parts.graph.n_arcs());
  EXPECT_EQ(info.n_words, 4u);
  EXPECT_EQ(info.n_unknown, 0u);
  EXPECT_EQ(parts.words.words.size(), 5u);
}

// The archive may differ from that of `senone graph` only by the step recorded in senone.json.
TEST(Builds, AreThoseOfTheCommand) {
  const std::string &folder = tone_bundle();
  std::ofstream(folder + "/tones.dict") << kToneLexicon;
  const std::string with_tags = "public <a> = low {l} | [mid] {m} high; public <b> = (low {l})+ {more} | mid;";
  for (const std::string &text : {jsgf(kCommands), jsgf(with_tags)}) {
    std::ofstream(folder + "/g.jsgf") << text;
    const Outcome outcome =
        run_program("senone", "graph --quiet --model " + tone_model() + " --lexicon " + folder + "/tones.dict --jsgf " +
                                  folder + "/g.jsgf --archive " + folder + "/g.sgraph");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    const BuilderPointer builder = tone_builder();
    const std::string archive = archive_of(build(asr_build_jsgf, builder.get(), text).get());
    GraphParts ours = read_graph_archive(archive.data(), archive.size(), "ours"),
               theirs = read_graph_parts(folder + "/g.sgraph");
    for (const char *const name : {"graph.bin", "words.txt", "phones.txt", "hmms.bin"}) {
      EXPECT_EQ(ours.bundle.files.at(name).checksum, theirs.bundle.files.at(name).checksum) << name;
    }
    ours.bundle.made_by = theirs.bundle.made_by = {};
    EXPECT_EQ(bundle_index_text(ours.bundle), bundle_index_text(theirs.bundle));
  }
}

// Words of the lexicon, a packed file, and of the grammar, typed with and without a combining accent.
TEST(Builds, AccentsMayBeTypedInTwoWays) {
  asr_builder *opened = nullptr;
  ASSERT_BUILT(asr_builder_open(tone_model().c_str(), &opened));
  const BuilderPointer builder{opened, asr_builder_close};
  const std::string path = tone_bundle() + "/accents.dict", bom = "\xef\xbb\xbf";
  std::ofstream(path, std::ios::binary) << gzip(bom + "caf\u00e9 LOW\r\nte\u0301 MID\r\n");
  ASSERT_BUILT(asr_builder_add_lexicon(builder.get(), path.c_str()));
  const std::string text = "E\u0301TE\u0301 HIGH";
  ASSERT_BUILT(asr_builder_add_lexicon_text(builder.get(), text.c_str(), text.size(), nullptr));
  const std::string archive = archive_of(build(asr_build_phrases, builder.get(), bom + "cafe\u0301 t\u00e9").get());
  EXPECT_EQ(hear(archive, "low mid").text, "caf\u00e9 t\u00e9");
  asr_build_config upper = default_config();
  upper.letter_case = ASR_BUILD_CASE_UPPER;
  EXPECT_EQ(hear(archive_of(build(asr_build_words, builder.get(), "\u00e9te\u0301", &upper).get()), "high").text,
            "\u00c9T\u00c9");
}

TEST(Builds, LexiconsAddUp) {
  asr_builder *opened = nullptr;
  ASSERT_BUILT(asr_builder_open(tone_model().c_str(), &opened));
  const BuilderPointer builder{opened, asr_builder_close};
  const std::string path = tone_bundle() + "/one.dict";
  std::ofstream(path) << "tone LOW\nother MID\n";
  ASSERT_BUILT(asr_builder_add_lexicon(builder.get(), path.c_str()));
  EXPECT_NE(refusal(asr_build_phrases, builder.get(), "tone\nbeep", ASR_INVALID_ARGUMENT).find("beep (line 2, column 1)"),
            std::string::npos);
  ASSERT_BUILT(asr_builder_add_lexicon_text(builder.get(), "beep MID\ntone HIGH", 18, nullptr));
  const std::string archive = archive_of(build(asr_build_phrases, builder.get(), "tone\nbeep").get());
  EXPECT_EQ(hear(archive, "low").text, "tone");
  EXPECT_EQ(hear(archive, "high").text, "tone");
  EXPECT_EQ(hear(archive, "mid").text, "beep");

  EXPECT_EQ(asr_builder_add_lexicon_text(builder.get(), "tone\n", 5, "mine"), ASR_BAD_FILE);
  EXPECT_EQ(std::string(asr_build_last_error()), "mine: line 1: 'tone' has no phones; a line is a word and its phones");
  EXPECT_EQ(asr_builder_add_lexicon(builder.get(), "/nowhere.dict"), ASR_NOT_FOUND);
  EXPECT_EQ(archive_of(build(asr_build_phrases, builder.get(), "tone\nbeep").get()), archive);
}

TEST(Builds, UnknownWordsAreRefusedOrDropped) {
  const BuilderPointer builder = tone_builder();
  const std::string text = jsgf("public <top> = low | zzz mid |\n  aaa | high;");
  EXPECT_EQ(
      refusal(asr_build_jsgf, builder.get(), text, ASR_INVALID_ARGUMENT),
      "grammar: 2 of 5 words have no pronunciation in the builder's lexicons: aaa (line 4, column 3), zzz (line 3, column "
      "22); add them with asr_builder_add_lexicon ($names with asr_builder_set_class), check "
      "asr_build_config.letter_case, or set its field unknown to "
      "ASR_BUILD_DROP_UNKNOWN");
  asr_build_config config = default_config();
  config.unknown = ASR_BUILD_DROP_UNKNOWN;
  const ResultPointer result = build(asr_build_jsgf, builder.get(), text, &config);
  const asr_build_info info = info_of(result.get());
  ASSERT_EQ(info.n_unknown, 2u);
  EXPECT_EQ(std::string(info.unknown[0]) + " " + info.unknown[1], "aaa zzz");
  EXPECT_EQ(info.n_words, 2u);
  EXPECT_EQ(hear(archive_of(result.get()), "high").text, "high");
  EXPECT_EQ(refusal(asr_build_phrases, builder.get(), "aaa\nlow zzz", ASR_BAD_FILE, &config),
            "grammar: no sentence can be said with it; check its words and rules");
}

TEST(GraphCommand, SaysWhatItLeavesOut) {
  const std::string &folder = tone_bundle();
  std::ofstream(folder + "/drop.dict") << kToneLexicon;
  std::ofstream(folder + "/drop.jsgf") << jsgf("public <top> = low | zzz mid | aaa | high;");
  const Outcome outcome =
      run_program("senone", "graph --model " + tone_model() + " --lexicon " + folder + "/drop.dict --jsgf " + folder +
                                "/drop.jsgf --drop-unknown --archive " + folder + "/drop.sgraph");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("2 words have no pronunciation and were left out: aaa, zzz\n"), std::string::npos)
      << outcome.output;
}

TEST(Builds, LettersAreFolded) {
  const BuilderPointer builder = tone_builder();
  asr_build_config config = default_config();
  config.letter_case = ASR_BUILD_CASE_LOWER;
  for (const Build function : {asr_build_phrases, asr_build_words}) {
    EXPECT_EQ(hear(archive_of(build(function, builder.get(), "LOW\nMid", &config).get()), "mid").text, "mid");
  }
  EXPECT_NE(refusal(asr_build_words, builder.get(), "LOW\nlow", ASR_INVALID_ARGUMENT, &config).find("become one word"),
            std::string::npos);
}

TEST(Builds, BadGrammarsAreRefusedWithTheirPlace) {
  const BuilderPointer builder = tone_builder();
  asr_build_config config = default_config();
  config.name = "menu";
  const auto expect = [&](const std::string &text, asr_status status, const std::string &message) {
    EXPECT_EQ(refusal(asr_build_jsgf, builder.get(), text, status, &config), "menu: " + message) << text;
  };
  expect("", ASR_BAD_FILE,
         "line 1, column 1: a JSGF grammar begins with #JSGF V1.0; grammars of other kinds have to be written as such a one");
  expect(jsgf("public <a> = low mid"), ASR_BAD_FILE, "line 3, column 21: ';' expected at the end of <a>; correct the grammar");
  expect(jsgf("public <a> =\n  low ( mid;"), ASR_BAD_FILE, "line 4, column 12: ')' expected; correct the grammar");
  expect(jsgf("public <a> = low {tag"), ASR_BAD_FILE, "line 3, column 18: a tag does not end; correct the grammar");
  expect(jsgf("public <a> = {tag};"), ASR_BAD_FILE,
         "line 3, column 19: a word, a rule or a part in brackets expected; correct the grammar");
  expect(jsgf("public <a> = low /* x\n y"), ASR_BAD_FILE, "line 3, column 18: a comment does not end; correct the grammar");
  expect(jsgf("public <a> = low <b> ;"), ASR_BAD_FILE,
         "line 3, column 18: the rule <b> is not defined; define it or correct its name");
  expect(jsgf("public <a> = low; <a> = mid;"), ASR_BAD_FILE, "line 3, column 19: <a> is defined twice; correct the grammar");
  expect(jsgf("public <a> = low\n | <a> mid;"), ASR_UNSUPPORTED,
         "line 4, column 4: the rule <a> contains itself before its end; rewrite it with * or with <a> as its last part");
  expect(jsgf("<a> = low;"), ASR_BAD_FILE, "no rule is public; mark one as public, or name the rule to recognise");
  expect(jsgf("public <a> = low (<NULL> {again})*;"), ASR_UNSUPPORTED,
         "line 3, column 26: with {again} a word has more than 64 tags; use fewer, and none in a repetition without words");
  config.rule = "nowhere";
  expect(jsgf("public <a> = low;"), ASR_BAD_FILE, "the rule <nowhere> is not defined; its public rules are <a>");
  EXPECT_EQ(refusal(asr_build_phrases, builder.get(), "# nothing\n", ASR_BAD_FILE),
            "grammar: no phrases in it; put one on each line");
  EXPECT_EQ(refusal(asr_build_words, builder.get(), "low\nlow mid\n", ASR_BAD_FILE),
            "grammar: line 2: more than one word; put each on its own line, and phrases into a grammar");
}

// Events return strings as C strings of UTF-8, so they must be valid.
TEST(Builds, TextIsUtf8WithoutZeroBytes) {
  const BuilderPointer builder = tone_builder();
  EXPECT_EQ(refusal(asr_build_jsgf, builder.get(), jsgf("public <a> = low {a\xe9};"), ASR_BAD_FILE),
            "grammar: line 3, column 20: this is not UTF-8; convert the grammar");
  EXPECT_EQ(refusal(asr_build_phrases, builder.get(), "\xff", ASR_BAD_FILE),
            "grammar: line 1, column 1: this is not UTF-8; convert the grammar");
  EXPECT_EQ(refusal(asr_build_words, builder.get(), std::string("low\nlo\0w", 8), ASR_BAD_FILE),
            "grammar: line 2, column 3: a zero byte; remove it");
  EXPECT_EQ(hear_jsgf("public <a> = low {\xc3\xa9};", "low").tags, "\xc3\xa9");
}

TEST(Builds, LimitsHold) {
  const BuilderPointer builder = tone_builder();
  std::string doubling = "public <r0> = low;";  // 2^30 words
  for (int i = 1; i <= 30; ++i) {
    const std::string before = "<r" + std::to_string(i - 1) + ">";
    doubling += "public <r" + std::to_string(i) + "> = " + before + " " + before + ";";
  }
  EXPECT_NE(refusal(asr_build_jsgf, builder.get(), jsgf(doubling), ASR_UNSUPPORTED).find("spell out to more than"),
            std::string::npos);
  EXPECT_NE(refusal(asr_build_jsgf, builder.get(), jsgf("public <a> = " + std::string(100000, '(')), ASR_BAD_FILE)
                .find("nested too deeply"),
            std::string::npos);
  // Each of 2,000 words may have each of 2,000 tags.
  std::string words, tags;
  for (int i = 0; i < 2000; ++i) {
    words += (i > 0 ? "|low {w" : "low {w") + std::to_string(i) + "}";
    tags += (i > 0 ? "|<NULL> {t" : "<NULL> {t") + std::to_string(i) + "}";
  }
  EXPECT_NE(refusal(asr_build_jsgf, builder.get(), jsgf("public <a> = (" + words + ") (" + tags + ");"), ASR_UNSUPPORTED)
                .find("its rules and tags spell out to more than"),
            std::string::npos);
}

// Adding a word to a large lexicon costs only as much as the word itself.
TEST(Builds, LexiconsGrowByLittle) {
  const BuilderPointer builder = tone_builder();
  const auto seconds = [&](const std::string &text, int n) {
    const std::clock_t begin = std::clock();  // time of this process, independent of other load
    for (int i = 0; i < n; ++i) {
      const std::string numbered = std::to_string(i) + text;
      EXPECT_BUILT(asr_builder_add_lexicon_text(builder.get(), numbered.data(), numbered.size(), nullptr));
    }
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  std::string many;
  for (int i = 0; i < 20000; ++i) many += "w" + std::to_string(i) + " LOW MID\n";
  const double together = seconds(many, 1);
  EXPECT_LT(seconds("x HIGH MID\n", 300), 20 * together + 0.2);
  EXPECT_EQ(info_of(build(asr_build_words, builder.get(), "w19999\n299x\n0x\nlow\n").get()).n_words, 4u);
}

TEST(Builds, MisuseIsRefused) {
  const BuilderPointer builder = tone_builder();
  asr_builder *opened = nullptr;
  EXPECT_EQ(asr_builder_open(nullptr, &opened), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_builder_open(tone_model().c_str(), nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_builder_open("/nowhere", &opened), ASR_NOT_FOUND);
  EXPECT_EQ(asr_builder_open(tone_bundle().c_str(), &opened), ASR_NOT_FOUND);  // no hmms.bin
  EXPECT_NE(std::string(asr_build_last_error()).find("no hmms.bin in this bundle"), std::string::npos);
  asr_build_result *result = nullptr;
  EXPECT_EQ(asr_build_jsgf(nullptr, "", 0, nullptr, &result), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_build_jsgf(builder.get(), nullptr, 0, nullptr, &result), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_build_jsgf(builder.get(), "", 0, nullptr, nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(asr_build_last_error()), "asr_build_jsgf: result is NULL");
  EXPECT_EQ(asr_build_jsgf(builder.get(), "", static_cast<size_t>(-1), nullptr, &result), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_builder_add_lexicon_text(builder.get(), "", static_cast<size_t>(-1), nullptr), ASR_INVALID_ARGUMENT);
  const auto expect = [&](void (*change)(asr_build_config *), asr_status status, const char *field) {
    asr_build_config config = default_config();
    change(&config);
    EXPECT_NE(refusal(asr_build_phrases, builder.get(), "low", status, &config).find(field), std::string::npos)
        << asr_build_last_error();
  };
  expect([](asr_build_config *c) { c->size = 7; }, ASR_INVALID_ARGUMENT, "asr_build_config.size");
  expect([](asr_build_config *c) { c->unknown = static_cast<asr_build_unknown>(2); }, ASR_INVALID_ARGUMENT, ".unknown");
  expect([](asr_build_config *c) { c->silence_prob = NAN; }, ASR_INVALID_ARGUMENT, ".silence_prob");
  expect([](asr_build_config *c) { c->silence_prob = 1; }, ASR_INVALID_ARGUMENT, "leave nothing for speech");
  expect([](asr_build_config *c) { c->self_loop_scale = -1; }, ASR_INVALID_ARGUMENT, ".self_loop_scale");
  asr_build_info info{};
  EXPECT_EQ(asr_build_get_info(nullptr, &info), ASR_INVALID_ARGUMENT);
  asr_builder_close(nullptr);
  asr_build_free(nullptr);
  asr_build_config_default(nullptr);
}

TEST(Builds, AStructOfAnOlderProgramIsTaken) {
  const BuilderPointer builder = tone_builder();
  asr_build_config config = default_config();
  config.silence_prob = 7;  // lies beyond the given size
  config.size = offsetof(asr_build_config, silence_prob);
  const ResultPointer result = build(asr_build_phrases, builder.get(), "low", &config);
  EXPECT_EQ(archive_of(result.get()), archive_of(build(asr_build_phrases, builder.get(), "low").get()));
}

TEST(Builds, ManyThreadsBuildAtOnce) {
  const BuilderPointer builder = tone_builder();
  const std::string text = jsgf("public <a> = [mid {m}] (low {l} | high) {x}; public <b> = (low | mid)+ chirp;");
  const std::string expected = archive_of(build(asr_build_jsgf, builder.get(), text).get());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        if (t == 0) {
          const std::string more = "more" + std::to_string(i) + " LOW MID\n";
          EXPECT_BUILT(asr_builder_add_lexicon_text(builder.get(), more.data(), more.size(), nullptr));
        }
        if (t == 1) {
          EXPECT_NE(refusal(asr_build_jsgf, builder.get(), jsgf("x"), ASR_BAD_FILE).find("column 1"), std::string::npos);
        }
        EXPECT_EQ(archive_of(build(asr_build_jsgf, builder.get(), text).get()), expected);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(hear(archive_of(build(asr_build_phrases, builder.get(), "more19").get()), "mid").text, "more19");
}

TEST(Tags, OfWordsGroupsAndRules) {
  const char rules[] = "<tone> = low {LOW} | high {HIGH}; public <top> = mid <tone> {t} | (high mid | mid mid) {second};";
  Heard heard = hear_jsgf(rules, "mid low");
  EXPECT_EQ(heard.text, "mid low");
  EXPECT_EQ(heard.rule, "top");
  EXPECT_EQ(heard.tags, "LOW\nt");
  EXPECT_EQ(heard.words, (std::vector<std::string>{"mid[top|]", "low[top|LOW\nt]"}));
  heard = hear_jsgf(rules, "mid mid");
  EXPECT_EQ(heard.words, (std::vector<std::string>{"mid[top|]", "mid[top|second]"}));
}

TEST(Tags, OfPartsWithoutWords) {
  const char rules[] = "public <top> = low (mid {M} | <NULL> {none}) high | [mid] {said} high;";
  EXPECT_EQ(hear_jsgf(rules, "low high").words, (std::vector<std::string>{"low[top|none]", "high[top|]"}));
  EXPECT_EQ(hear_jsgf(rules, "low mid high").words, (std::vector<std::string>{"low[top|]", "mid[top|M]", "high[top|]"}));
  EXPECT_EQ(hear_jsgf(rules, "mid high").words, (std::vector<std::string>{"mid[top|said]", "high[top|]"}));
  EXPECT_EQ(hear_jsgf(rules, "high").words, (std::vector<std::string>{"high[top|said]"}));
}

TEST(Tags, AtTheBeginningOfAGroup) {
  const char rules[] = "public <top> = low ({first} mid | {second} [high] mid low);";
  EXPECT_EQ(hear_jsgf(rules, "low mid").words, (std::vector<std::string>{"low[top|]", "mid[top|first]"}));
  EXPECT_EQ(hear_jsgf(rules, "low high mid low").words[1], "high[top|second]");
  EXPECT_EQ(hear_jsgf(rules, "low mid low").words[1], "mid[top|second]");
}

TEST(Tags, InRepetitions) {
  const Heard heard = hear_jsgf("public <top> = (low {l} | mid)+ {end};", "low mid low");
  EXPECT_EQ(heard.words, (std::vector<std::string>{"low[top|l]", "mid[top|]", "low[top|l\nend]"}));
}

TEST(Tags, OddCharacters) {
  EXPECT_EQ(hear_jsgf("public <a\tb> = low { x\\y\t\n z };", "low").words, std::vector<std::string>{"low[a\tb|x\\y\t  z]"});
}

TEST(Tags, RulesTellWhichOneWasSaid) {
  const char rules[] = "public <one> = low | mid high; public <two> = mid low | high;";
  EXPECT_EQ(hear_jsgf(rules, "low").rule, "one");
  EXPECT_EQ(hear_jsgf(rules, "mid low").rule, "two");
  EXPECT_EQ(hear_jsgf(rules, "mid high").rule, "one");
  EXPECT_EQ(hear_jsgf(rules, "high", "<two>").rule, "two");
}

TEST(Tags, AccessorsAllowNull) {
  EXPECT_STREQ(asr_event_rule(nullptr, 0), "");
  EXPECT_STREQ(asr_event_tags(nullptr, 0), "");
}

}  // namespace
}  // namespace asr::test
