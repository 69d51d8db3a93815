// SPDX-License-Identifier: Apache-2.0
// endless [--hours H] [--device D] [--threads N] [--disturb 0|1] [--seed N]
// Feeds H hours of audio (default 1) through endless streams of the tone bundle, one in each of N threads (default 3).
// The audio is sentences with pauses between them, each under a graph chosen for it. Checks that every sentence is
// recognised once, with its words and at its time, and that there are no other sentences. With --disturb 1 (default 0)
// the threads also cancel and end utterances, reset, close and open streams at random. Another thread replaces the
// graphs. Sentences that a disturbance may affect are not checked. The exit status is 1 if a sentence is lost, wrong or
// late by the clock. It is also 1 if the heap holds more at the end than after the first quarter.
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "api/asr.h"
#include "core/base/error.h"
#include "tests/api/tone_bundle.h"

namespace asr::soak {
namespace {

using Random = std::mt19937_64;

// The words of small grammars begin with the preceding silence, up to the utterance's beginning.
constexpr double kRate_hz = 16000, kPauseBetween_s = 1.0, kMaxOff_s = 0.1, kMaxSentence_s = 2;
constexpr auto kSettle = std::chrono::milliseconds(500);
constexpr int kMaxWait_ms = 60000;
constexpr double kMaxGrowth_mb = 2;
constexpr uint32_t kMaxShown = 20;

struct Options {
  double hours = 1;
  std::string device = "cpu";
  uint64_t n_threads = 3, seed = 1;
  bool disturb = false;
};

void check(asr_status status) {
  if (status != ASR_OK) fail(status, "%s", asr_last_error());
}

struct Close {
  void operator()(asr_engine *engine) const { asr_engine_close(engine); }
  void operator()(asr_stream *stream) const { asr_close(stream); }
  void operator()(asr_event *event) const { asr_event_free(event); }
};

// A graph of the engine, with its sentences.
struct Topic {
  const char *graph;
  std::vector<std::string> words;  // words of its grammar; empty: the bundle's own graph
  std::vector<std::string> sentences;
};
const Topic kTopics[] = {
    {"", {}, {"low mid", "high low mid", "mid"}}, {"ends", {"low", "high"}, {"low", "high"}}, {"mids", {"mid"}, {"mid"}}};

struct Sentence {
  double start_s;
  std::string words;
  bool sure;
};

// One thread's stream and its expected results.
class Life {
 public:
  Life(asr_engine *engine, uint64_t seed, bool disturb, std::atomic<uint32_t> *n_wrong)
      : engine_(engine), random_(seed), disturb_(disturb), n_wrong_(n_wrong) {
    open();
  }

  // Feeds a sentence and the pause after it.
  void turn() {
    const Topic &topic = kTopics[random_() % std::size(kTopics)];
    const std::string &words = topic.sentences[random_() % topic.sentences.size()];
    check(asr_set_graph(stream_.get(), topic.graph));
    expected_.push_back({fed_s() + test::kPause_s, words, true});
    feed(test::speak(words), disturb_ && random_() % 8 == 0);
    feed(pause(), disturb_ && random_() % 16 == 0);
    if (disturb_ && random_() % 50 == 0) open();
    take_ready();
    while (expected_.size() > 100) forget_first();  // the engine is at most that far behind
  }

  // Finishes the stream and reads it to its end.
  void finish() {
    check(asr_finish(stream_.get()));
    while (!ended_) {
      if (asr_wait(stream_.get(), kMaxWait_ms) != ASR_OK) fail(ASR_TIMEOUT, "no END within %d ms", kMaxWait_ms);
      take_ready();
    }
    while (!expected_.empty()) forget_first();
  }

  uint64_t n_heard() const { return n_heard_; }
  uint64_t n_samples() const { return n_samples_; }

 private:
  asr_engine *const engine_;
  Random random_;
  const bool disturb_;
  std::atomic<uint32_t> *const n_wrong_;
  std::unique_ptr<asr_stream, Close> stream_;
  uint64_t n_fed_ = 0, n_samples_ = 0, n_heard_ = 0;  // samples of the stream, of all streams; sentences
  std::deque<Sentence> expected_;
  double disturbed_until_s_ = 0;  // before this time sentences may be split, and parts of them lost
  bool ended_ = false;

