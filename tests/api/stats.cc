// SPDX-License-Identifier: Apache-2.0
// Tests asr_engine_get_stats and asr_stream_get_stats: what is fed is searched or waits, and streams that are gone leave
// nothing.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

asr_engine_stats stats_of(const asr_engine *engine) {
  asr_engine_stats stats{};
  stats.size = sizeof(stats);
  EXPECT_OK(asr_engine_get_stats(engine, &stats));
  return stats;
}

asr_stream_stats stats_of(const asr_stream *stream) {
  asr_stream_stats stats{};
  stats.size = sizeof(stats);
  EXPECT_OK(asr_stream_get_stats(stream, &stats));
  return stats;
}

double seconds(const std::vector<int16_t> &samples) { return static_cast<double>(samples.size()) / 16000; }

TEST(Stats, BeginAtZero) {
  const EnginePointer engine = load_engine();
  const asr_engine_stats before = stats_of(engine.get());
  EXPECT_EQ(before.n_streams, 0u);
  EXPECT_EQ(before.fed_s + before.searched_s + before.waiting_s, 0);
  EXPECT_EQ(before.n_steps + before.n_lanes, 0u);
  const StreamPointer stream = open_stream(engine.get());
  EXPECT_EQ(stats_of(engine.get()).n_streams, 1u);
  const asr_stream_stats of_stream = stats_of(stream.get());
  EXPECT_EQ(of_stream.fed_s + of_stream.searched_s + of_stream.waiting_s, 0);
}

TEST(Stats, AllThatWasFedIsSearchedAtTheEnd) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("low high mid");
  for (const asr_cmn cmn : {ASR_CMN_NONE, ASR_CMN_BATCH}) {
    const asr_engine_stats before = stats_of(engine.get());
    asr_stream_config config = default_stream();
    config.cmn = cmn;
    const StreamPointer stream = open_stream(engine.get(), config);
    ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
    EXPECT_NEAR(stats_of(stream.get()).fed_s, seconds(samples), 1e-9);
    if (cmn == ASR_CMN_BATCH) {
      EXPECT_NEAR(stats_of(stream.get()).waiting_s, seconds(samples), 1e-9);
      EXPECT_NEAR(stats_of(engine.get()).waiting_s, seconds(samples), 1e-6);
    }
    ASSERT_OK(asr_finish(stream.get()));
    poll_all(stream.get());
    const asr_stream_stats ended = stats_of(stream.get());
    EXPECT_EQ(ended.searched_s, ended.fed_s);
    EXPECT_EQ(ended.waiting_s, 0);
    const asr_engine_stats after = stats_of(engine.get());
    EXPECT_EQ(after.waiting_s, 0);
    EXPECT_NEAR(after.fed_s - before.fed_s, seconds(samples), 1e-6);
    EXPECT_NEAR(after.searched_s - before.searched_s, seconds(samples), 0.1);  // but for an incomplete frame
    EXPECT_GT(after.busy_s, before.busy_s);
    EXPECT_GT(after.n_steps, before.n_steps);
    EXPECT_EQ(after.n_lanes - before.n_lanes, after.n_steps - before.n_steps);  // one stream at a time
  }
}

TEST(Stats, StreamsThatAreGoneLeaveNothing) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("low high mid");
  asr_stream_config config = default_stream();
  config.cmn = ASR_CMN_BATCH;  // so that the audio waits
  StreamPointer closed = open_stream(engine.get(), config), cancelled = open_stream(engine.get(), config);
  const StreamPointer again = open_stream(engine.get(), config);
  for (asr_stream *stream : {closed.get(), cancelled.get(), again.get()}) {
    ASSERT_OK(asr_feed(stream, samples.data(), samples.size()));
  }
  EXPECT_NEAR(stats_of(engine.get()).waiting_s, 3 * seconds(samples), 1e-6);
  closed.reset();
  ASSERT_OK(asr_reset(again.get()));
  EXPECT_EQ(stats_of(again.get()).fed_s, 0);
  EXPECT_EQ(stats_of(engine.get()).n_streams, 2u);
  ASSERT_OK(asr_cancel(cancelled.get()));
  poll_all(cancelled.get());
  EXPECT_EQ(stats_of(engine.get()).waiting_s, 0);
  cancelled.reset();
  EXPECT_EQ(stats_of(engine.get()).n_streams, 1u);
  EXPECT_NEAR(stats_of(engine.get()).fed_s, 3 * seconds(samples), 1e-6);
}

TEST(Stats, HaveTheirErrors) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get());
  asr_engine_stats stats{};
  EXPECT_EQ(asr_engine_get_stats(engine.get(), nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_get_stats(nullptr, &stats), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_stream_get_stats(stream.get(), nullptr), ASR_INVALID_ARGUMENT);
  asr_stream_stats none{};
  EXPECT_EQ(asr_stream_get_stats(nullptr, &none), ASR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace asr::test
