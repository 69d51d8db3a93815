// SPDX-License-Identifier: Apache-2.0
// Tests alignment by asr_build.h and senone_build.hpp: times of words and phones, texts with errors, long recordings, misuse.
#include <cmath>
#include <fstream>
#include <senone_build.hpp>
#include <thread>

#include "tests/api/tone_bundle.h"
#include "tests/build/tone_builder.h"

namespace asr::test {
namespace {

const std::string &lexicon() {
  static const std::string path = [] {
    std::string file = tone_model() + "/align.dict";
    std::ofstream(file) << kToneLexicon;
    return file;
  }();
  return path;
}

const senone::Aligner &aligner() {
  static const senone::Aligner opened(tone_model(), lexicon());
  return opened;
}

senone::Alignment align(const std::vector<int16_t> &samples, const std::string &text,
                        const senone::AlignConfig &config = senone::AlignConfig()) {
  return aligner().align(samples.data(), samples.size(), text, config);
}

std::string words_of(const senone::Alignment &alignment) {
  std::string words;
  for (const asr_aligned_word word : alignment.words()) words += std::string(word.text) + " ";
  return words;
}

// Where the words of speak() are.
double start_s(size_t word) { return kPause_s + static_cast<double>(word) * (kWord_s + kPause_s); }

TEST(Align, WordsAndPhonesHaveTheirTimes) {
  const senone::Alignment alignment = align(speak("low mid high"), "LOW mid, High");
  EXPECT_EQ(words_of(alignment), "LOW mid, High ");
  const char *const phones[] = {"LOW", "MID", "HIGH"};
  ASSERT_EQ(alignment.phones().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const asr_aligned_word word = alignment.words()[i];
    EXPECT_NEAR(word.start_s, start_s(i), 0.03);
    EXPECT_NEAR(word.end_s, start_s(i) + kWord_s, 0.03);
    EXPECT_EQ(word.number, i);
    EXPECT_GT(word.confidence, 0.9f);
    ASSERT_EQ(word.n_phones, 1u);
    const asr_aligned_phone phone = alignment.phones(word)[0];
    EXPECT_STREQ(phone.name, phones[i]);
    EXPECT_STREQ(phone.likeliest, phones[i]);
    EXPECT_EQ(phone.start_s, word.start_s);
    EXPECT_EQ(phone.end_s, word.end_s);
    EXPECT_NEAR(phone.goodness, 0, 1);
  }
  EXPECT_EQ(alignment.info().n_text_words, 3u);
  EXPECT_EQ(alignment.info().n_not_said, 0u);
  EXPECT_NEAR(alignment.info().duration_s, 4 * kPause_s + 3 * kWord_s, 0.03);
}

TEST(Align, OtherInputsHaveTheSameTimes) {
  const senone::Alignment expected = align(speak("low high"), "low high");
  const std::vector<int16_t> at_8khz = speak("low high", 8000);
  senone::AlignConfig config;
  config.sample_rate_hz = 8000;
  EXPECT_NEAR(align(at_8khz, "low high", config).words()[1].start_s, start_s(1), 0.04);
  const std::vector<int16_t> samples = speak("low high");
  std::vector<float> floats, stereo;
  for (const int16_t sample : samples) {
    floats.push_back(static_cast<float>(sample) / 32768);
    stereo.insert(stereo.end(), {0, floats.back()});
  }
  config = {};
  config.input = ASR_INPUT_FLOAT;
  const auto times = [](const senone::Alignment &alignment) {
    std::vector<double> all;
    for (const asr_aligned_word word : alignment.words()) all.insert(all.end(), {word.start_s, word.end_s});
    return all;
  };
  EXPECT_EQ(times(aligner().align(floats.data(), floats.size(), "low high", config)), times(expected));
  config.n_channels = 2;
  config.channel = 1;
  EXPECT_EQ(times(aligner().align(stereo.data(), floats.size(), "low high", config)), times(expected));
}

TEST(Align, ALenientTextMayDiffer) {
  senone::AlignConfig config;
  config.lenient = 1;
  const senone::Alignment more = align(speak("low mid high"), "low high", config);
  EXPECT_EQ(words_of(more), "low [foreign] high ");
  EXPECT_EQ(more.words()[1].number, ASR_FOREIGN_WORD);
  config.skip_cost = 5;  // a phone of three frames costs little more
  const senone::Alignment fewer = align(speak("low high"), "low mid high", config);
  EXPECT_EQ(words_of(fewer), "low high ");
  ASSERT_EQ(fewer.info().n_not_said, 1u);
  EXPECT_EQ(fewer.info().not_said[0], 1u);
}

TEST(Align, ATextThatIsNotSaidIsAnErrorWithItsPlace) {
  const std::vector<int16_t> samples = speak("low low low");
  const auto refused = aligner().try_align(samples.data(), samples.size(), "high high high");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), ASR_BAD_AUDIO);
  EXPECT_NE(std::string(refused.error().what()).find("the first 'high' at 0."), std::string::npos) << refused.error().what();
}