  double fed_s() const { return static_cast<double>(n_fed_) / kRate_hz; }

  void open() {
    asr_stream_config config;
    asr_stream_config_default(&config);
    config.sample_rate_hz = static_cast<uint32_t>(kRate_hz);
    config.endpoint = ASR_ENDPOINT_COMMAND;
    config.lattice_beam = random_() % 4 == 0 ? 4 : 0;
    config.partial_interval_ms = random_() % 2 == 0 ? 200 : 0;
    config.early_endpoint_ms = random_() % 2 == 0 ? 200 : 0;
    asr_stream *opened = nullptr;
    check(asr_open(engine_, &config, &opened));
    stream_.reset(opened);
    begin_again();
  }

  void begin_again() {
    n_fed_ = 0;
    expected_.clear();
    disturbed_until_s_ = 0;
  }

  static std::vector<int16_t> pause() {
    std::vector<int16_t> samples;
    while (static_cast<double>(samples.size()) < kPauseBetween_s * kRate_hz) {
      const std::vector<int16_t> more = test::speak("");
      samples.insert(samples.end(), more.begin(), more.end());
    }
    return samples;
  }

  void feed(const std::vector<int16_t> &samples, bool disturbed) {
    const size_t where = disturbed ? random_() % samples.size() : samples.size();
    for (size_t at = 0; at < samples.size();) {
      const size_t n = std::min<size_t>((at < where ? where : samples.size()) - at, 160 + random_() % 16000);
      check(asr_feed(stream_.get(), samples.data() + at, n));
      at += n;
      n_fed_ += n;
      n_samples_ += n;
      if (at == where && disturbed) disturb();
      take_ready();
    }
  }

  void disturb() {
    for (Sentence &sentence : expected_) sentence.sure = false;
    switch (random_() % 3) {
      case 0:
        check(asr_cancel_utterance(stream_.get()));
        break;
      case 1:
        check(asr_end_utterance(stream_.get()));
        break;
      default:
        check(asr_reset(stream_.get()));
        begin_again();
    }
    disturbed_until_s_ = fed_s() + kMaxSentence_s;
  }

  void take_ready() {
    for (;;) {
      asr_event *taken = nullptr;
      check(asr_result(stream_.get(), &taken));
      if (taken == nullptr) return;
      const std::unique_ptr<asr_event, Close> event(taken);
      if (asr_event_get_kind(taken) == ASR_EVENT_ERROR) fail(asr_event_status(taken), "%s", asr_event_text(taken));
      if (asr_event_get_kind(taken) == ASR_EVENT_END) ended_ = true;
      if (asr_event_get_kind(taken) == ASR_EVENT_FINAL && asr_event_n_words(taken, 0) > 0) hear(taken);
    }
  }

  void hear(const asr_event *final) {
    asr_word first{}, last{};
    first.size = last.size = sizeof(asr_word);
    check(asr_event_word(final, 0, 0, &first));
    check(asr_event_word(final, 0, asr_event_n_words(final, 0) - 1, &last));
    while (!expected_.empty() && expected_.front().start_s < first.start_s - kMaxOff_s) forget_first();
    if (expected_.empty() || expected_.front().start_s > last.end_s) {
      if (first.start_s > disturbed_until_s_)
        wrong("'%s' was heard at %.2f s, where nothing was said", asr_event_text(final), first.start_s);
      return;
    }
    const Sentence said = expected_.front();
    expected_.pop_front();
    if (said.sure && said.words != asr_event_text(final)) {
      wrong(("'%s' was heard at %.2f s instead of '" + said.words + "'").c_str(), asr_event_text(final), first.start_s);
    }
    ++n_heard_;
  }

  void forget_first() {
    const Sentence said = expected_.front();
    expected_.pop_front();
    if (said.sure) wrong("'%s' of %.2f s was not heard", said.words.c_str(), said.start_s);
  }

  void wrong(const char *what, const char *words, double at_s) const {
    if (++*n_wrong_ > kMaxShown) return;
    fprintf(stderr, "endless: %s\n", format(what, words, at_s).c_str());
  }
};

double heap_mb() { return 1e-6 * static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd); }

class Endless {
 public:
  explicit Endless(const Options &options) : options_(options) {
    asr_engine_config config;
    asr_engine_config_default(&config);
    config.device = options.device.c_str();
    asr_engine *engine = nullptr;
    check(asr_engine_load(test::tone_bundle().c_str(), &config, &engine));
    engine_.reset(engine);
    add_graphs();
  }

