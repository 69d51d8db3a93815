// SPDX-License-Identifier: Apache-2.0
// stress [--model BUNDLE --features ARK] [--device D] [--seconds S] [--threads N] [--seed N] [--beam B] [--lattice-beam B]
//        [--acoustic-scale A] [--fallback cpu]
// Opens, feeds, finishes, cancels, closes and leaves streams of one engine at random, from many threads. Every result
// is compared with the CPU's for the same recording and options, within the differences of scores. It must equal the
// device's own first one bit for bit. Without a model it uses the tone bundle and sentences of it, as samples.
// Reference results are made when they are first needed; memory does not grow with time. The last line sums up. The
// exit status is 1 if anything differed or failed, 77 if there is no such device.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <thread>

#include "builder/import/kaldi_archive.h"
#include "core/base/error.h"
#include "tests/api/tone_bundle.h"
#include "tests/stress/session.h"

namespace asr::stress {
namespace {

constexpr size_t kOpenAtATime = 6, kLeftAtATime = 4;  // streams per thread
constexpr uint32_t kMaxFailuresShown = 20;

struct Options {
  std::string model, features, device = "cpu", fallback;
  double seconds = 10;
  uint64_t n_threads = 4, seed = 1;
  float beam = 0, lattice_beam = 8, acoustic_scale = 0;
};

// Few variants, so that reference results are few. Beams are fractions of the command line's.
struct Variant {
  float beam, lattice_beam;
  uint32_t max_active;
};
constexpr Variant kVariants[] = {{1, 0, 0}, {1, 1, 0}, {0.85f, 0.75f, 0}, {0.7f, 0, 0}, {0.9f, 0, 2000}, {1, 0.5f, 3000}};

using EnginePointer = std::unique_ptr<asr_engine, void (*)(asr_engine *)>;

EnginePointer load_engine(const std::string &bundle, const std::string &device, uint32_t max_lanes,
                          const std::string &fallback = "") {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = device.c_str();
  config.max_lanes = max_lanes;
  if (!fallback.empty()) config.fallback = fallback.c_str();
  asr_engine *engine = nullptr;
  if (const asr_status status = asr_engine_load(bundle.c_str(), &config, &engine)) fail(status, "%s", asr_last_error());
  return {engine, asr_engine_close};
}

std::vector<Recording> read_recordings(const Options &options) {
  std::vector<Recording> recordings;
  if (options.features.empty()) {
    for (const char *words : {"low", "mid high", "high low mid", "low low high mid", "mid high low low high", ""}) {
      Recording recording;
      recording.id = std::string("'") + words + "'";
      recording.samples = test::speak(words);
      recording.n = recording.samples.size();
      recordings.push_back(std::move(recording));
    }
    return recordings;
  }
  for (auto &[key, matrix] : kaldi::read_archive<float>("ark:" + options.features)) {
    recordings.push_back({key, matrix.n_rows, matrix.n_cols, std::move(matrix.values), {}});
  }
  if (recordings.empty()) fail(ASR_BAD_FILE, "%s: no utterances in it", options.features.c_str());
  return recordings;
}

// Counts of all threads.
struct Tally {
  std::atomic<uint64_t> n_opened{0}, n_compared{0}, n_with_lattice{0}, n_cancelled{0}, n_closed{0}, n_left{0}, n_failures{0};

  void fail(const std::string &what) {
    if (++n_failures <= kMaxFailuresShown) fprintf(stderr, "stress: %s\n", what.c_str());
  }
};

class Stress {
 public:
  explicit Stress(const Options &options)
      : options_(options),
        bundle_(options.model.empty() ? test::tone_bundle() : options.model),
        recordings_(read_recordings(options)),
        cpu_(load_engine(bundle_, "cpu", static_cast<uint32_t>(options.n_threads))),
        engine_(load_engine(bundle_, options.device, 64, options.fallback)),
        expected_(recordings_.size() * std::size(kVariants)) {}

  // Returns 0 on success.
  int run() {
    const auto begin = std::chrono::steady_clock::now();
    deadline_ = begin + std::chrono::milliseconds(static_cast<int64_t>(1000 * options_.seconds));
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < options_.n_threads; ++i) threads.emplace_back([this, i] { work(options_.seed * 1000 + i); });
    for (std::thread &thread : threads) thread.join();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto n = [](const std::atomic<uint64_t> &count) { return static_cast<unsigned long long>(count.load()); };
    if (tally_.n_compared == 0) tally_.fail("no stream came to a result in the time given");
    printf(
        "stress on %s, seed %llu, %llu threads, %.0f s: %llu streams, %llu results compared (%llu with lattices), %llu "
        "cancelled, %llu closed early, %llu left, peak memory %ld MB, %llu differences or errors\n",
        options_.device.c_str(), (unsigned long long)options_.seed, (unsigned long long)options_.n_threads,
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), n(tally_.n_opened),
        n(tally_.n_compared), n(tally_.n_with_lattice), n(tally_.n_cancelled), n(tally_.n_closed), n(tally_.n_left),
        usage.ru_maxrss / 1000, n(tally_.n_failures));
    return tally_.n_failures == 0 ? 0 : 1;
  }

 private:
  // Reference results of a recording with a variant: the CPU's, and the device's first one.
  struct Expected {
    std::mutex mutex;
    std::optional<Found> cpu;
    std::optional<uint64_t> digest;
  };

