// SPDX-License-Identifier: Apache-2.0
// Tests that stable words of a result stay in all later results of the utterance. Their times stay, too, except in FINALs with
// lattices.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

struct HeardWord {
  std::string text;
  double start_s, end_s;
  bool operator==(const HeardWord &other) const {
    return text == other.text && start_s == other.start_s && end_s == other.end_s;
  }
};

struct Result {
  asr_event_kind kind;
  double time_s;
  size_t n_stable;
  std::vector<HeardWord> words;
};

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

// Returns all events, including partial results that a later one would replace if they were not read.
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

// Checks the guarantees of stable words; returns the number of words stable before FINAL. A lattice has its own word times.
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

asr_stream_config with_partials(float lattice_beam = 0, asr_endpoint endpoint = ASR_ENDPOINT_OFF) {
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 30;
  config.lattice_beam = lattice_beam;
  config.endpoint = endpoint;
  return config;
}

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

// Returns the 16-bit samples of a NIST SPHERE file.
std::vector<int16_t> sphere_samples(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  constexpr size_t kHeader = 1024;
  std::vector<int16_t> samples((std::max(bytes.size(), kHeader) - kHeader) / sizeof(int16_t));
  if (!samples.empty()) memcpy(samples.data(), bytes.data() + kHeader, samples.size() * sizeof(int16_t));
  return samples;
}

struct Folder {
  const std::string path = std::filesystem::temp_directory_path() / ("senone_stable_" + std::to_string(getpid()));
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

TEST(StableWords, OfRealSpeechStay) {
  const char *const data = std::getenv("SENONE_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string root = data, an4 = root + "/an4";
  const Folder folder;
  const std::string &bundle = folder.path;
  ASSERT_EQ(run_program("senone", "import sphinx " + root + "/cmusphinx_an4_cont8 " + bundle).exit_code, 0);
  ASSERT_EQ(run_program("senone",
                        "graph --model " + bundle + " --lexicon " + an4 + "/etc/an4.dic --lm " + an4 + "/etc/an4_train.2g.arpa")
                .exit_code,
            0);
  const EnginePointer engine = load_engine(8, 32, bundle);
  size_t n_early = 0, n_words = 0;
  uint32_t seed = 0;
  for (const auto &file : std::filesystem::directory_iterator(an4 + "/sphere")) {
    const std::vector<int16_t> samples = sphere_samples(file.path());
    for (const float lattice_beam : {0.0f, 8.0f}) {
      SCOPED_TRACE(file.path().string());
      const auto results = hear(engine.get(), with_partials(lattice_beam), samples, ++seed);
      n_early += check_promises(results, lattice_beam > 0);
      for (const Result &result : results) n_words += result.kind == ASR_EVENT_FINAL ? result.words.size() : 0;
    }
  }
  EXPECT_GT(n_words, 20u);
  EXPECT_GT(n_early, n_words / 2);
}

}  // namespace
}  // namespace asr::test
