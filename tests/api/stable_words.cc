// SPDX-License-Identifier: Apache-2.0
// Tests the guarantees of stable words (tests/api/promises.h) with tones.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/api/promises.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

TEST(StableWords, Stay) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("low mid high high low mid low high mid");
  for (const float lattice_beam : {0.0f, 6.0f}) {
    for (const asr_endpoint endpoint : {ASR_ENDPOINT_OFF, ASR_ENDPOINT_COMMAND}) {
      for (uint32_t seed = 0; seed < 5; ++seed) {
        const auto results = hear(engine.get(), with_partials(lattice_beam, endpoint), samples, seed);
        EXPECT_GE(check_promises(results, lattice_beam > 0), 7u);  // out of nine words
      }
    }
  }
}

TEST(StableWords, DoNotDependOnChunks) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("low mid high high low");
  std::map<double, size_t> n_stable_at;
  for (uint32_t seed = 0; seed < 5; ++seed) {
    for (const Result &result : hear(engine.get(), with_partials(), samples, seed)) {
      if (result.kind != ASR_EVENT_PARTIAL) continue;
      EXPECT_EQ(n_stable_at.emplace(result.time_s, result.n_stable).first->second, result.n_stable) << result.time_s;
    }
  }
  EXPECT_GT(n_stable_at.size(), 20u);
}

// Partial results do not change the FINAL, even if homophones have equal costs.
TEST(StableWords, LeaveFinalsAsTheyAre) {
  const EnginePointer engine = load_engine(8, 32, tone_bundle_with_homophone());
  const std::vector<int16_t> samples = speak("low mid low low high mid");
  const auto final_of = [&](asr_stream_config config) {
    const std::vector<Result> results = hear(engine.get(), config, samples, 1);
    const auto is_final = [](const Result &result) { return result.kind == ASR_EVENT_FINAL; };
    return std::find_if(results.begin(), results.end(), is_final)->words;
  };
  for (const uint32_t n_best : {1u, 5u}) {
    asr_stream_config with = with_partials(6);
    with.n_best = n_best;
    asr_stream_config without = with;
    without.partial_interval_ms = 0;
    EXPECT_TRUE(final_of(with) == final_of(without));
    EXPECT_EQ(final_of(with).size(), 6u);
  }
}

}  // namespace
}  // namespace asr::test
