// SPDX-License-Identifier: Apache-2.0
// soak [--hours H] [--device D] [--threads N] [--rows N] [--seed N]
// Feeds H hours of audio (default 1) through one engine on the tone bundle, at full speed. Streams of many lengths are
// finished, cancelled, closed early, or abandoned after a wait that timed out. Prints a CSV with N rows (default 24): memory,
// and percentiles of the time from asr_finish to FINAL, over equal shares of the audio. Between quarters all streams end. Exit
// status 1 if a stream's words are wrong, a stream does not end, or the heap then holds more than after the first quarter.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "api/asr.h"
#include "core/base/error.h"
#include "tests/api/tone_bundle.h"

namespace asr::soak {
namespace {

using Clock = std::chrono::steady_clock;
using Random = std::mt19937_64;

constexpr uint32_t kRate_hz = 16000;
constexpr int kMaxWait_ms = 60000;
constexpr auto kSettle = std::chrono::milliseconds(500);
constexpr uint64_t kQuarters = 4;
constexpr double kMaxGrowth_mb = 1;  // limit of the heap's growth, while no stream is open

struct Options {
  double hours = 1;
  std::string device = "cpu";
  uint64_t n_threads = 3, n_rows = 24, seed = 1;
};

double since_s(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void check(asr_status status) {
  if (status != ASR_OK) fail(status, "%s", asr_last_error());
}

struct Close {
  void operator()(asr_engine *engine) const { asr_engine_close(engine); }
  void operator()(asr_stream *stream) const { asr_close(stream); }
  void operator()(asr_event *event) const { asr_event_free(event); }
};

// A recording and its words.
struct Speech {
  std::string words;
  std::vector<int16_t> samples;
};

std::vector<Speech> make_speech() {
  std::vector<Speech> all;
  std::string words;
  for (const char *word : {"low", "high", "mid", "mid", "high", "low", "low", "mid", "high"}) {
    words += (words.empty() ? "" : " ") + std::string(word);
    all.push_back({words, test::speak(words)});
  }
  return all;
}

enum class Fate { kFinish, kCancel, kClose, kTimeOut };

// Counts and times of one share of the audio.
struct Share {
  uint64_t n_begun = 0, n_final = 0, n_cancelled = 0, n_closed = 0, n_timed_out = 0;
  std::vector<double> latencies_ms;
};

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return 1e-6 * static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double heap_mb() { return 1e-6 * static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd); }

double percentile(std::vector<double> &sorted, double share) {
  if (sorted.empty()) return 0;
  const double place = share * static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(std::lround(place))];
}

class Soak {
 public:
  explicit Soak(const Options &options) : options_(options), speech_(make_speech()) {
    asr_engine_config config;
    asr_engine_config_default(&config);
    config.device = options.device.c_str();
    asr_engine *engine = nullptr;
    check(asr_engine_load(test::tone_bundle().c_str(), &config, &engine));
    engine_.reset(engine);
  }

  bool run() {
    printf("audio_h,wall_s,resident_mb,heap_mb,streams,finals,cancelled,closed,timed_out,p50_ms,p90_ms,p99_ms,max_ms\n");
    const Clock::time_point begin = Clock::now();
    for (uint64_t quarter = 1; quarter <= kQuarters && !failed_; ++quarter) {
      std::vector<std::thread> threads;
      for (uint64_t i = 0; i < options_.n_threads; ++i) {
        threads.emplace_back([this, seed = 1000 * (options_.seed + quarter) + i] { work(seed); });
      }
      watch(begin, (quarter - 1) * options_.n_rows / kQuarters, quarter * options_.n_rows / kQuarters);
      ends_ = true;
      for (std::thread &thread : threads) thread.join();
      ends_ = false;
      at_rest_mb_.push_back(heap_at_rest_mb());
    }
    return !failed_ && memory_is_steady();
  }

 private:
  const Options options_;
  const std::vector<Speech> speech_;
  std::unique_ptr<asr_engine, Close> engine_;
  std::atomic<bool> ends_{false}, failed_{false};
  std::atomic<uint64_t> n_samples_{0};
  std::mutex mutex_;  // guards share_
  Share share_;
  std::vector<double> at_rest_mb_;  // after each quarter