  struct Life {
    size_t recording, variant;
    std::unique_ptr<Session> session;
  };

  void work(uint64_t seed) {
    Random random(seed);
    std::vector<Life> lives;
    std::deque<Life> left;
    for (;;) {
      const bool in_time = std::chrono::steady_clock::now() < deadline_;
      if (!in_time && lives.empty()) return;
      try {
        if (in_time && lives.size() < kOpenAtATime && random() % 4 == 0) lives.push_back(begin(&random));
        if (lives.empty()) continue;
      } catch (const std::exception &failure) {
        tally_.fail(failure.what());
        return;
      }
      const size_t i = random() % lives.size();
      if (go_on(lives[i])) continue;
      if (lives[i].session->fate() == Fate::kLeave) left.push_back(std::move(lives[i]));
      if (left.size() > kLeftAtATime) left.pop_front();
      lives.erase(lives.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  Life begin(Random *random) {
    constexpr Fate kFates[] = {Fate::kRun, Fate::kRun,    Fate::kRun,   Fate::kRun,
                               Fate::kRun, Fate::kCancel, Fate::kClose, Fate::kLeave};
    Life life{(*random)() % recordings_.size(), (*random)() % std::size(kVariants), nullptr};
    const Fate fate = kFates[(*random)() % std::size(kFates)];
    life.session = std::make_unique<Session>(engine_.get(), recordings_[life.recording], search(life.variant), fate, random);
    ++tally_.n_opened;
    tally_.n_cancelled += fate == Fate::kCancel;
    tally_.n_closed += fate == Fate::kClose;
    tally_.n_left += fate == Fate::kLeave;
    return life;
  }

  Search search(size_t variant) const {
    const Variant &v = kVariants[variant];
    return {v.beam * options_.beam, v.lattice_beam * options_.lattice_beam, options_.acoustic_scale, v.max_active};
  }

  // Returns false at the end of the session's life, after comparing its result.
  bool go_on(const Life &life) {
    try {
      if (life.session->step()) return true;
      if (life.session->found()) compare(life, *life.session->found());
    } catch (const std::exception &failure) {
      tally_.fail(format("%s, options %zu: %s", recordings_[life.recording].id.c_str(), life.variant, failure.what()));
    }
    return false;
  }

  void compare(const Life &life, const Found &found) {
    Expected &expected = expected_[life.recording * std::size(kVariants) + life.variant];
    std::lock_guard lock(expected.mutex);
    if (!expected.cpu) expected.cpu = recognize(cpu_.get(), recordings_[life.recording], search(life.variant));
    std::string what = difference(*expected.cpu, found);
    if (!expected.digest) expected.digest = is_cpu() ? expected.cpu->digest : found.digest;
    if (what.empty() && found.digest != *expected.digest) what = "not the bits that it was before";
    ++tally_.n_compared;
    tally_.n_with_lattice += !found.alternatives.empty();
    if (what.empty()) return;
    tally_.fail(format("%s, options %zu, %s: %s", recordings_[life.recording].id.c_str(), life.variant,
                       life.session->description().c_str(), what.c_str()));
  }

  bool is_cpu() const { return options_.device.rfind("cpu", 0) == 0; }

  const Options options_;
  const std::string bundle_;
  const std::vector<Recording> recordings_;
  const EnginePointer cpu_, engine_;
  std::chrono::steady_clock::time_point deadline_;
  std::vector<Expected> expected_;
  Tally tally_;
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    char *end = nullptr;
    const double number = strtod(value.c_str(), &end);
    const bool is_number = !value.empty() && *end == '\0' && number > 0;
    if (name == "--model")
      options.model = value;
    else if (name == "--features")
      options.features = value;
    else if (name == "--device")
      options.device = value;
    else if (name == "--fallback")
      options.fallback = value;
    else if (!is_number)
      fail(ASR_INVALID_ARGUMENT, "%s needs a number above 0", name.c_str());
    else if (name == "--seconds")
      options.seconds = number;
    else if (name == "--threads")
      options.n_threads = static_cast<uint64_t>(number);
    else if (name == "--seed")
      options.seed = static_cast<uint64_t>(number);
    else if (name == "--beam")
      options.beam = static_cast<float>(number);
    else if (name == "--lattice-beam")
      options.lattice_beam = static_cast<float>(number);
    else if (name == "--acoustic-scale")
      options.acoustic_scale = static_cast<float>(number);
    else
      fail(ASR_INVALID_ARGUMENT, "no option %s", name.c_str());
  }
  if (options.model.empty() != options.features.empty()) fail(ASR_INVALID_ARGUMENT, "--model and --features go together");
  if (options.beam == 0) options.beam = options.model.empty() ? 200 : 13;  // for the tone bundle, and for Kaldi's
  return options;
}

int run(int argc, char **argv) {
  try {
    return Stress(parse(argc, argv)).run();
  } catch (const Error &error) {
    const bool skipped = error.code() == ASR_NO_DEVICE;
    fprintf(stderr, "%s%s\n", skipped ? "skipped: " : "stress: ", error.what());
    return skipped ? 77 : 1;
  } catch (const std::exception &error) {
    fprintf(stderr, "stress: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace asr::stress

int main(int argc, char **argv) { return asr::stress::run(argc, argv); }
