// SPDX-License-Identifier: Apache-2.0
// neighbour [--model BUNDLE --list FILE] [--device D] [--card N] [--leave MB] [--when before|after] [--streams N]
//           [--lattice-beam B] [--beam B] [--rounds N]
// Recognises on a GPU of which another process has taken all but MB: the usual neighbour is a program for training. All results
// must have the bits of those with the GPU to itself, and the memory must come back. The other process fills the GPU before the
// engine is loaded, or after. FILE has lines "PATH ID" of recordings of 16 kHz; without a model the tone bundle speaks. MB
// counts what the engine may take: this process has used the GPU before, so that the driver's own memory for a process is not
// part of it. OpenCL has that memory for an engine, so there only "after" counts like this. Without --leave nothing is filled.
// The last line sums up. The exit status is 1 if a stream failed or a result differed, 77 if there is no such device.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <sstream>

#include "core/base/error.h"
#include "tests/api/tone_bundle.h"
#include "tests/neighbour/card.h"
#include "tests/stress/session.h"
#include "tools/audio_file.h"

namespace asr::neighbour {
namespace {

using stress::Fate;
using stress::Recording;
using stress::Session;

struct Options {
  std::string model, list, device = "cuda", when = "before";
  std::optional<double> leave_mb;
  uint32_t card = 0, n_streams = 16, n_rounds = 1;
  float beam = 0, lattice_beam = 0;
};

using EnginePointer = std::unique_ptr<asr_engine, void (*)(asr_engine *)>;

EnginePointer load_engine(const std::string &bundle, const Options &options) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = options.device.c_str();
  config.max_lanes = options.n_streams;
  asr_engine *engine = nullptr;
  if (const asr_status status = asr_engine_load(bundle.c_str(), &config, &engine)) fail(status, "%s", asr_last_error());
  return {engine, asr_engine_close};
}

Recording read_recording(const std::string &path, const std::string &id) {
  tool::AudioFile file(path, tool::AudioOptions{});
  if (file.rate_hz() != 16000 || file.n_channels() != 1) fail(ASR_BAD_FILE, "%s: not 16 kHz and one channel", path.c_str());
  Recording recording;
  recording.id = id;
  std::vector<float> piece(16000);
  while (const size_t n = file.read(piece.data(), piece.size())) {
    for (size_t i = 0; i < n; ++i) {
      recording.samples.push_back(static_cast<int16_t>(std::max(-32768.0f, std::min(32767.0f, piece[i] * 32768))));
    }
  }
  recording.n = recording.samples.size();
  return recording;
}

std::vector<Recording> read_recordings(const Options &options) {
  std::vector<Recording> recordings;
  if (options.list.empty()) {
    for (const char *words : {"low", "mid high", "high low mid", "low low high mid", "mid high low low high"}) {
      Recording recording;
      recording.id = std::string("'") + words + "'";
      recording.samples = test::speak(words);
      recording.n = recording.samples.size();
      recordings.push_back(std::move(recording));
    }
    return recordings;
  }
  std::ifstream list(options.list);
  for (std::string line; std::getline(list, line);) {
    std::istringstream fields(line);
    std::string path, id;
    if (fields >> path >> id) recordings.push_back(read_recording(path, id));
  }
  if (recordings.empty()) fail(ASR_BAD_FILE, "%s: no recordings in it", options.list.c_str());
  return recordings;
}

class Neighbour {
 public:
  Neighbour(const Options &options, const Card *card)
      : options_(options),
        card_(card),
        bundle_(options.model.empty() ? test::tone_bundle() : options.model),
        recordings_(read_recordings(options)),
        alone_(recordings_.size()) {}

  int run() {
    {
      const EnginePointer engine = load_engine(bundle_, options_);
      recognize_all(engine.get(), false);
    }
    const uint64_t n_before = card_ != nullptr ? card_->free_bytes() : 0;
    EnginePointer engine(nullptr, asr_engine_close);
    if (options_.when == "after") engine = load_engine(bundle_, options_);
    uint64_t n_left = 0, n_min = 0;
    if (card_ != nullptr) n_left = card_->leave(static_cast<uint64_t>(*options_.leave_mb * 1e6));
    if (engine == nullptr) engine = load_engine(bundle_, options_);
    for (uint32_t round = 0; round < options_.n_rounds; ++round) recognize_all(engine.get(), true);
    if (card_ != nullptr) n_min = card_->free_bytes();
    engine.reset();
    const uint64_t n_after = card_ != nullptr ? card_->give_back() : 0;
    if (n_after != n_before)
      say(format("%llu bytes were free before and %llu are after the engine was closed", mine(n_before), mine(n_after)));
    printf("%u streams on %s, filled %s: %zu results compared, %u failed or differ", options_.n_streams,
           options_.device.c_str(), options_.when.c_str(), n_compared_, n_wrong_);
    if (card_ != nullptr) {
      printf("; %.0f MB were left, %.0f MB of them at the end, %.0f MB free without both", n_left / 1e6, n_min / 1e6,
             n_after / 1e6);
    }
    printf("\n");
    return n_wrong_ == 0 && n_compared_ > 0 ? 0 : 1;
  }