  bool run() {
    std::vector<double> heap_mb_after;
    for (int quarter = 0; quarter < 4 && n_wrong_ == 0; ++quarter) {
      std::vector<std::thread> threads;
      stop_ = false;
      for (uint64_t i = 0; i < options_.n_threads; ++i) {
        threads.emplace_back([this, seed = 1000 * (options_.seed + static_cast<uint64_t>(quarter)) + i] { live(seed); });
      }
      std::thread replacing([this] { replace_graphs(); });
      for (std::thread &thread : threads) thread.join();
      stop_ = true;
      replacing.join();
      heap_mb_after.push_back(heap_at_rest_mb());
      printf("endless: %.2f h of audio, %llu sentences heard, %u wrong, heap %.2f MB\n",
             static_cast<double>(n_samples_) / kRate_hz / 3600, (unsigned long long)n_heard_, n_wrong_.load(),
             heap_mb_after.back());
      fflush(stdout);
    }
    if (n_wrong_ == 0 && heap_mb_after.back() > heap_mb_after.front() + kMaxGrowth_mb) {
      fprintf(stderr, "endless: memory grew\n");
      return false;
    }
    return n_wrong_ == 0;
  }

 private:
  const Options options_;
  std::unique_ptr<asr_engine, Close> engine_;
  std::atomic<bool> stop_{false};
  std::atomic<uint32_t> n_wrong_{0};
  std::atomic<uint64_t> n_samples_{0}, n_heard_{0};

  // Returns the heap's size while no stream is open. The next step frees the memory of closed streams, so a short stream
  // triggers one.
  double heap_at_rest_mb() {
    for (int i = 0; i < 2; ++i) {
      Life life(engine_.get(), 0, false, &n_wrong_);
      life.turn();
      life.finish();
    }
    std::this_thread::sleep_for(kSettle);
    return heap_mb();
  }

  void add_graphs() {
    for (const Topic &topic : kTopics) {
      if (topic.words.empty()) continue;
      const std::string archive = test::tone_grammar_archive(topic.words);
      check(asr_engine_add_graph_bytes(engine_.get(), topic.graph, archive.data(), archive.size()));
    }
  }

  // Replaces graphs by equal ones.
  void replace_graphs() {
    while (!stop_ && options_.disturb) {
      add_graphs();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // Feeds a quarter of a thread's audio.
  void live(uint64_t seed) {
    try {
      Life life(engine_.get(), seed, options_.disturb, &n_wrong_);
      const double samples = options_.hours * 3600 * kRate_hz / 4 / static_cast<double>(options_.n_threads);
      while (static_cast<double>(life.n_samples()) < samples && n_wrong_ < kMaxShown) life.turn();
      life.finish();
      n_samples_ += life.n_samples();
      n_heard_ += life.n_heard();
    } catch (const std::exception &error) {
      fprintf(stderr, "endless: %s\n", error.what());
      ++n_wrong_;
    }
  }
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const char *const value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--hours") {
      options.hours = atof(value);
    } else if (name == "--device") {
      options.device = value;
    } else if (name == "--threads") {
      options.n_threads = strtoull(value, nullptr, 10);
    } else if (name == "--disturb") {
      options.disturb = atoi(value) != 0;
    } else if (name == "--seed") {
      options.seed = strtoull(value, nullptr, 10);
    } else {
      fail(ASR_INVALID_ARGUMENT, "no option %s; the top of tests/soak/endless.cc lists them", name.c_str());
    }
  }
  if (!(options.hours > 0) || options.n_threads == 0) fail(ASR_INVALID_ARGUMENT, "--hours and --threads must be above 0");
  return options;
}

}  // namespace
}  // namespace asr::soak

int main(int argc, char **argv) {
  try {
    return asr::soak::Endless(asr::soak::parse(argc, argv)).run() ? 0 : 1;
  } catch (const std::exception &error) {
    fprintf(stderr, "endless: %s\n", error.what());
    return 1;
  }
}
