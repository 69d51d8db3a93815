// SPDX-License-Identifier: Apache-2.0
// Tests G.711 as the input of a stream, and the decoder of recordings through the C ABI.
#include <cstring>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"
#include "tests/unit/audio/wav_writer.h"

namespace asr::test {
namespace {

// Returns the words of samples as they are fed to a stream of this input.
template <typename Value>
std::string words_of(asr_engine *engine, asr_input input, const std::vector<Value> &values, uint32_t n_channels = 1) {
  asr_stream_config config = default_stream();
  config.input = input;
  config.n_channels = n_channels;
  config.channel = n_channels == 1 ? -1 : 1;
  const StreamPointer stream = open_stream(engine, config);
  EXPECT_OK(asr_feed(stream.get(), values.data(), values.size() / n_channels));
  EXPECT_OK(asr_finish(stream.get()));
  return final_text(poll_all(stream.get()));
}

std::vector<uint8_t> encoded(const std::vector<int16_t> &samples, Encoding encoding) {
  std::vector<uint8_t> bytes;
  for (const int16_t sample : samples) bytes.push_back(static_cast<uint8_t>(code_word({encoding, 1, false}, sample)));
  return bytes;
}

TEST(Audio, G711IsAnInputOfStreams) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("low high mid");
  for (const auto &[input, encoding] :
       {std::pair(ASR_INPUT_ULAW, Encoding::kUlaw), std::pair(ASR_INPUT_ALAW, Encoding::kAlaw)}) {
    const std::vector<uint8_t> bytes = encoded(samples, encoding);
    EXPECT_EQ(words_of(engine.get(), input, bytes), "low high mid");
    std::vector<uint8_t> stereo;
    for (const uint8_t byte : bytes) stereo.insert(stereo.end(), {uint8_t{0xff}, byte});
    EXPECT_EQ(words_of(engine.get(), input, stereo, 2), "low high mid");
  }
  asr_stream_config config = default_stream();
  config.input = static_cast<asr_input>(6);
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);
}

TEST(Audio, BytesOfARecordingBecomeSamples) {
  const EnginePointer engine = load_engine();
  std::vector<int> samples;
  for (const int16_t sample : speak("low high")) samples.push_back(sample);
  WavWriter writer;
  writer.data_size = 0;
  const std::string bytes = writer.file(samples);
  asr_audio *audio = nullptr;
  EXPECT_OK(asr_audio_open(nullptr, &audio));
  asr_audio_info info{};
  info.size = sizeof(info);
  EXPECT_OK(asr_audio_get_info(audio, &info));
  EXPECT_EQ(info.is_known, 0u);
  std::vector<float> read(samples.size() + 10), all;
  size_t n_read = 0;
  for (size_t at = 0; at < bytes.size(); at += 999) {
    EXPECT_OK(asr_audio_push(audio, bytes.data() + at, std::min<size_t>(999, bytes.size() - at)));
    EXPECT_OK(asr_audio_read(audio, read.data(), read.size(), &n_read));
    all.insert(all.end(), read.begin(), read.begin() + static_cast<ptrdiff_t>(n_read));
  }
  EXPECT_OK(asr_audio_finish(audio));
  EXPECT_OK(asr_audio_finish(audio));
  EXPECT_OK(asr_audio_read(audio, read.data(), read.size(), &n_read));
  all.insert(all.end(), read.begin(), read.begin() + static_cast<ptrdiff_t>(n_read));
  EXPECT_OK(asr_audio_get_info(audio, &info));
  EXPECT_EQ(std::string(info.format_name), "WAV");
  EXPECT_EQ(info.sample_rate_hz, 16000u);
  EXPECT_EQ(info.n_bits, 16u);
  EXPECT_EQ(asr_audio_warning(audio), nullptr);
  EXPECT_EQ(asr_audio_push(audio, "a", 1), ASR_INVALID_STATE);
  asr_audio_close(audio);
  EXPECT_EQ(words_of(engine.get(), ASR_INPUT_FLOAT, all), "low high");
}

TEST(Audio, Misuse) {
  asr_audio_config config;
  asr_audio_config_default(&config);
  EXPECT_EQ(config.channel, ASR_AUDIO_MIX);
  asr_audio *audio = nullptr;
  for (const int format : {-1, 7}) {
    memcpy(&config.format, &format, sizeof(format));
    EXPECT_EQ(asr_audio_open(&config, &audio), ASR_INVALID_ARGUMENT) << format;
  }
  asr_audio_config_default(&config);
  config.channel = -3;
  EXPECT_EQ(asr_audio_open(&config, &audio), ASR_INVALID_ARGUMENT);
  asr_audio_config_default(&config);
  config.n_channels = 65;
  EXPECT_EQ(asr_audio_open(&config, &audio), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(audio, nullptr);
  EXPECT_EQ(asr_audio_open(nullptr, nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_OK(asr_audio_open(nullptr, &audio));
  EXPECT_EQ(asr_audio_push(audio, nullptr, 3), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_audio_push(audio, "abc", SIZE_MAX), ASR_INVALID_ARGUMENT);
  EXPECT_OK(asr_audio_push(audio, nullptr, 0));
  size_t n_read = 1;
  EXPECT_OK(asr_audio_read(audio, nullptr, 0, &n_read));
  EXPECT_EQ(n_read, 0u);
  const std::string flac = "fLaC" + std::string(100, 'x');
  EXPECT_EQ(asr_audio_push(audio, flac.data(), flac.size()), ASR_UNSUPPORTED);
  EXPECT_EQ(std::string(asr_last_error()).rfind("is FLAC, which", 0), 0u) << asr_last_error();
  asr_audio_info info{};
  info.size = sizeof(info);
  EXPECT_OK(asr_audio_get_info(audio, &info));
  EXPECT_EQ(info.is_other, 1u);
  EXPECT_OK(asr_audio_push(audio, flac.data(), flac.size()));
  EXPECT_OK(asr_audio_read(audio, nullptr, 0, &n_read));
  asr_audio_close(audio);
  asr_audio_close(nullptr);
  EXPECT_EQ(asr_audio_warning(nullptr), nullptr);
}

}  // namespace
}  // namespace asr::test
