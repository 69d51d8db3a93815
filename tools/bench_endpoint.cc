// SPDX-License-Identifier: Apache-2.0
// Implements `senone bench endpoint`: endless streams through the C ABI, fed as spoken. Recordings with pauses of noise between
// them are split into utterances by a preset of endpoints. The benchmark measures the time from the end of an
// utterance's last word to its FINAL. It also measures the time from the end of a word to the event that calls it
// stable.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>

#include "tools/bench_audio.h"
#include "tools/bench_stream.h"
#include "tools/progress.h"

namespace asr::tool {
namespace {

struct EndpointBench {
  StreamBench stream;
  std::vector<std::string> presets = {"command", "dictation", "captions"};
};

// Delays in seconds of wall time, and the numbers of words they belong to.
struct Delays {
  std::vector<double> final_s;     // from the end of the last word to FINAL
  std::vector<double> decision_s;  // from the last audio of the utterance, where ENDPOINT is, to FINAL
  std::vector<double> stable_s;    // from the end of a word to the first event that calls it stable
  size_t n_words = 0;              // words of the FINALs
  size_t n_early_words = 0;        // words stable before FINAL

  void add(const Delays &other) {
    final_s.insert(final_s.end(), other.final_s.begin(), other.final_s.end());
    decision_s.insert(decision_s.end(), other.decision_s.begin(), other.decision_s.end());
    stable_s.insert(stable_s.end(), other.stable_s.begin(), other.stable_s.end());
    n_words += other.n_words;
    n_early_words += other.n_early_words;
  }
};

double end_of_word(const asr_event *event, size_t index) {
  asr_word word{};
  word.size = sizeof word;
  check(asr_event_word(event, 0, index, &word));
  return word.end_s;
}

// One endless stream. It plays the audio from its own offset, around the end.
class Speaker {
 public:
  Speaker(asr_engine *engine, const StreamBench &bench, asr_endpoint endpoint, const BenchAudio &audio, double offset)
      : audio_(audio),
        at_(static_cast<size_t>(offset * static_cast<double>(audio.samples.size()))),
        n_left_(static_cast<size_t>(bench.seconds * audio.rate_hz)),
        chunk_(std::max<size_t>(1, size_t{audio.rate_hz} * bench.chunk_ms / 1000)) {
    asr_stream_config config = stream_config(bench);
    config.input = ASR_INPUT_FLOAT;
    config.sample_rate_hz = audio.rate_hz;
    config.endpoint = endpoint;
    config.partial_interval_ms = bench.partial_ms;
    config.callback = on_event;
    config.user_data = this;
    asr_stream *stream = nullptr;
    check(asr_open(engine, &config, &stream));
    stream_ = {stream, asr_close};
  }

  // Feeds the next chunk, or ends the stream after the last one; false after that.
  bool feed() {
    if (n_left_ == 0) {
      std::lock_guard lock(mutex_);
      finished_ = true;
      check(asr_finish(stream_.get()));
      return false;
    }
    const size_t n = std::min(chunk_, n_left_);
    const float *const samples = audio_.play(n, &at_, &room_);
    {
      std::lock_guard lock(mutex_);
      n_fed_ += n;
      fed_.push_back({static_cast<double>(n_fed_) / audio_.rate_hz, wall_seconds()});
    }
    check(asr_feed(stream_.get(), samples, n));
    n_left_ -= n;
    return true;
  }

  // Waits for END. Returns the delays of the utterances that ended before asr_finish.
  const Delays &wait() {
    check(asr_wait(stream_.get(), -1));
    if (!error_.empty()) fail(ASR_INTERNAL, "bench endpoint: %s", error_.c_str());
    return delays_;
  }

 private:
  struct Fed {
    double audio_s, wall_s;  // at wall_s the audio up to audio_s was fed
  };

  static void on_event(asr_stream *, asr_event *event, void *user_data) {
    const double now = wall_seconds();
    auto *speaker = static_cast<Speaker *>(user_data);
    {
      std::lock_guard lock(speaker->mutex_);
      speaker->take(event, now);
    }
    asr_event_free(event);
  }

  void take(const asr_event *event, double now) {
    switch (asr_event_get_kind(event)) {
      case ASR_EVENT_ERROR:
        error_ = asr_event_text(event);
        break;
      case ASR_EVENT_SPEECH_START:
        n_stable_ = 0;
        break;
      case ASR_EVENT_PARTIAL:
        take_stable_words(event, now);
        break;
      case ASR_EVENT_ENDPOINT:
        endpoint_s_ = asr_event_time_s(event);
        break;
      case ASR_EVENT_FINAL:
        if (!finished_) take_final(event, now);
        break;
      default:
        break;
    }
  }

  void take_stable_words(const asr_event *event, double now) {
    for (const size_t n = asr_event_n_stable_words(event); n_stable_ < n; ++n_stable_) {
      delays_.stable_s.push_back(now - fed_at(end_of_word(event, n_stable_)));
    }
  }

  void take_final(const asr_event *event, double now) {
    const size_t n_words = asr_event_n_words(event, 0);
    if (n_words == 0) return;
    delays_.n_words += n_words;
    delays_.n_early_words += n_stable_;
    take_stable_words(event, now);
    delays_.final_s.push_back(now - fed_at(end_of_word(event, n_words - 1)));
    delays_.decision_s.push_back(now - fed_at(endpoint_s_));
  }

