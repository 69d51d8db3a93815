// SPDX-License-Identifier: Apache-2.0
// Tests speech and background in synthetic signals: noise of many levels and colours, bursts, clicks.
#include "core/decode/voice_activity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace asr {
namespace {

constexpr uint32_t kRate = 16000, kShift = 160;
constexpr double kPreRoll_s = 0.3;

std::vector<float> noise(double seconds, double rms, double colour = 0, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, rms * std::sqrt(1 - colour * colour));
  std::vector<float> samples;
  double last = 0;
  for (size_t i = 0; i < seconds * kRate; ++i) {
    last = colour * last + normal(random);
    samples.push_back(static_cast<float>(std::round(last)));
  }
  return samples;
}

void append(const std::vector<float> &more, std::vector<float> *samples) {
  samples->insert(samples->end(), more.begin(), more.end());
}

struct Heard {
  std::vector<bool> is_speech;  // [frame]
  std::vector<uint64_t> n_background;
};

// Queries each frame as soon as it is known, like a stream.
Heard hear(const std::vector<float> &samples, uint32_t rate = kRate, uint32_t shift = kShift) {
  VoiceActivity activity(rate, shift, kPreRoll_s);
  Heard heard;
  const auto ask = [&](uint64_t n_frames) {
    for (uint64_t t = heard.is_speech.size(); t < n_frames; t = heard.is_speech.size()) {
      const uint64_t until = std::min(activity.background_until(t), n_frames);
      heard.is_speech.insert(heard.is_speech.end(), until - t, false);
      if (until == n_frames || !activity.is_speech(until)) return;
      heard.is_speech.push_back(true);
    }
  };
  for (size_t i = 0; i + shift <= samples.size(); i += shift) {
    activity.add_frame(&samples[i]);
    heard.n_background.push_back(activity.n_background_before(activity.n_frames()));
    ask(activity.n_frames());
  }
  activity.finish();
  ask(activity.n_frames());
  return heard;
}

size_t n_speech(const std::vector<float> &samples) {
  const Heard heard = hear(samples);
  return static_cast<size_t>(std::count(heard.is_speech.begin(), heard.is_speech.end(), true));
}

TEST(VoiceActivity, SteadyNoiseIsBackground) {
  for (const double rms : {0.0, 0.7, 10.0, 100.0, 3000.0}) {
    for (const double colour : {0.0, 0.9, 0.99}) EXPECT_EQ(n_speech(noise(60, rms, colour)), 0u) << rms << " " << colour;
  }
}

TEST(VoiceActivity, ABurstIsSpeechFromItsPreRollOn) {
  std::vector<float> samples = noise(5, 20);
  append(noise(0.5, 800, 0.9), &samples);
  append(noise(5, 20, 0, 2), &samples);
  const Heard heard = hear(samples);
  for (size_t t = 0; t < heard.is_speech.size(); ++t) {
    const bool is_within = t >= 500 - 28 && t < 548, is_beyond = t < 500 - 35 || t > 550 + 10;
    EXPECT_TRUE(heard.is_speech[t] ? !is_beyond : !is_within) << t;
  }
  EXPECT_NEAR(static_cast<double>(heard.n_background[849]), 300, 5);
  EXPECT_EQ(heard.n_background[530], 0u);
}

TEST(VoiceActivity, AClickIsNot) {
  std::vector<float> samples = noise(3, 20);
  append(noise(0.03, 5000), &samples);
  append(noise(3, 20, 0, 2), &samples);
  EXPECT_EQ(n_speech(samples), 0u);
}

TEST(VoiceActivity, LouderNoiseBecomesBackground) {
  std::vector<float> samples = noise(5, 20);
  append(noise(60, 500, 0.9), &samples);
  const Heard heard = hear(samples);
  EXPECT_TRUE(heard.is_speech[505]);
  for (size_t t = 900; t < heard.is_speech.size(); ++t) ASSERT_FALSE(heard.is_speech[t]) << t;
}

// If a stream begins with speech, its floor is known only after that.
TEST(VoiceActivity, SpeechAtTheStartReachesBackToIt) {
  std::vector<float> samples = noise(0.4, 300, 0.95);
  append(noise(0.4, 2000, 0.2), &samples);
  append(noise(3, 20), &samples);
  const Heard heard = hear(samples);
  for (size_t t = 0; t < 75; ++t) ASSERT_TRUE(heard.is_speech[t]) << t;
}

TEST(VoiceActivity, OtherRatesAndShifts) {
  for (const auto &[rate, shift] : {std::pair(8000u, 80u), {44100u, 441u}, {1000u, 10u}, {16000u, 37u}}) {
    std::vector<float> samples = noise(5.0 * rate / kRate, 20);
    append(noise(0.5 * rate / kRate, 2000), &samples);
    append(noise(3.0 * rate / kRate, 20, 0, 2), &samples);
    const Heard heard = hear(samples, rate, shift);
    EXPECT_FALSE(heard.is_speech[size_t{2} * (rate / shift)]) << rate;
    EXPECT_TRUE(heard.is_speech[static_cast<size_t>(5.25 * rate / shift)]) << rate;
    EXPECT_FALSE(heard.is_speech[rate / shift * 8 - 1]) << rate;
  }
}