  double audio_s() const { return static_cast<double>(n_samples_) / kRate_hz; }

  // Returns the heap's size while no stream is open. Channels of closed streams are freed in the engine's next step, which a
  // last short stream triggers.
  double heap_at_rest_mb() {
    asr_stream_config config;
    asr_stream_config_default(&config);
    asr_stream *opened = nullptr;
    for (int i = 0; i < 2; ++i) {
      check(asr_open(engine_.get(), &config, &opened));
      const std::unique_ptr<asr_stream, Close> stream(opened);
      check(asr_feed(opened, speech_[0].samples.data(), speech_[0].samples.size()));
      check(asr_finish(opened));
      check(take_all(opened));
      std::this_thread::sleep_for(kSettle);
    }
    return heap_mb();
  }

  // Prints rows first + 1 ... last of the table, while the threads work.
  void watch(Clock::time_point begin, uint64_t first, uint64_t last) {
    for (uint64_t row = first + 1; row <= last; ++row) {
      const double until_s = options_.hours * 3600 * static_cast<double>(row) / static_cast<double>(options_.n_rows);
      while (audio_s() < until_s && !failed_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (failed_) return;
      print_row(since_s(begin));
    }
  }

  void work(uint64_t seed) {
    Random random(seed);
    try {
      while (!ends_ && !failed_) live(random);
    } catch (const std::exception &error) {
      fprintf(stderr, "soak: %s\n", error.what());
      failed_ = true;
    }
  }

  // Runs one stream's life.
  void live(Random &random) {
    asr_stream_config config;
    asr_stream_config_default(&config);
    config.sample_rate_hz = kRate_hz;
    config.lattice_beam = random() % 4 == 0 ? 4 : 0;
    config.partial_interval_ms = random() % 2 == 0 ? 200 : 0;
    asr_stream *opened = nullptr;
    check(asr_open(engine_.get(), &config, &opened));
    const std::unique_ptr<asr_stream, Close> stream(opened);
    count(&Share::n_begun);
    const Fate fate = random() % 2 == 0 ? Fate::kFinish : static_cast<Fate>(random() % 4);
    const uint64_t n_parts = random() % 200 == 0 ? 300 : 1 + random() % 3;  // the longest have some 20 minutes
    std::string words;
    for (uint64_t i = 0; i < n_parts; ++i) {
      const Speech &speech = speech_[random() % speech_.size()];
      feed(opened, speech.samples, random);
      words += (words.empty() ? "" : " ") + speech.words;
    }
    end(opened, fate, words);
  }

  void feed(asr_stream *stream, const std::vector<int16_t> &samples, Random &random) {
    for (size_t at = 0; at < samples.size();) {
      const size_t n = std::min<size_t>(samples.size() - at, 160 + random() % 16000);
      check(asr_feed(stream, samples.data() + at, n));
      at += n;
      n_samples_ += n;
      take_ready(stream);
    }
  }

  // Takes the available events before the end, like a client that is feeding.
  static void take_ready(asr_stream *stream) {
    for (;;) {
      asr_event *taken = nullptr;
      check(asr_result(stream, &taken));
      if (taken == nullptr) return;
      const std::unique_ptr<asr_event, Close> event(taken);
      if (asr_event_get_kind(taken) == ASR_EVENT_ERROR) fail(asr_event_status(taken), "%s", asr_event_text(taken));
    }
  }

  void end(asr_stream *stream, Fate fate, const std::string &words) {
    switch (fate) {
      case Fate::kFinish:
        return finish(stream, words);
      case Fate::kCancel:
        check(asr_cancel(stream));
        if (take_all(stream) != ASR_CANCELLED) fail(ASR_INTERNAL, "a cancelled stream ended otherwise");
        return count(&Share::n_cancelled);
      case Fate::kClose:
        return count(&Share::n_closed);
      case Fate::kTimeOut:
        if (asr_finish(stream) != ASR_OK) fail(ASR_INTERNAL, "%s", asr_last_error());
        if (asr_wait(stream, 0) == ASR_TIMEOUT) count(&Share::n_timed_out);
        check(asr_cancel(stream));
        return;
    }
  }

  void finish(asr_stream *stream, const std::string &words) {
    const Clock::time_point begin = Clock::now();
    check(asr_finish(stream));
    std::optional<double> latency_s;
    std::string found;
    const asr_status status = take_all(stream, [&](const asr_event *event) {
      if (asr_event_get_kind(event) != ASR_EVENT_FINAL) return;
      latency_s = since_s(begin);
      found = asr_event_text(event);
    });
    check(status);
    if (!latency_s) fail(ASR_INTERNAL, "a finished stream has no FINAL");
    if (found != words) fail(ASR_INTERNAL, "the words are '%.200s' instead of '%.200s'", found.c_str(), words.c_str());
    std::lock_guard lock(mutex_);
    ++share_.n_final;
    share_.latencies_ms.push_back(1000 * *latency_s);
  }

  // Takes events until END; returns the status of the ERROR event, if any.
  template <typename Visit>
  static asr_status take_all(asr_stream *stream, Visit visit) {
    asr_status status = ASR_OK;
    for (;;) {
      if (asr_wait(stream, kMaxWait_ms) != ASR_OK) fail(ASR_TIMEOUT, "no END within %d ms", kMaxWait_ms);
      asr_event *taken = nullptr;
      check(asr_result(stream, &taken));
      const std::unique_ptr<asr_event, Close> event(taken);
      visit(event.get());
      if (asr_event_get_kind(taken) == ASR_EVENT_ERROR) status = asr_event_status(taken);
      if (asr_event_get_kind(taken) == ASR_EVENT_END) return status;
    }
  }
  static asr_status take_all(asr_stream *stream) {
    return take_all(stream, [](const asr_event *) {});
  }

  void count(uint64_t Share::*number) {
    std::lock_guard lock(mutex_);
    ++(share_.*number);
  }

  void print_row(double wall_s) {
    Share share;
    {
      std::lock_guard lock(mutex_);
      std::swap(share, share_);
    }
    const auto n = [](uint64_t value) { return static_cast<unsigned long long>(value); };
    std::vector<double> &ms = share.latencies_ms;
    std::sort(ms.begin(), ms.end());
    printf("%.2f,%.1f,%.1f,%.1f,%llu,%llu,%llu,%llu,%llu,%.2f,%.2f,%.2f,%.2f\n", audio_s() / 3600, wall_s, resident_mb(),
           heap_mb(), n(share.n_begun), n(share.n_final), n(share.n_cancelled), n(share.n_closed), n(share.n_timed_out),
           percentile(ms, 0.5), percentile(ms, 0.9), percentile(ms, 0.99), percentile(ms, 1));
    fflush(stdout);
  }

  // Compares the last quarter with the first, which fills caches and pools.
  bool memory_is_steady() const {
    fprintf(stderr, "soak: without streams the heap holds");
    for (const double mb : at_rest_mb_) fprintf(stderr, " %.2f", mb);
    fprintf(stderr, " MB, after each quarter\n");
    if (at_rest_mb_.back() <= at_rest_mb_.front() + kMaxGrowth_mb) return true;
    fprintf(stderr, "soak: memory grew\n");
    return false;
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
    } else if (name == "--rows") {
      options.n_rows = strtoull(value, nullptr, 10);
    } else if (name == "--seed") {
      options.seed = strtoull(value, nullptr, 10);
    } else {
      fail(ASR_INVALID_ARGUMENT, "no option %s; the top of tests/soak/soak.cc lists them", name.c_str());
    }
  }
  if (!(options.hours > 0) || options.n_threads == 0 || options.n_rows < kQuarters) {
    fail(ASR_INVALID_ARGUMENT, "--hours and --threads must be above 0, --rows at least 4");
  }
  return options;
}

}  // namespace
}  // namespace asr::soak

int main(int argc, char **argv) {
  try {
    return asr::soak::Soak(asr::soak::parse(argc, argv)).run() ? 0 : 1;
  } catch (const std::exception &error) {
    fprintf(stderr, "soak: %s\n", error.what());
    return 1;
  }
}