  // Returns the time at which the audio up to audio_s was fed.
  double fed_at(double audio_s) const {
    const auto fed = std::lower_bound(fed_.begin(), fed_.end(), audio_s, [](const Fed &f, double s) { return f.audio_s < s; });
    return fed != fed_.end() ? fed->wall_s : fed_.back().wall_s;
  }

  const BenchAudio &audio_;
  size_t at_, n_left_, chunk_;
  std::vector<float> room_;
  StreamPointer stream_{nullptr, asr_close};
  std::mutex mutex_;  // guards the members below: written by feed() and in the stream's callback
  bool finished_ = false;
  size_t n_fed_ = 0, n_stable_ = 0;
  std::vector<Fed> fed_;
  double endpoint_s_ = 0;
  Delays delays_;
  std::string error_;
};

void add_row(asr_engine *engine, const StreamBench &bench, const std::string &preset, const BenchAudio &audio,
             uint32_t n_streams, BenchReport *report) {
  Progress progress(format("%s, %u streams", preset.c_str(), n_streams));
  progress.update(-1, format("fed as spoken, %g s", bench.seconds));
  std::vector<std::unique_ptr<Speaker>> speakers;
  for (uint32_t i = 0; i < n_streams; ++i) {
    speakers.push_back(
        std::make_unique<Speaker>(engine, bench, endpoint_preset(preset), audio, static_cast<double>(i) / n_streams));
  }
  feed_as_spoken(speakers.size(), bench.chunk_ms / 1e3, [&](size_t i) { return speakers[i]->feed(); });
  Delays all;
  for (const auto &speaker : speakers) all.add(speaker->wait());
  const auto share = [](size_t part, size_t whole) -> nlohmann::json {
    if (whole == 0) return nullptr;
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  report->row({preset, n_streams, all.final_s.size(), all.n_words, quantile_ms(all.final_s, 0.5),
               quantile_ms(all.final_s, 0.99), quantile_ms(all.decision_s, 0.5), quantile_ms(all.decision_s, 0.99),
               share(all.n_early_words, all.n_words), quantile_ms(all.stable_s, 0.5), quantile_ms(all.stable_s, 0.99)});
}

void run(const EndpointBench &bench) {
  const StreamBench &stream = bench.stream;
  const BenchAudio audio = read_bench_audio(stream.files, true);
  BenchReport report("endpoint", stream.common, choose_device(stream.common.device),
                     {{"endpoint", "endpoint", 0},
                      {"n_streams", "streams", 0},
                      {"n_utterances", "utterances", 0},
                      {"n_words", "words", 0},
                      {"final_ms_median", "word to final ms", 0},
                      {"final_ms_99", "99 %", 0},
                      {"decision_ms_median", "endpoint to final ms", 1},
                      {"decision_ms_99", "99 %", 1},
                      {"early_share", "stable before", 2},
                      {"stable_ms_median", "word to stable ms", 0},
                      {"stable_ms_99", "99 %", 0}});
  report.option("model", std::filesystem::path(stream.model).filename().string());
  if (!stream.search_device.empty()) report.option("search_device", stream.search_device);
  report.option("recordings", stream.files.size());
  report.option("audio_s", static_cast<double>(audio.samples.size()) / audio.rate_hz);
  report.option("seconds", stream.seconds);
  report.option("chunk_ms", stream.chunk_ms);
  report.option("partial_ms", stream.partial_ms);
  report.option("lattice_beam", stream.lattice_beam);
  for (const uint32_t n : stream.n_streams) {
    const EnginePointer engine = load_engine(stream, n);
    for (const std::string &preset : bench.presets) add_row(engine.get(), stream, preset, audio, n, &report);
  }
  report.note(
      "word to final: from feeding the end of an utterance's last word to its FINAL; endpoint to final: from feeding "
      "the utterance's last audio");
  report.note(
      "stable before: share of the words that a partial result calls stable; word to stable: from feeding a word's end "
      "to the event that calls it stable");
  report.print();
}

void add_endpoint(Command bench) {
  Command app = bench.command("endpoint", "From the end of speech to FINAL, in endless streams through the C ABI");
  auto options = std::make_shared<EndpointBench>();
  StreamBench &stream = options->stream;
  stream.common.n_repeats = 1;
  stream.common.n_threads = 0;
  stream.n_streams = {16};
  stream.seconds = 60;
  stream.chunk_ms = 20;
  stream.common.add_to(app);
  app.option("--model", stream.model, "Bundle").required();
  app.option("recordings", stream.files, "Mono recordings of one rate, with 0.5 to 3 s of noise before each").required();
  app.option("--endpoint", options->presets, "Presets, a row each")
      .separated_by(',')
      .one_each_time()
      .one_of({"command", "dictation", "captions"})
      .shows_default();
  add_stream_options(app, &stream);
  app.callback([options] { run(*options); });
}

const Benchmark kBenchEndpoint{"endpoint", add_endpoint};

}  // namespace
}  // namespace asr::tool