// Makes chords of three notes with seven partials each, one every 0.4 s.
std::vector<float> chords(double seconds, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> samples = noise(seconds, 20, 0, seed);
  const size_t n_note = static_cast<size_t>(0.4 * kRate);
  for (size_t begin = 0; begin + n_note <= samples.size(); begin += n_note) {
    for (int note = 0; note < 3; ++note) {
      const double hz = 110 * std::pow(2, static_cast<double>(random() % 36) / 12);
      for (size_t i = 0; i < 7 * n_note; ++i) {
        const double t = static_cast<double>(i % n_note) / kRate;
        const size_t partial_number = i / n_note + 1;
        const auto partial = static_cast<double>(partial_number);
        samples[begin + i % n_note] +=
            static_cast<float>(1500 / partial * std::exp(-2 * t) * std::sin(2 * M_PI * hz * partial * t));
      }
    }
  }
  return samples;
}

// Makes a voice of gliding pitch, four syllables a second.
std::vector<float> voice(double seconds, double rms, uint32_t seed = 1) {
  std::vector<float> samples = noise(seconds, 20, 0, seed);
  double phase = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / kRate;
    phase += 2 * M_PI * (140 + 40 * std::sin(2 * M_PI * (0.7 + 0.1 * seed) * t)) / kRate;
    const double loudness = rms * std::max(0.0, 0.3 + std::sin(2 * M_PI * 4 * t));
    for (int partial = 1; partial <= 20; ++partial) {
      samples[i] += static_cast<float>(loudness / std::sqrt(partial) * std::sin(partial * phase));
    }
  }
  return samples;
}

TEST(VoiceActivity, MusicBecomesBackground) {
  const Heard heard = hear(chords(60));
  EXPECT_TRUE(heard.is_speech[0]);
  for (size_t t = 300; t < heard.is_speech.size(); ++t) ASSERT_FALSE(heard.is_speech[t]) << t;
}

// Makes bursts of noise four times a second.
std::vector<float> drums(double seconds) {
  std::vector<float> samples = noise(seconds, 20);
  const std::vector<float> hits = noise(seconds, 4000, 0, 3);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] += hits[i] * static_cast<float>(std::exp(-static_cast<double>(i % (kRate / 4)) / (0.04 * kRate)));
  }
  return samples;
}

TEST(VoiceActivity, DrumsBecomeBackground) {
  const Heard heard = hear(drums(60));
  EXPECT_TRUE(heard.is_speech[0]);
  for (size_t t = 400; t < heard.is_speech.size(); ++t) ASSERT_FALSE(heard.is_speech[t]) << t;
}

TEST(VoiceActivity, AVoiceIsSpeechForLong) {
  const Heard heard = hear(voice(60, 300));
  for (size_t t = 0; t < heard.is_speech.size() - 50; ++t) ASSERT_TRUE(heard.is_speech[t]) << t;
}

TEST(VoiceActivity, SpeechAfterMusicOrDrumsIsNotLost) {
  for (const std::vector<float> &before : {chords(10), drums(10)}) {
    std::vector<float> samples = before;
    append(noise(0.4, 20), &samples);
    append(voice(1.5, 300), &samples);
    append(noise(3, 20, 0, 2), &samples);
    const Heard heard = hear(samples);
    for (size_t t = 1042; t < 1170; ++t) ASSERT_TRUE(heard.is_speech[t]) << t;
    EXPECT_FALSE(heard.is_speech.back());
  }
}

// The answer for a frame does not change with more frames, nor by forgetting earlier frames.
TEST(VoiceActivity, AnswersStay) {
  std::vector<float> samples;
  std::mt19937 random(7);
  for (uint32_t i = 0; i < 200; ++i) {
    const double seconds = 0.02 + 0.5 * (random() % 100) / 100;
    append(noise(seconds, random() % 3 == 0 ? 1500 : 20, 0.01 * (random() % 99), i), &samples);
    if (i % 4 == 0) append(voice(seconds, 400, i), &samples);
    if (i % 40 == 0) append(chords(2, i), &samples);
  }
  const Heard early = hear(samples);
  VoiceActivity activity(kRate, kShift, kPreRoll_s);
  for (size_t i = 0; i + kShift <= samples.size(); i += kShift) activity.add_frame(&samples[i]);
  activity.finish();
  size_t n = 0;
  for (size_t t = 0; t < early.is_speech.size(); ++t) {
    activity.forget_before(t);
    ASSERT_EQ(activity.is_speech(t), early.is_speech[t]) << t;
    ASSERT_EQ(activity.background_until(t) > t, !early.is_speech[t]) << t;
    ASSERT_EQ(activity.n_background_before(t + 1), early.n_background[t]) << t;
    n += early.is_speech[t] ? 1 : 0;
  }
  EXPECT_GT(n, early.is_speech.size() / 4);
  EXPECT_LT(n, early.is_speech.size() * 3 / 4);
}

