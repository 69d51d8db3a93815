// SPDX-License-Identifier: Apache-2.0
// recording [--hours H] [--sound silence|noise|speech] [--lattice-beam B] [--bundle DIR] [--speech FILE] [--device D]
//           [--marks N] [--most-mb MB] [--measured 1]
// Feeds H hours (default 1) of one sound (default silence) through one stream without endpoints, and prints N times (default
// 12) the audio so far, the seconds, and the process's memory: its anonymous pages, and what malloc has handed out. It does
// so with the tone bundle, or with the bundle DIR, of which FILE has some speech: 16-bit samples of 16 kHz, which are
// repeated. --measured 1: the mean is that of the whole, which a stream before measures. The exit status is 1 if the pages grow
// by more than MB an hour (default 1) after the first quarter. The table "Memory over a day" of docs/soak.md was made with it.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "api/asr.h"
#include "core/base/error.h"
#include "tests/api/tone_bundle.h"
#include "tests/sanitized.h"

namespace asr::soak {
namespace {

constexpr size_t kRate_hz = 16000;

struct Options {
  double hours = 1, max_mb = 1;
  float lattice_beam = 0;
  std::string sound = "silence", device = "cpu", bundle, speech;
  uint32_t n_marks = 12;
  bool is_measured = false;
};

void check(asr_status status) {
  if (status != ASR_OK) fail(status, "%s", asr_last_error());
}

struct Close {
  void operator()(asr_engine *engine) const { asr_engine_close(engine); }
  void operator()(asr_stream *stream) const { asr_close(stream); }
  void operator()(asr_event *event) const { asr_event_free(event); }
};

double heap_mb() { return 1e-6 * static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd); }

double own_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name; status.ignore(256, '\n')) {
    double kilobytes = 0;
    if (name == "RssAnon:" && status >> kilobytes) return 1.024e-3 * kilobytes;
  }
  return 0;
}

// Returns some seconds of the sound, which are repeated.
std::vector<int16_t> samples_of(const Options &options) {
  std::vector<int16_t> samples;
  if (options.sound == "silence") {
    samples.assign(kRate_hz, 0);
  } else if (options.sound == "noise") {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 1000);
    for (size_t i = 0; i < 61 * kRate_hz; ++i) samples.push_back(static_cast<int16_t>(normal(random)));
  } else if (options.sound == "speech" && options.speech.empty()) {
    for (const char *words : {"low mid", "high low mid", "mid", "high mid"}) {
      const std::vector<int16_t> more = test::speak(words);
      samples.insert(samples.end(), more.begin(), more.end());
    }
  } else if (options.sound == "speech") {
    std::ifstream file(options.speech, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    samples.resize(bytes.size() / 2);
    std::copy_n(bytes.data(), 2 * samples.size(), reinterpret_cast<char *>(samples.data()));
  }
  if (samples.empty()) fail(ASR_INVALID_ARGUMENT, "no sound \"%s\", or an empty file", options.sound.c_str());
  return samples;
}

class Recording {
 public:
  explicit Recording(const Options &options) : options_(options), samples_(samples_of(options)) {
    asr_engine_config config;
    asr_engine_config_default(&config);
    config.device = options.device.c_str();
    config.n_threads = 1;
    asr_engine *engine = nullptr;
    check(asr_engine_load(options.bundle.empty() ? test::tone_bundle().c_str() : options.bundle.c_str(), &config, &engine));
    engine_.reset(engine);
    asr_stream_config_default(&stream_config_);
    stream_config_.sample_rate_hz = kRate_hz;
    stream_config_.max_utterance_s = static_cast<uint32_t>(3600 * options.hours) + 1;
  }

  bool run() {
    if (options_.is_measured) measure();
    stream_config_.cmn = options_.is_measured ? ASR_CMN_BATCH : options_.bundle.empty() ? ASR_CMN_MODEL : ASR_CMN_LIVE;
    stream_config_.lattice_beam = options_.lattice_beam;
    open();
    if (options_.is_measured) check(asr_stream_set_state(stream_.get(), state_.data(), state_.size()));
    double first_mb = 0;
    for (uint32_t mark = 1; mark <= options_.n_marks; ++mark) {
      feed_to(static_cast<uint64_t>(3600 * options_.hours * kRate_hz * mark / options_.n_marks));
      print();
      if (4 * mark <= options_.n_marks) first_mb = own_mb();
    }
    const double growth = (own_mb() - first_mb) / (options_.hours * 0.75);
    finish();
    printf("%-8s %5s: %.2f MB more an hour; after FINAL of %zu words ", options_.sound.c_str(), beam().c_str(), growth,
           n_words_);
    print();
    if (growth <= options_.max_mb || test::kSanitized) return true;  // a sanitizer keeps freed memory
    fprintf(stderr, "recording: memory grew by %.2f MB an hour, more than %.2f\n", growth, options_.max_mb);
    return false;
  }

