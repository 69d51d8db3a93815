// SPDX-License-Identifier: Apache-2.0
// Tests incomplete recordings: sentences, warnings, and work in proportion to their bytes.
#include "tools/audio_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/base/limits.h"
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
  AudioFile file(path_, 16000);
  EXPECT_EQ(file.read(samples_.data(), 1000), 1000u);
  EXPECT_FALSE(file.has_shrunk());
  ASSERT_EQ(truncate(path_.c_str(), 50000), 0);
  EXPECT_LT(file.read(samples_.data(), 99000), 99000u);
  EXPECT_TRUE(file.has_shrunk());
}

TEST_F(AudioFiles, MissingBytesAreLookedForBehindAFewChunksOnly) {
  for (const size_t n_chunks : {size_t{0}, size_t{kMostWavChunks} - 10, size_t{kMostWavChunks} + 10}) {
    const std::string bytes = wav(1000, n_chunks);
    spill(path_, bytes.substr(0, bytes.size() - 500));
    EXPECT_EQ(AudioFile(path_, 16000).n_missing_bytes(), n_chunks < kMostWavChunks ? 500u : 0u) << n_chunks;
  }
}

TEST_F(AudioFiles, SentencesAreOurs) {
  spill(path_, wav(1000, 0, 0));
  expect_error([&] { AudioFile file(path_, 16000); }, ASR_BAD_FILE, path_ + ": not readable as audio: ");
  expect_error([&] { AudioFile file(path_, 16000); }, ASR_BAD_FILE, "; check how it was recorded and copied");
  const std::string sentence = test::outcome_of([&] { AudioFile file(path_, 16000); }).message;
  EXPECT_EQ(sentence.find("SF_INFO"), std::string::npos) << sentence;
  spill(path_, "no such thing");
  expect_error([&] { AudioFile file(path_, 16000); }, ASR_BAD_FILE, "headerless samples must be named .raw");
}

}  // namespace
}  // namespace asr::tool
