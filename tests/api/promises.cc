// SPDX-License-Identifier: Apache-2.0
#include "tests/api/promises.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <random>

namespace asr::test {
namespace {

Result read(const asr_event *event) {
  Result result{asr_event_get_kind(event), asr_event_time_s(event), asr_event_n_stable_words(event), {}};
  for (size_t i = 0; i < asr_event_n_words(event, 0); ++i) {
    asr_word word{};
    word.size = sizeof(word);
    EXPECT_OK(asr_event_word(event, 0, i, &word));
    result.words.push_back({word.text, word.start_s, word.end_s});
  }
  return result;
}

}  // namespace

std::vector<Result> hear(asr_engine *engine, asr_stream_config config, const std::vector<int16_t> &samples, uint32_t seed) {
  struct Listener {
    std::mutex mutex;
    std::vector<Result> results;
  } listener;
  config.user_data = &listener;
  config.callback = [](asr_stream *, asr_event *event, void *user_data) {
    Listener *const self = static_cast<Listener *>(user_data);
    const std::lock_guard lock(self->mutex);
    self->results.push_back(read(event));
    asr_event_free(event);
  };
  const StreamPointer stream = open_stream(engine, config);
  std::mt19937 random(seed);
  for (size_t at = 0; at < samples.size();) {
    const size_t n = std::min<size_t>(1 + random() % 4000, samples.size() - at);
    EXPECT_OK(asr_feed(stream.get(), samples.data() + at, n));
    at += n;
  }
  EXPECT_OK(asr_finish(stream.get()));
  EXPECT_OK(asr_wait(stream.get(), 60000));
  return listener.results;
}

size_t check_promises(const std::vector<Result> &results, bool with_lattice) {
  std::vector<HeardWord> stable;
  size_t n_early = 0;
  for (const Result &result : results) {
    if (result.words.empty() && result.kind != ASR_EVENT_FINAL) {
      EXPECT_EQ(result.n_stable, 0u);
      continue;
    }
    EXPECT_GE(result.n_stable, stable.size()) << "at " << result.time_s;
    EXPECT_LE(result.n_stable, result.words.size());
    for (size_t i = 0; i < std::min(stable.size(), result.words.size()); ++i) {
      const bool own_times = with_lattice && result.kind == ASR_EVENT_FINAL;
      EXPECT_TRUE(own_times ? result.words[i].text == stable[i].text : result.words[i] == stable[i])
          << "word " << i << " at " << result.time_s << ": " << result.words[i].text << " was " << stable[i].text;
    }
    stable.assign(result.words.begin(), result.words.begin() + static_cast<ptrdiff_t>(result.n_stable));
    if (result.kind != ASR_EVENT_FINAL) continue;
    EXPECT_EQ(result.n_stable, result.words.size());
    stable.clear();
  }
  for (size_t i = 0; i + 2 < results.size(); ++i) {
    if (results[i].kind == ASR_EVENT_PARTIAL && results[i + 1].kind == ASR_EVENT_ENDPOINT) n_early += results[i].n_stable;
  }
  return n_early;
}

asr_stream_config with_partials(float lattice_beam, asr_endpoint endpoint) {
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 30;
  config.lattice_beam = lattice_beam;
  config.endpoint = endpoint;
  return config;
}

}  // namespace asr::test