// An utterance ended by asr_end_utterance does not reach into the next one.
TEST(VoiceActivity, SettledFramesStayBackground) {
  std::vector<float> samples = noise(5, 20);
  append(noise(0.5, 800), &samples);
  VoiceActivity activity(kRate, kShift, kPreRoll_s);
  for (size_t i = 0; i < samples.size(); i += kShift) {
    if (activity.n_frames() == 490) activity.settle();
    activity.add_frame(&samples[i]);
  }
  EXPECT_EQ(activity.background_until(400), 490u);
  EXPECT_TRUE(activity.is_speech(490));
}

// Harmonics of a voice have lines, a burst of noise has none.
TEST(VoiceActivity, AVoiceHasLines) {
  for (const bool is_voice : {true, false}) {
    std::vector<float> samples = noise(1, 20);
    std::vector<float> sound = noise(0.5, is_voice ? 20 : 3000, 0, 2);
    for (size_t i = 0; is_voice && i < sound.size(); ++i) {
      for (int k = 1; k < 20; ++k)
        sound[i] += static_cast<float>(400 * std::sin(2 * M_PI * 140 * k * static_cast<double>(i) / kRate));
    }
    append(sound, &samples);
    append(noise(1, 20, 0, 3), &samples);
    VoiceActivity activity(kRate, kShift, kPreRoll_s);
    for (size_t i = 0; i + kShift <= samples.size(); i += kShift) activity.add_frame(&samples[i]);
    EXPECT_EQ(activity.has_voice(70, 150), is_voice);
    EXPECT_FALSE(activity.has_voice(0, 95));
    EXPECT_FALSE(activity.has_voice(170, 1000));
    activity.forget_before(101);
    EXPECT_EQ(activity.has_voice(101, 150), is_voice);
    activity.forget_before(240);
    EXPECT_FALSE(activity.has_voice(101, 1000));
  }
}

// Noise in a band has edges, which stand out of the spectrum on one side alone.
TEST(VoiceActivity, TheEdgesOfABandAreNoVoice) {
  struct Band {
    double low_hz, high_hz;
  };
  for (const auto &[low_hz, high_hz] : {Band{400, 900}, Band{700, 1400}, Band{1000, 2000}, Band{2200, 2800}, Band{310, 2500}}) {
    std::mt19937 random(static_cast<uint32_t>(low_hz));
    std::uniform_real_distribution<double> any(0, 2 * M_PI);
    std::vector<float> samples = noise(2, 20);
    std::vector<double> sound(kRate / 2);
    for (double hz = low_hz; hz < high_hz; hz += 2) {
      const double phase = any(random);
      for (size_t i = 0; i < sound.size(); ++i)
        sound[i] += 150 * std::sin(2 * M_PI * hz * static_cast<double>(i) / kRate + phase);
    }
    append(std::vector<float>(sound.begin(), sound.end()), &samples);
    append(noise(1, 20, 0, 3), &samples);
    VoiceActivity activity(kRate, kShift, kPreRoll_s);
    for (size_t i = 0; i + kShift <= samples.size(); i += kShift) activity.add_frame(&samples[i]);
    EXPECT_TRUE(activity.is_speech(220)) << low_hz;
    EXPECT_FALSE(activity.has_voice(0, activity.n_frames())) << low_hz;
  }
}

// A voice of any pitch is heard within 120 ms of its first loud frame.
TEST(VoiceActivity, AVoiceIsHeardSoon) {
  for (const double pitch_hz : {90, 140, 220, 330}) {
    std::vector<float> samples = noise(2, 20);
    std::vector<float> sound = noise(0.5, 20, 0, 2);
    double phase = 0;
    for (size_t i = 0; i < sound.size(); ++i) {
      phase += 2 * M_PI * pitch_hz * (1 + 0.2 * static_cast<double>(i) / kRate) / kRate;
      for (int k = 1; k * pitch_hz < 3500; ++k) sound[i] += static_cast<float>(400.0 / k * std::sin(k * phase));
    }
    append(sound, &samples);
    VoiceActivity activity(kRate, kShift, kPreRoll_s);
    for (size_t i = 0; i + kShift <= samples.size(); i += kShift) activity.add_frame(&samples[i]);
    EXPECT_TRUE(activity.has_voice(0, 212)) << pitch_hz;
  }
}

}  // namespace
}  // namespace asr