 private:
  void open() {
    asr_stream *stream = nullptr;
    check(asr_open(engine_.get(), &stream_config_, &stream));
    stream_.reset(stream);
    n_fed_ = 0;
    ended_ = false;
  }

  void measure() {
    stream_config_.cmn = ASR_CMN_MEASURE;
    open();
    feed_to(static_cast<uint64_t>(3600 * options_.hours * kRate_hz));
    finish();
    printf("measured ");
    print();
    size_t n_bytes = 0;
    state_.resize(16384);
    check(asr_stream_get_state(stream_.get(), state_.data(), state_.size(), &n_bytes));
    state_.resize(n_bytes);
  }

  std::string beam() const { return format("%g", static_cast<double>(options_.lattice_beam)); }

  void print() const {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    printf("%-8s %5s %7.2f h %8.1f s %8.1f MB own %8.1f MB heap\n", options_.sound.c_str(), beam().c_str(),
           static_cast<double>(n_fed_) / kRate_hz / 3600, taken.count(), own_mb(), heap_mb());
    fflush(stdout);
  }

  void feed_to(uint64_t n_samples) {
    while (n_fed_ < n_samples) {
      const size_t at = n_fed_ % samples_.size();
      const size_t n = std::min<uint64_t>({samples_.size() - at, n_samples - n_fed_, kRate_hz});
      check(asr_feed(stream_.get(), samples_.data() + at, n));
      n_fed_ += n;
      take_ready();
    }
  }

  void finish() {
    check(asr_finish(stream_.get()));
    while (!ended_) {
      check(asr_wait(stream_.get(), -1));
      take_ready();
    }
  }

  void take_ready() {
    for (;;) {
      asr_event *taken = nullptr;
      check(asr_result(stream_.get(), &taken));
      if (taken == nullptr) return;
      const std::unique_ptr<asr_event, Close> event(taken);
      if (asr_event_get_kind(taken) == ASR_EVENT_ERROR) fail(asr_event_status(taken), "%s", asr_event_text(taken));
      if (asr_event_get_kind(taken) == ASR_EVENT_FINAL) n_words_ = asr_event_n_words(taken, 0);
      if (asr_event_get_kind(taken) == ASR_EVENT_END) ended_ = true;
    }
  }

  const Options options_;
  const std::vector<int16_t> samples_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::unique_ptr<asr_engine, Close> engine_;
  asr_stream_config stream_config_{};
  std::unique_ptr<asr_stream, Close> stream_;
  std::string state_;  // of the mean that was measured
  uint64_t n_fed_ = 0;
  size_t n_words_ = 0;
  bool ended_ = false;
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const char *const value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--hours") {
      options.hours = atof(value);
    } else if (name == "--sound") {
      options.sound = value;
    } else if (name == "--lattice-beam") {
      options.lattice_beam = static_cast<float>(atof(value));
    } else if (name == "--bundle") {
      options.bundle = value;
    } else if (name == "--speech") {
      options.speech = value;
    } else if (name == "--device") {
      options.device = value;
    } else if (name == "--marks") {
      options.n_marks = static_cast<uint32_t>(atoi(value));
    } else if (name == "--measured") {
      options.is_measured = atoi(value) != 0;
    } else if (name == "--most-mb") {
      options.max_mb = atof(value);
    } else {
      fail(ASR_INVALID_ARGUMENT, "no option %s; the top of tests/soak/recording.cc lists them", name.c_str());
    }
  }
  if (!(options.hours > 0) || options.n_marks < 4) fail(ASR_INVALID_ARGUMENT, "--hours must be above 0, --marks at least 4");
  return options;
}

}  // namespace
}  // namespace asr::soak

int main(int argc, char **argv) {
  try {
    return asr::soak::Recording(asr::soak::parse(argc, argv)).run() ? 0 : 1;
  } catch (const std::exception &error) {
    fprintf(stderr, "recording: %s\n", error.what());
    return 1;
  }
}
