// SPDX-License-Identifier: Apache-2.0
// Tests asr_stream_config.max_utterance_s: what was fed before has its results, and the call beyond it says why it fails.
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

asr_stream_config of_seconds(uint32_t seconds) {
  asr_stream_config config = default_stream();
  config.max_utterance_s = seconds;
  return config;
}

std::vector<int16_t> a_second_of_words() {
  std::vector<int16_t> samples = speak("low mid");
  samples.resize(16000);
  return samples;
}

TEST(LongestUtterance, EndsAsIfItWereFinished) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = a_second_of_words();
  const std::vector<std::string> want = recognize(engine.get(), default_stream(), samples, 1000);
  for (const size_t chunk : {size_t{1000}, size_t{999}, 3 * samples.size()}) {
    SCOPED_TRACE(chunk);
    const StreamPointer stream = open_stream(engine.get(), of_seconds(1));
    std::vector<int16_t> longer = samples;
    longer.resize(3 * samples.size(), 1000);
    asr_status status = ASR_OK;
    size_t n_fed = 0;
    for (; status == ASR_OK && n_fed < longer.size(); n_fed += chunk) {
      status = asr_feed(stream.get(), longer.data() + n_fed, std::min(chunk, longer.size() - n_fed));
    }
    EXPECT_EQ(status, ASR_INVALID_STATE);
    EXPECT_NE(std::string(asr_last_error()).find("asr_feed: the utterance has reached the 1 s of "), std::string::npos)
        << asr_last_error();
    EXPECT_EQ(asr_try_feed(stream.get(), longer.data(), 1), ASR_INVALID_STATE);
    EXPECT_OK(asr_finish(stream.get()));
    EXPECT_EQ(poll_all(stream.get()), want);
  }
}

TEST(LongestUtterance, NeedsNoFinish) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), of_seconds(1));
  const std::vector<int16_t> samples = a_second_of_words();
  ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  EXPECT_EQ(asr_feed(stream.get(), samples.data(), 1), ASR_INVALID_STATE);
  EXPECT_EQ(final_text(poll_all(stream.get())), "low mid");
}

TEST(LongestUtterance, AllOfItMayBeFed) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), of_seconds(1));
  feed(stream.get(), a_second_of_words(), 100);
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(final_text(poll_all(stream.get())), "low mid");
}

TEST(LongestUtterance, IsNoneWithAnEndpoint) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = of_seconds(1);
  config.endpoint = ASR_ENDPOINT_COMMAND;
  const StreamPointer stream = open_stream(engine.get(), config);
  for (int i = 0; i < 4; ++i) feed(stream.get(), a_second_of_words(), 1000);
  ASSERT_OK(asr_finish(stream.get()));
  poll_all(stream.get());
}

TEST(LongestUtterance, RangeIsChecked) {
  const EnginePointer engine = load_engine();
  asr_stream *stream = nullptr;
  const asr_stream_config longer = of_seconds(10000001);
  EXPECT_EQ(asr_open(engine.get(), &longer, &stream), ASR_INVALID_ARGUMENT);
  asr_stream_config reserved = default_stream();
  reserved.reserved3 = 1;
  EXPECT_EQ(asr_open(engine.get(), &reserved, &stream), ASR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace asr::test
