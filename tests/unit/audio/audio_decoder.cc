// SPDX-License-Identifier: Apache-2.0
// Tests that the samples depend on nothing but the bytes: not on the pieces in which they come, nor on what the header says
// about their number. What is not heard is named.
#include "core/audio/audio_decoder.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/audio/wav_writer.h"

namespace asr {
namespace {

using test::kRightSize;
using test::number;
using test::WavWriter;
using Header = AudioInput::Header;

struct Decoded {
  std::vector<float> samples;
  std::vector<std::string> warnings;
  std::string error;
  uint32_t rate_hz = 0, n_channels = 0;
  uint64_t n_missing = 0;

  bool operator==(const Decoded &other) const {
    return samples == other.samples && warnings == other.warnings && error == other.error && rate_hz == other.rate_hz;
  }
};

// Decodes the bytes in pieces of `chunk`; 0: of random sizes.
Decoded decoded(const std::string &bytes, size_t chunk = SIZE_MAX, const AudioInput &input = {}) {
  Decoded result;
  AudioDecoder decoder(input);
  std::mt19937 random(static_cast<unsigned>(bytes.size()));
  try {
    for (size_t at = 0, n; at < bytes.size(); at += n) {
      n = std::min(chunk != 0 ? chunk : random() % 40, bytes.size() - at);
      decoder.push(bytes.data() + at, n);
      if (chunk == 0 && random() % 2 == 0) continue;
      const size_t old = result.samples.size(), n_ready = decoder.is_known() ? decoder.n_ready() : 0;
      result.samples.resize(old + n_ready * decoder.n_out_channels());
      EXPECT_EQ(decoder.read(result.samples.data() + old, n_ready), n_ready);
    }
    decoder.finish();
  } catch (const Error &error) {
    result.error = error.what();
  }
  const size_t old = result.samples.size(), n_ready = decoder.n_ready();
  result.samples.resize(old + n_ready * decoder.n_out_channels());
  decoder.read(result.samples.data() + old, n_ready);
  for (std::string warning; decoder.next_warning(&warning);) result.warnings.push_back(warning);
  result.rate_hz = decoder.rate_hz();
  result.n_channels = decoder.n_channels();
  result.n_missing = decoder.n_missing_bytes();
  return result;
}

// A voice-like signal that no code clips.
std::vector<int> signal(size_t n) {
  std::vector<int> samples(n);
  for (size_t i = 0; i < n; ++i) samples[i] = static_cast<int>(9000 * std::sin(0.02 * double(i) * (1 + 0.001 * double(i))));
  return samples;
}

const SampleCode kCodes[] = {{Encoding::kUnsigned, 1, false}, {Encoding::kSigned, 2, false}, {Encoding::kSigned, 3, false},
                             {Encoding::kSigned, 4, false},   {Encoding::kFloat, 4, false},  {Encoding::kFloat, 8, false},
                             {Encoding::kUlaw, 1, false},     {Encoding::kAlaw, 1, false},   {Encoding::kSigned, 2, true},
                             {Encoding::kSigned, 3, true},    {Encoding::kFloat, 4, true}};

float tolerance(const SampleCode &code) {
  return code.encoding == Encoding::kUnsigned ? 1.0f / 127 : code.n_bytes == 1 ? 0.01f : 0;
}

void expect_near(const std::vector<float> &samples, const std::vector<int> &expected, float tolerance,
                 const std::string &what) {
  ASSERT_EQ(samples.size(), expected.size()) << what;
  for (size_t i = 0; i < samples.size(); ++i) {
    ASSERT_NEAR(samples[i], static_cast<float>(expected[i]) / 32768, tolerance) << what << ", sample " << i;
  }
}

bool mentions(const Decoded &result, const std::string &text) {
  return std::any_of(result.warnings.begin(), result.warnings.end(),
                     [&](const std::string &warning) { return warning.find(text) != std::string::npos; });
}

TEST(AudioDecoder, AllCodesSizesAndPiecesHaveTheSameSamples) {
  const std::vector<int> samples = signal(1001);
  for (const SampleCode &code : kCodes) {
    for (const bool is_extensible : {false, true}) {
      for (const uint64_t riff : {kRightSize, uint64_t{0}, uint64_t{0x7fffffff}, uint64_t{0xffffffff}}) {
        for (const uint64_t data : {kRightSize, uint64_t{0}, uint64_t{0x7ffff000}, uint64_t{0x7fffffff}, uint64_t{0x80000000},
                                    uint64_t{0xffffffdb}, uint64_t{0xffffffff}}) {
          WavWriter writer;
          writer.code = code;
          writer.is_extensible = is_extensible;
          writer.riff_size = riff;
          writer.data_size = data;
          writer.before = "LIST" + number(3, 4, code.is_big_endian) + std::string("abc\0", 4);
          const std::string bytes = writer.file(samples);
          const std::string what = ::testing::PrintToString(std::pair(riff, data)) + " bytes " + std::to_string(code.n_bytes) +
                                   " encoding " + std::to_string(int(code.encoding));
          const Decoded whole = decoded(bytes);
          EXPECT_EQ(whole.error, "") << what;
          EXPECT_TRUE(whole.warnings.empty()) << what << ": " << whole.warnings.front();
          expect_near(whole.samples, samples, tolerance(code), what);
          for (const size_t chunk : {size_t{1}, size_t{0}, size_t{7}, size_t{44}, size_t{1000}}) {
            EXPECT_TRUE(decoded(bytes, chunk) == whole) << what << " in pieces of " << chunk;
          }
        }
      }
    }
  }
}

TEST(AudioDecoder, MoreSamplesThanTheHeaderTellsOfAreHeardAndNamed) {
  const std::vector<int> samples = signal(1000);
  for (const SampleCode &code : kCodes) {
    for (const uint64_t n : {1, 7, 500, 990, 999}) {
      WavWriter writer;
      writer.code = code;
      writer.data_size = n * code.n_bytes;
      for (const uint64_t riff : {kRightSize, 36 + writer.data_size}) {
        writer.riff_size = riff;
        const std::string bytes = writer.file(samples);
        const Decoded whole = decoded(bytes);
        expect_near(whole.samples, samples, tolerance(code), std::to_string(n));
        EXPECT_TRUE(mentions(whole, std::to_string(n) + " samples by its header, and " + std::to_string(1000 - n) + " more"))
            << n;
        for (const size_t chunk : {size_t{1}, size_t{0}, size_t{13}}) EXPECT_TRUE(decoded(bytes, chunk) == whole) << chunk;
      }
    }
  }
}

TEST(AudioDecoder, ChunksBehindTheSamplesAreNoSamples) {
  const std::vector<int> samples = signal(999);
  for (const SampleCode &code : kCodes) {
    if (code.is_big_endian) continue;
    for (const char *id : {"LIST", "id3 ", "cue ", "mine"}) {
      for (const uint64_t size : {kRightSize, uint64_t{999} * code.n_bytes}) {
        WavWriter writer;
        writer.code = code;
        writer.data_size = size;
        writer.behind = id + number(5, 4) + std::string("hello\0", 6) + "LIST" + number(0, 4);
        const std::string bytes = writer.file(samples);
        const Decoded whole = decoded(bytes);
        expect_near(whole.samples, samples, tolerance(code), id);
        EXPECT_TRUE(whole.warnings.empty()) << id;
        for (const size_t chunk : {size_t{1}, size_t{0}}) EXPECT_TRUE(decoded(bytes, chunk) == whole) << chunk;
        EXPECT_TRUE(mentions(decoded(bytes + "\1\2\3\4\5\6\7\1\2\3\4\5\6\7"), "more bytes follow behind its last chunk"));
      }
    }
  }
  // A size of 0 before a chunk is the size of no samples.
  WavWriter empty;
  empty.behind = "LIST" + number(4, 4) + "abcd";
  EXPECT_TRUE(decoded(empty.file({})).samples.empty());
  // The byte behind an odd number of bytes may lack.
  WavWriter odd;
  odd.code = {Encoding::kUlaw, 1, false};
  EXPECT_EQ(decoded(odd.file(samples) + "LIST" + number(4, 4) + "abcd").samples.size(), 999u);
}

TEST(AudioDecoder, RecordingsOneAfterAnotherAreHeardOrNamed) {
  const std::vector<int> samples = signal(500);
  std::vector<int> twice = samples;
  twice.insert(twice.end(), samples.begin(), samples.end());
  for (const SampleCode &code : kCodes) {
    for (const uint64_t size : {kRightSize, uint64_t{0}, uint64_t{0xffffffff}, uint64_t{100000}, uint64_t{96}}) {
      WavWriter writer;
      writer.code = code;
      writer.data_size = size;
      const std::string bytes = writer.file(samples) + writer.file(samples);
      const Decoded whole = decoded(bytes);
      expect_near(whole.samples, twice, tolerance(code), std::to_string(size));
      EXPECT_TRUE(mentions(whole, "is 2 recordings one after another"));
      EXPECT_EQ(mentions(whole, "is cut short"), size == 100000);
      for (const size_t chunk : {size_t{1}, size_t{0}, size_t{11}}) EXPECT_TRUE(decoded(bytes, chunk) == whole) << chunk;
    }
  }
  WavWriter first, other;
  other.rate_hz = 8000;
  const Decoded rates = decoded(first.file(samples) + other.file(samples));
  expect_near(rates.samples, samples, 0, "other rate");
  EXPECT_TRUE(mentions(rates, "another recording follows, of 8000 samples a second and 1 channel; it is not heard"));
  const Decoded cut = decoded(first.file(samples) + other.file(samples).substr(0, 30));
  expect_near(cut.samples, samples, 0, "a header cut short");
  EXPECT_TRUE(mentions(cut, "another recording follows, which ends within its header"));
  std::string adpcm = first.file(samples);
  adpcm[20] = 2;
  EXPECT_TRUE(mentions(decoded(first.file(samples) + adpcm), "another recording follows, which is WAV of the codec 0x0002"));
  EXPECT_NE(decoded(adpcm).error.find("is WAV of the codec 0x0002"), std::string::npos);
}

// A program that writes the bytes of a WAV as the samples of another.
TEST(AudioDecoder, ARecordingWithinARecordingIsNamed) {
  WavWriter writer;
  const std::vector<int> samples = signal(500);
  const std::string inner = writer.file(samples), header = writer.file({}).substr(0, 40);
  for (const size_t chunk : {SIZE_MAX, size_t{1}, size_t{7}}) {
    const Decoded result = decoded(header + number(inner.size(), 4) + inner, chunk);
    expect_near(result.samples, samples, 0, "inner");
    EXPECT_TRUE(mentions(result, "begins with the header of another recording where its samples should be"));
    EXPECT_FALSE(mentions(result, "cut short"));
    EXPECT_FALSE(mentions(result, "one after another"));
  }
}

TEST(AudioDecoder, MissingSamplesAreNamed) {
  WavWriter writer;
  writer.n_channels = 2;
  const std::string bytes = writer.file(signal(1000));
  const Decoded cut = decoded(bytes.substr(0, bytes.size() - 501));
  EXPECT_EQ(cut.samples.size(), (2000u - 501) / 4);
  EXPECT_EQ(cut.n_missing, 501u);
  EXPECT_TRUE(mentions(cut, "is cut short: 501 bytes"));
  for (const size_t n : {3, 11, 20, 43}) {
    EXPECT_NE(decoded(bytes.substr(0, n)).error, "") << n;
    EXPECT_TRUE(decoded(bytes.substr(0, n), 1) == decoded(bytes.substr(0, n))) << n;
  }
}

TEST(AudioDecoder, Rf64AndAu) {
  const std::vector<int> samples = signal(1000);
  WavWriter writer;
  writer.is_rf64 = true;
  for (const uint64_t size : {kRightSize, uint64_t{0}}) {
    writer.data_size = size;
    expect_near(decoded(writer.file(samples), 5).samples, samples, 0, "RF64");
  }
  for (const auto &[code, encoding] :
       {std::pair(SampleCode{Encoding::kUlaw, 1, true}, 1u), std::pair(SampleCode{Encoding::kSigned, 2, true}, 3u),
        std::pair(SampleCode{Encoding::kFloat, 4, true}, 6u), std::pair(SampleCode{Encoding::kAlaw, 1, true}, 27u)}) {
    for (const uint32_t size : {0u, 0xffffffffu, 1000 * code.n_bytes, 500 * code.n_bytes}) {
      const Decoded au = decoded(test::au_file(code, encoding, size, samples), 3);
      expect_near(au.samples, samples, tolerance(code), "AU");
      EXPECT_EQ(mentions(au, "500 samples by its header"), size == 500 * code.n_bytes);
    }
  }
}

TEST(AudioDecoder, NamedSamplesAreNotGuessed) {
  const std::vector<int> samples = signal(1000);
  for (const SampleCode &code : kCodes) {
    AudioInput input;
    input.header = Header::kNone;
    input.code = code;
    const std::string bytes = test::samples_in(code, samples);
    for (const size_t chunk : {SIZE_MAX, size_t{1}, size_t{0}}) {
      expect_near(decoded(bytes, chunk, input).samples, samples, tolerance(code), "raw");
    }
    input.header = Header::kOptional;
    expect_near(decoded(bytes, 1, input).samples, samples, tolerance(code), "raw without a known beginning");
  }
  AudioInput named;
  named.header = Header::kNone;
  const std::string wav = WavWriter().file(samples);
  EXPECT_EQ(decoded(wav, SIZE_MAX, named).samples.size(), wav.size() / 2);
  EXPECT_TRUE(mentions(decoded(wav, SIZE_MAX, named), "begins like WAV, but is taken for samples"));
}

TEST(AudioDecoder, WhatIsNotDecodedIsNamed) {
  AudioInput input;
  input.header = Header::kOptional;
  const std::string noise(3000, '\x93');
  const std::string zeros(8, '\0');
  for (const auto &[begin, name] : {std::pair<std::string, std::string>("\x1a\x45\xdf\xa3", "WebM or Matroska"),
                                    {zeros.substr(4) + "ftypM4A ", "MP4, M4A"},
                                    {"#!AMR\n", "AMR"},
                                    {"RIFF" + number(5000, 4) + "AVI LIST", "AVI"},
                                    {"OggS", "Ogg"},
                                    {"fLaC", "FLAC"},
                                    {"caff", "CAF"},
                                    {"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "ASF"},
                                    {"ID3\4", "MP3"},
                                    {"FORM1234AIFF", "AIFF"},
                                    {"\x1f\x8b\x08", "gzip"},
                                    {"<!DOCTYPE html><html>", "text"},
                                    {"{\"error\": \"no such recording\"}", "text"},
                                    {"UklGRmxcAQBXQVZFZm10IBAAAAABAAEA", "Base64, which is no recording; decode it: base64 -d"},
                                    {"T2dnUwACAAAAAAAAAAC", "Base64"},
                                    {"SUQzBAAAAAAAI1RTU0UAAAA", "Base64"},
                                    {"NIST_1A\n   1024\n", "NIST"}}) {
    for (const size_t chunk : {SIZE_MAX, size_t{1}}) {
      const Decoded result = decoded(begin + noise, chunk, input);
      EXPECT_NE(result.error.find(name), std::string::npos) << name << ": " << result.error;
      EXPECT_NE(result.error.find(";"), std::string::npos) << result.error;
      EXPECT_TRUE(result.samples.empty());
    }
  }
  EXPECT_EQ(decoded("~}|~{z~~}}~|zyz{}~~}|{zyxz|~~}}~", 1, input).error, "") << "quiet mu-law";
  // MP3 and AAC have no signature but the beginnings of two frames; one of them may be a sample.
  const std::string mp3 = "\xff\xfb\x90\x64" + std::string(413, 'x'),
                    adts = "\xff\xf1\x50\x80\x10\x1f\xfc" + std::string(121, 'x');
  EXPECT_NE(decoded(mp3 + mp3 + mp3, 1, input).error.find("MP3"), std::string::npos);
  EXPECT_NE(decoded(adts + adts + adts, 1, input).error.find("AAC"), std::string::npos);
  EXPECT_EQ(decoded(mp3.substr(0, 100) + noise, 1, input).error, "");
  EXPECT_EQ(decoded(mp3.substr(0, 100) + noise, 1, input).samples.size(), 1550u);
}

TEST(AudioDecoder, HeadersThatCannotBeAreRefused) {
  WavWriter writer;
  writer.rate_hz = 0;
  EXPECT_NE(decoded(writer.file({1, 2})).error.find("says that it has 0 samples a second"), std::string::npos);
  writer.rate_hz = 16000;
  writer.n_channels = 0;
  EXPECT_NE(decoded(writer.file({1, 2})).error.find("with 0 channels"), std::string::npos);
  writer.n_channels = 2;
  AudioInput third;
  third.channel = 2;
  EXPECT_NE(decoded(writer.file({1, 2}), 1, third).error.find("has 2 channels, of which number 2"), std::string::npos);
  const std::string bytes = WavWriter().file({1, 2});
  EXPECT_NE(decoded("RIFF" + number(40, 4) + "WAVEdata" + number(4, 4) + "abcd01234567").error, "");
  EXPECT_NE(decoded(bytes.substr(0, 12) + "fmt " + number(4, 4) + "abcd" + bytes.substr(36)).error, "");
}

TEST(AudioDecoder, ChannelsAreTakenMixedOrKept) {
  std::vector<int> samples;
  for (const int value : signal(2000)) {
    samples.push_back(value);
    samples.push_back(value / 3);
  }
  WavWriter writer;
  writer.n_channels = 2;
  const std::string bytes = writer.file(samples);
  for (const int32_t channel : {0, 1}) {
    AudioInput input;
    input.channel = channel;
    const Decoded one = decoded(bytes, 7, input);
    ASSERT_EQ(one.samples.size(), 2000u);
    for (size_t i = 0; i < 2000; ++i) ASSERT_EQ(one.samples[i], float(samples[2 * i + size_t(channel)]) / 32768);
  }
  AudioInput all;
  all.channel = kAllChannels;
  expect_near(decoded(bytes, 7, all).samples, samples, 0, "all");
  const Decoded mean = decoded(bytes);
  EXPECT_TRUE(mean.warnings.empty());
  for (size_t i = 0; i < 2000; ++i) {
    ASSERT_EQ(mean.samples[i], (float(samples[2 * i]) / 32768 + float(samples[2 * i + 1]) / 32768) * 0.5f);
  }
}

TEST(AudioDecoder, ChannelsThatCancelEachOtherAreNoticed) {
  const std::vector<int> voice = signal(16000);
  for (const int difference : {0, 5}) {
    std::vector<int> samples(2000);  // silence before the voice
    for (size_t i = 0; i < voice.size(); ++i) {
      samples.push_back(voice[i]);
      samples.push_back(-voice[i] + difference * static_cast<int>(i % 3));
    }
    WavWriter writer;
    writer.n_channels = 2;
    const std::string bytes = writer.file(samples);
    const Decoded whole = decoded(bytes);
    EXPECT_TRUE(mentions(whole, "has channels that cancel each other, so that channel "));
    double energy = 0, expected = 0;
    for (const float value : whole.samples) energy += double{value} * double{value};
    for (const int value : voice) expected += value / 32768.0 * value / 32768.0;
    EXPECT_GT(energy, 0.98 * expected);
    for (const size_t chunk : {size_t{1}, size_t{0}, size_t{1000}}) EXPECT_TRUE(decoded(bytes, chunk) == whole) << chunk;
  }
  // Noise of two microphones, one channel alone, and silence do not cancel.
  std::mt19937 random(1);
  std::vector<int> noise, one(40000), silence(40000);
  for (int i = 0; i < 40000; ++i) noise.push_back(static_cast<int>(random() % 20000) - 10000);
  for (size_t i = 0; i < one.size(); i += 2) one[i] = voice[i / 2 % voice.size()];
  for (const std::vector<int> &samples : {noise, one, silence}) {
    WavWriter writer;
    writer.n_channels = 2;
    EXPECT_TRUE(decoded(writer.file(samples)).warnings.empty());
  }
}

// Samples may stand in more bytes than they have, but not where only the size of a block says so.
TEST(AudioDecoder, ContradictorySizesOfSamplesAreNamed) {
  WavWriter writer;
  writer.code = {Encoding::kSigned, 2, false};
  const std::string right = writer.file(signal(1000));
  std::string wrong_block = right, wide = right;
  wrong_block[32] = wide[32] = 4;
  wide.replace(28, 4, number(64000, 4));
  const Decoded found = decoded(wrong_block);
  EXPECT_EQ(found.samples, decoded(right).samples);
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_EQ(found.warnings[0],
            "has samples of 16 bits and blocks of 4 bytes by its header, which do not agree; the bits are taken for right, as "
            "the bytes a second are");
  EXPECT_TRUE(decoded(right).warnings.empty());
  EXPECT_EQ(decoded(wide).samples.size(), 500u);
}

}  // namespace
}  // namespace asr