// Every pause is where the next piece may begin.
TEST(Align, LongRecordingsAreAlignedInPieces) {
  const char *const names[] = {"low", "high", "mid", "low"};
  std::vector<int16_t> samples;
  std::string text;
  std::vector<double> starts;
  for (size_t i = 0; i < 400; ++i) {
    const std::string word = names[(i * i + i / 7) % 4];
    const std::vector<int16_t> said = speak(word);  // 0.7 s
    starts.push_back(static_cast<double>(samples.size()) / 16000 + kPause_s);
    samples.insert(samples.end(), said.begin(), said.end());
    text += word + " ";
  }
  const senone::Alignment alignment = align(samples, text);
  ASSERT_EQ(alignment.words().size(), starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    const asr_aligned_word word = alignment.words()[i];
    EXPECT_EQ(word.number, i);
    ASSERT_NEAR(word.start_s, starts[i], 0.04) << i;
    ASSERT_NEAR(word.end_s, starts[i] + kWord_s, 0.04) << i;
  }
  EXPECT_NEAR(alignment.info().duration_s, static_cast<double>(samples.size()) / 16000, 0.03);
}

TEST(Align, ThreadsShareAnAligner) {
  const std::vector<int16_t> samples = speak("low mid high");
  const double expected = align(samples, "low mid high").words()[2].start_s;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 3; ++k) EXPECT_EQ(align(samples, "low mid high").words()[2].start_s, expected);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

// Messages name fields, which bindings put into their terms, and no options of the command.
TEST(Align, MessagesAreInTheTermsOfCallers) {
  const std::vector<int16_t> samples = speak("low low low");
  asr_alignment *alignment = nullptr;
  const auto message = [&](const std::string &text, size_t n_samples) {
    EXPECT_NE(asr_align(aligner().get(), samples.data(), n_samples, text.c_str(), text.size(), nullptr, &alignment), ASR_OK);
    return std::string(asr_build_last_error());
  };
  const std::string unknown = message("low zap", samples.size()), other = message("high high high", samples.size()),
                    no_path = message("low low low low low low low low low low", 4000);
  EXPECT_NE(no_path.find("no path says its words"), std::string::npos) << no_path;
  EXPECT_NE(unknown.find("(asr_aligner_config.g2p)"), std::string::npos) << unknown;
  EXPECT_NE(other.find("(asr_align_config.lenient)"), std::string::npos) << other;
  for (const std::string &said : {unknown, other, no_path}) EXPECT_EQ(said.find("--"), std::string::npos) << said;
}

// A text that cannot be said in the time is refused before anything is built of it.
TEST(Align, TextsThatCannotBeSaidAreRefused) {
  const std::vector<int16_t> samples = speak("low");
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "low ";
  asr_alignment *alignment = nullptr;
  for (const uint32_t lenient : {0, 1}) {
    senone::AlignConfig config;
    config.lenient = lenient;
    EXPECT_EQ(asr_align(aligner().get(), samples.data(), samples.size(), text.c_str(), text.size(), &config, &alignment),
              ASR_BAD_AUDIO);
    EXPECT_NE(std::string(asr_build_last_error()).find("its text has 200000 words, which cannot be said in"), std::string::npos)
        << asr_build_last_error();
  }
}

TEST(Align, MisuseIsRefused) {
  const std::vector<int16_t> samples = speak("low");
  asr_alignment *alignment = nullptr;
  const auto status = [&](const char *text, const senone::AlignConfig &config, size_t n = 16000) {
    return asr_align(aligner().get(), samples.data(), std::min(n, samples.size()), text, strlen(text), &config, &alignment);
  };
  const auto with = [](auto change) {
    senone::AlignConfig config;
    change(&config);
    return config;
  };
  EXPECT_EQ(status("low zap", {}), ASR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(asr_build_last_error()).find("'zap'"), std::string::npos) << asr_build_last_error();
  EXPECT_EQ(status(" \n", {}), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(status("low", {}, 0), ASR_BAD_AUDIO);
  EXPECT_EQ(status("low low low low low low low low low low", {}, 4000), ASR_BAD_AUDIO) << asr_build_last_error();
  EXPECT_EQ(status("low", with([](auto *c) { c->input = ASR_INPUT_LOGLIKES; })), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(status("low", with([](auto *c) { c->sample_rate_hz = 10; })), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(status("low", with([](auto *c) { c->channel = 1; })), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(status("low", with([](auto *c) { c->lenient = 2; })), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(status("low", with([](auto *c) { c->skip_cost = NAN; })), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(status("low", with([](auto *c) { c->foreign_cost = 1; })), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(status("low", with([](auto *c) { c->size = 7; })), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_align(nullptr, samples.data(), 1, "low", 3, nullptr, &alignment), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_align(aligner().get(), nullptr, 1, "low", 3, nullptr, &alignment), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(alignment, nullptr);
  asr_aligner *opened = nullptr;
  EXPECT_EQ(asr_aligner_open("/no/such", lexicon().c_str(), nullptr, &opened), ASR_NOT_FOUND);
  EXPECT_EQ(asr_aligner_open(tone_model().c_str(), "/no/such", nullptr, &opened), ASR_NOT_FOUND);
  EXPECT_EQ(asr_aligner_open(nullptr, lexicon().c_str(), nullptr, &opened), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(opened, nullptr);
  asr_aligner_close(nullptr);
  asr_alignment_free(nullptr);
  const senone::Alignment one = align(samples, "low");
  auto word = senone::detail::sized<asr_aligned_word>();
  auto phone = senone::detail::sized<asr_aligned_phone>();
  EXPECT_EQ(asr_alignment_word(one.get(), 1, &word), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_alignment_phone(one.get(), 1, &phone), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_alignment_word(one.get(), 0, nullptr), ASR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace asr::test
