// SPDX-License-Identifier: Apache-2.0
// Tests incomplete recordings: messages, warnings, and work in proportion to their bytes.
#include "tools/audio_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/scratch.h"

namespace asr::tool {
namespace {

using test::expect_error;
using test::Scratch;
using test::spill;

std::string number(uint32_t value, size_t n_bytes = 4) {
  std::string bytes(n_bytes, '\0');
  memcpy(bytes.data(), &value, n_bytes);
  return bytes;
}

// Makes a wav file of 16-bit samples at 16 kHz, with empty chunks before them.
std::string wav(size_t n_samples, size_t n_empty_chunks = 0, uint32_t n_channels = 1) {
  std::string body = "WAVEfmt " + number(16) + number(1, 2) + number(n_channels, 2) + number(16000) +
                     number(32000 * n_channels) + number(2 * n_channels, 2) + number(16, 2);
  for (size_t i = 0; i < n_empty_chunks; ++i) body += "junk" + number(0);
  body += "data" + number(static_cast<uint32_t>(2 * n_samples)) + std::string(2 * n_samples, '\1');
  return "RIFF" + number(static_cast<uint32_t>(body.size())) + body;
}

class AudioFiles : public testing::Test {
 protected:
  const Scratch scratch_;
  const std::string path_ = scratch_ / "a.wav";
  std::vector<float> samples_ = std::vector<float>(100000);
};

TEST_F(AudioFiles, ThatShrinkWhileTheyAreRead) {
  spill(path_, wav(100000));
  AudioFile file(path_, {});
  EXPECT_EQ(file.read(samples_.data(), 1000), 1000u);
  EXPECT_FALSE(file.has_shrunk());
  ASSERT_EQ(truncate(path_.c_str(), 50000), 0);
  EXPECT_LT(file.read(samples_.data(), 99000), 99000u);
  EXPECT_TRUE(file.has_shrunk());
}

TEST_F(AudioFiles, MissingBytesAreSeenBehindAnyNumberOfChunks) {
  for (const size_t n_chunks : {0, 10, 100000}) {
    const std::string bytes = wav(1000, n_chunks);
    spill(path_, bytes.substr(0, bytes.size() - 500));
    AudioFile file(path_, {});
    EXPECT_EQ(file.read(samples_.data(), 1000), 750u);
    EXPECT_EQ(file.what_is_missing().rfind("is cut short: 500 bytes ", 0), 0u) << n_chunks;
    const std::vector<std::string> warnings = file.take_warnings();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0].rfind(path_ + ": is cut short: 500 bytes ", 0), 0u) << warnings[0];
  }
}

// What libsndfile decodes goes through the same choice of channels.
TEST_F(AudioFiles, ChannelsOfOtherFormats) {
  const std::string flac = scratch_ / "a.flac";
  SF_INFO info{};
  info.samplerate = 16000;
  info.channels = 2;
  info.format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
  std::vector<int16_t> values;
  for (int i = 0; i < 16000; ++i) {
    values.push_back(static_cast<int16_t>(i % 100 * 100));
    values.push_back(static_cast<int16_t>(-values.back()));
  }
  SNDFILE *const out = sf_open(flac.c_str(), SFM_WRITE, &info);
  ASSERT_NE(out, nullptr);
  sf_write_short(out, values.data(), static_cast<sf_count_t>(values.size()));
  sf_close(out);
  for (const int32_t channel : {0, 1}) {
    AudioOptions options;
    options.channel = channel;
    AudioFile file(flac, options);
    EXPECT_EQ(file.read(samples_.data(), samples_.size()), 16000u);
    EXPECT_EQ(samples_[99], float(values[198 + size_t(channel)]) / 32768);
    EXPECT_TRUE(file.take_warnings().empty());
  }
  AudioFile mixed(flac, {});
  EXPECT_EQ(mixed.read(samples_.data(), samples_.size()), 16000u);
  EXPECT_EQ(std::abs(samples_[99]), float(values[198]) / 32768);
  EXPECT_EQ(mixed.take_warnings().size(), 1u);
  AudioOptions third;
  third.channel = 2;
  expect_error([&] { AudioFile file(flac, third); }, ASR_INVALID_ARGUMENT, flac + ": has 2 channels, of which number 2");
}

TEST_F(AudioFiles, NamedSamplesAndKnownSignatures) {
  spill(path_, wav(1000));
  AudioOptions named;
  named.raw_format = "mulaw";
  named.raw_rate_hz = 8000;
  AudioFile file(path_, named);
  EXPECT_EQ(file.rate_hz(), 8000u);
  EXPECT_EQ(file.read(samples_.data(), samples_.size()), 2044u);
  ASSERT_EQ(file.take_warnings().size(), 1u);
  const std::string raw = scratch_ / "a.raw";
  spill(raw, wav(1000));
  EXPECT_EQ(AudioFile(raw, {}).read(samples_.data(), 2000), 1000u) << "a WAV file by another name";
  spill(raw, std::string("\x1a\x45\xdf\xa3", 4) + std::string(2000, '\x93'));
  for (const std::string &path : {raw, path_}) {
    spill(path, std::string("\x1a\x45\xdf\xa3", 4) + std::string(2000, '\x93'));
    expect_error([&, &name = path] { AudioFile other(name, {}); }, ASR_UNSUPPORTED, path + ": is WebM or Matroska, which");
  }
}

TEST_F(AudioFiles, MessagesAreOurs) {
  spill(path_, wav(1000, 0, 0));
  expect_error([&] { AudioFile file(path_, {}); }, ASR_BAD_FILE, path_ + ": has a header with 0 channels");
  expect_error([&] { AudioFile file(path_, {}); }, ASR_BAD_FILE, "; check how it was recorded and copied");
  spill(path_, "\1\2\3\4no such thing");
  expect_error([&] { AudioFile file(path_, {}); }, ASR_BAD_FILE, "or name the file .raw");
}

}  // namespace
}  // namespace asr::tool