 private:
  static unsigned long long mine(uint64_t n) { return n; }

  void say(const std::string &what) {
    constexpr uint32_t kMaxShown = 20;
    if (++n_wrong_ <= kMaxShown) fprintf(stderr, "neighbour: %s\n", what.c_str());
  }

  // Recognises all recordings, n_streams at a time, and notes or compares the results.
  void recognize_all(asr_engine *engine, bool compares) {
    struct Life {
      size_t recording;
      std::unique_ptr<Session> session;
    };
    const stress::Search search{options_.beam, options_.lattice_beam, 0, 0};
    const size_t n = std::max<size_t>(recordings_.size(), options_.n_streams);
    std::mt19937_64 random(1);
    std::vector<Life> lives;
    for (size_t next = 0; next < n || !lives.empty();) {
      while (next < n && lives.size() < options_.n_streams) {
        const size_t recording = next++ % recordings_.size();
        lives.push_back({recording, std::make_unique<Session>(engine, recordings_[recording], search, Fate::kRun, &random)});
      }
      for (size_t i = 0; i < lives.size();) {
        if (go_on(lives[i].recording, lives[i].session.get(), compares)) {
          ++i;
        } else {
          lives.erase(lives.begin() + static_cast<ptrdiff_t>(i));
        }
      }
    }
  }

  // Returns false at the end of the session's life.
  bool go_on(size_t recording, Session *session, bool compares) {
    try {
      if (session->step()) return true;
      const uint64_t digest = session->found()->digest;
      if (!alone_[recording]) alone_[recording] = digest;
      if (*alone_[recording] != digest) say(recordings_[recording].id + ": not the bits of the GPU to itself");
      if (compares) ++n_compared_;
    } catch (const std::exception &failure) {
      say(recordings_[recording].id + ": " + failure.what());
    }
    return false;
  }

  const Options options_;
  const Card *const card_;
  const std::string bundle_;
  const std::vector<Recording> recordings_;
  std::vector<std::optional<uint64_t>> alone_;  // checksums of the results without another process
  size_t n_compared_ = 0;
  uint32_t n_wrong_ = 0;
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    char *end = nullptr;
    const double number = strtod(value.c_str(), &end);
    const bool is_number = !value.empty() && *end == '\0' && number >= 0;
    if (name == "--model")
      options.model = value;
    else if (name == "--list")
      options.list = value;
    else if (name == "--device")
      options.device = value;
    else if (name == "--when" && (value == "before" || value == "after"))
      options.when = value;
    else if (!is_number)
      fail(ASR_INVALID_ARGUMENT, "%s has no value \"%s\"", name.c_str(), value.c_str());
    else if (name == "--card")
      options.card = static_cast<uint32_t>(number);
    else if (name == "--leave")
      options.leave_mb = number;
    else if (name == "--streams")
      options.n_streams = static_cast<uint32_t>(number);
    else if (name == "--rounds")
      options.n_rounds = static_cast<uint32_t>(number);
    else if (name == "--beam")
      options.beam = static_cast<float>(number);
    else if (name == "--lattice-beam")
      options.lattice_beam = static_cast<float>(number);
    else
      fail(ASR_INVALID_ARGUMENT, "no option %s", name.c_str());
  }
  if (options.model.empty() != options.list.empty()) fail(ASR_INVALID_ARGUMENT, "--model and --list go together");
  if (options.beam == 0 && options.model.empty()) options.beam = 200;  // for the tone bundle
  return options;
}

int run(int argc, char **argv) {
  try {
    const Options options = parse(argc, argv);
    std::unique_ptr<Card> card;  // first: this process has used no GPU
    if (options.leave_mb) card = std::make_unique<Card>(options.card);
    if (card != nullptr && !card->obstacle().empty()) fail(ASR_NO_DEVICE, "%s", card->obstacle().c_str());
    return Neighbour(options, card.get()).run();
  } catch (const Error &error) {
    const bool skipped = error.code() == ASR_NO_DEVICE;
    fprintf(stderr, "%s%s\n", skipped ? "skipped: " : "neighbour: ", error.what());
    return skipped ? 77 : 1;
  } catch (const std::exception &error) {
    fprintf(stderr, "neighbour: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace asr::neighbour

int main(int argc, char **argv) { return asr::neighbour::run(argc, argv); }
