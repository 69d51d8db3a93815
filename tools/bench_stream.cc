// SPDX-License-Identifier: Apache-2.0
// Implements `senone bench stream`: recordings through the C ABI, like a product, on many streams at once. Each number of
// streams is measured twice. Fed at full speed, it gives the throughput in times real time. Fed like microphones, chunk by
// chunk, it gives the latency from a chunk to the words of its audio. bench_stream_features.cc does this for archives of
// features. With --warps the streams are fed once more, each with a speaker whose warp is searched for (docs/adaptation.md).
#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>

#include "core/base/limits.h"
#include "tools/bench_audio.h"
#include "tools/bench_stream.h"
#include "tools/progress.h"

namespace asr::tool {
namespace {

// One source of audio. It plays the recordings repeatedly; each source starts at its own offset.
class Source {
 public:
  enum class Use { kPlain, kWithPartials, kSearchesWarps };

  Source(asr_engine *engine, const StreamBench &bench, const BenchAudio &audio, size_t number, Use use)
      : audio_(audio),
        at_(audio.samples.size() / 97 * number % audio.samples.size()),
        n_left_(static_cast<size_t>(bench.seconds * audio.rate_hz)),
        chunk_(std::max<size_t>(1, size_t{audio.rate_hz} * bench.chunk_ms / 1000)) {
    asr_stream_config config = stream_config(bench);
    config.input = ASR_INPUT_FLOAT;
    config.sample_rate_hz = audio.rate_hz;
    config.cmn = ASR_CMN_LIVE;
    config.partial_interval_ms = use == Use::kWithPartials ? bench.partial_ms : 0;
    config.max_backlog_ms = 0;
    config.callback = on_event;
    config.user_data = this;
    if (use == Use::kSearchesWarps) {
      asr_speaker *speaker = nullptr;
      check(asr_speaker_new(engine, &speaker));
      speaker_ = {speaker, asr_speaker_free};
      check(asr_speaker_set_methods(speaker, ASR_SPEAKER_VTLN, bench.n_warps));
      config.speaker = speaker;
    }
    asr_stream *stream = nullptr;
    check(asr_open(engine, &config, &stream));
    stream_ = {stream, asr_close};
  }

  // Feeds the next chunk, or ends the stream after the last one; false after that.
  bool feed() {
    if (n_left_ == 0) {
      finished_s_ = wall_seconds();
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

  void wait() {
    check(asr_wait(stream_.get(), -1));
    if (!error_.empty()) fail(ASR_INTERNAL, "bench stream: %s", error_.c_str());
  }

  // Call after wait(). Returns, for each partial result, the seconds from feeding the last chunk of its audio to the result.
  const std::vector<double> &latencies() const { return latencies_; }
  double final_latency() const { return final_s_ - finished_s_; }
  double audio_s() const { return static_cast<double>(n_fed_) / audio_.rate_hz; }

 private:
  struct Fed {
    double audio_s, wall_s;  // at wall_s the audio up to audio_s was fed
  };

  static void on_event(asr_stream *, asr_event *event, void *user_data) {
    const double now = wall_seconds();
    auto *source = static_cast<Source *>(user_data);
    const asr_event_kind kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_PARTIAL) source->take_partial(asr_event_time_s(event), now);
    if (kind == ASR_EVENT_FINAL) source->final_s_ = now;
    if (kind == ASR_EVENT_ERROR) source->error_ = asr_event_text(event);
    asr_event_free(event);
  }

  void take_partial(double audio_s, double now) {
    std::lock_guard lock(mutex_);
    const auto fed = std::lower_bound(fed_.begin(), fed_.end(), audio_s, [](const Fed &f, double s) { return f.audio_s < s; });
    if (fed != fed_.end()) latencies_.push_back(now - fed->wall_s);
  }

  const BenchAudio &audio_;
  size_t at_, n_left_, chunk_;
  std::vector<float> room_;
  std::unique_ptr<asr_speaker, void (*)(asr_speaker *)> speaker_{nullptr, asr_speaker_free};
  StreamPointer stream_{nullptr, asr_close};
  std::mutex mutex_;  // guards the members below: written here, read in the stream's callback
  size_t n_fed_ = 0;
  std::vector<Fed> fed_;
  std::vector<double> latencies_;
  double finished_s_ = 0, final_s_ = 0;
  std::string error_;
};

using Sources = std::vector<std::unique_ptr<Source>>;

Sources open_sources(asr_engine *engine, const StreamBench &bench, const BenchAudio &audio, uint32_t n, Source::Use use) {
  Sources sources;
  for (uint32_t i = 0; i < n; ++i) sources.push_back(std::make_unique<Source>(engine, bench, audio, i, use));
  return sources;
}

// Returns the duration of the audio divided by the time taken.
double times_real_time(asr_engine *engine, const StreamBench &bench, const BenchAudio &audio, uint32_t n_streams,
                       Source::Use use) {
  const Sources sources = open_sources(engine, bench, audio, n_streams, use);
  const double begin_s = wall_seconds();
  for (const auto &source : sources) {
    while (source->feed()) {
    }
  }
  double audio_s = 0;
  for (const auto &source : sources) {
    source->wait();
    audio_s += source->audio_s();
  }
  return audio_s / (wall_seconds() - begin_s);
}

void add_row(const StreamBench &bench, const BenchAudio &audio, uint32_t n_streams, BenchReport *report) {
  Progress progress(format("%u streams", n_streams));
  progress.update(-1, "loading");
  const EnginePointer engine = load_engine(bench, n_streams);
  const auto fastest_of = [&](Source::Use use) {
    double fastest = 0;
    for (uint32_t i = 0; i < bench.common.n_repeats; ++i) {
      progress.update(-1, format("fed at once, %u of %u repeats", i, bench.common.n_repeats));
      fastest = std::max(fastest, times_real_time(engine.get(), bench, audio, n_streams, use));
    }
    return fastest;
  };
  const double fastest = fastest_of(Source::Use::kPlain);
  const double calibrating = bench.n_warps > 0 ? fastest_of(Source::Use::kSearchesWarps) : 0;

  progress.update(-1, format("fed as spoken, %g s", bench.seconds));
  const Sources sources = open_sources(engine.get(), bench, audio, n_streams, Source::Use::kWithPartials);
  feed_as_spoken(sources.size(), bench.chunk_ms / 1e3, [&](size_t i) { return sources[i]->feed(); });
  std::vector<double> partials, finals;
  for (const auto &source : sources) {
    source->wait();
    partials.insert(partials.end(), source->latencies().begin(), source->latencies().end());
    finals.push_back(source->final_latency());
  }
  std::vector<nlohmann::json> row = {n_streams,
                                     fastest,
                                     fastest / n_streams,
                                     quantile_ms(partials, 0.5),
                                     quantile_ms(partials, 0.99),
                                     quantile_ms(finals, 0.5),
                                     quantile_ms(finals, 0.99)};
  if (bench.n_warps > 0) row.insert(row.end(), {calibrating, calibrating / fastest});
  report->row(row);
}

void run(const StreamBench &bench) {
  const bool has_rows = !bench.features.empty() || !bench.loglikes.empty();
  if (bench.files.empty() != has_rows) throw UsageError("bench stream: give recordings, --features or --loglikes");
  if (bench.device_rows && bench.loglikes.empty()) throw UsageError("bench stream: --device-rows needs --loglikes");
  if (has_rows && bench.n_warps > 0) throw UsageError("bench stream: --warps needs recordings");
  if (bench.n_warps != 0 && bench.n_warps != 11 && bench.n_warps != 21)
    throw UsageError(format("bench stream: --warps is %u but must be 11 or 21", bench.n_warps));
  if (has_rows) return stream_features(bench);
  const BenchAudio audio = read_bench_audio(bench.files);
  std::vector<BenchReport::Column> columns = {{"n_streams", "streams", 0},
                                              {"times_real_time", "x real time", 1},
                                              {"times_real_time_per_stream", "per stream", 2},
                                              {"partial_ms_median", "partial ms", 1},
                                              {"partial_ms_99", "99 %", 1},
                                              {"final_ms_median", "final ms", 1},
                                              {"final_ms_99", "99 %", 1}};
  if (bench.n_warps > 0) {
    columns.push_back({"calibrating_times_real_time", "calibrating", 1});
    columns.push_back({"calibrating_share", "share", 3});
  }
  BenchReport report("stream", bench.common, choose_device(bench.common.device), columns);
  report.option("model", std::filesystem::path(bench.model).filename().string());
  if (!bench.search_device.empty()) report.option("search_device", bench.search_device);
  report.option("recordings", bench.files.size());
  report.option("seconds", bench.seconds);
  report.option("chunk_ms", bench.chunk_ms);
  report.option("partial_ms", bench.partial_ms);
  report.option("window", bench.window);
  report.option("lattice_beam", bench.lattice_beam);
  if (bench.n_warps > 0) report.option("warps", bench.n_warps);
  for (const uint32_t n : bench.n_streams) add_row(bench, audio, n, &report);
  report.note(
      "x real time: audio of all streams over the time taken, fed at once; 1 or more a stream: all can be spoken at once");
  report.note(
      "partial ms: fed as spoken, from feeding the chunk that ends a partial result's audio to the result; final: from "
      "asr_finish");
  if (bench.n_warps > 0) {
    report.note(
        format("calibrating: x real time while %u warps of a speaker of each stream are searched, too; share: of the "
               "speed without",
               bench.n_warps));
  }
  report.print();
}

void add_stream(Command bench) {
  Command app = bench.command("stream", "From samples to words through the C ABI, on many streams at once");
  auto options = std::make_shared<StreamBench>();
  options->common.n_repeats = 3;
  options->common.n_threads = 0;
  options->common.add_to(app);
  app.option("--model", options->model, "Bundle").required();
  app.option("recordings", options->files, "Mono recordings of one rate; said over and over");
  app.option("--features", options->features, "Archive of features instead: how fast its utterances are recognised");
  app.option("--loglikes", options->loglikes, "Archive of log-likelihoods instead, for a model of tokens")
      .excludes("--features");
  app.flag("--device-rows", options->device_rows, "They are put into memory of the device beforehand, and fed from there");
  app.option("--utterances", options->n_utterances, "Utterances of the archive in turn; default: all, or four for each stream");
  add_stream_options(app, options.get());
  app.option("--warps", options->n_warps, "Speed also with a speaker of each stream, of whose warps 11 or 21 are tried");
  app.option("--beam", options->beam, "Width of the search; default: the bundle's");
  app.option("--max-active", options->max_active, "Most tokens kept a frame; default: the bundle's");
  app.option("--acoustic-scale", options->acoustic_scale, "Factor on log-likelihoods; default: the bundle's");
  app.callback([options] { run(*options); });
}

const Benchmark kBenchStream{"stream", add_stream};

}  // namespace

void add_stream_options(Command app, StreamBench *bench) {
  app.option("--search-device", bench->search_device, "Device that searches what --device has scored; default: --device");
  app.option("--streams", bench->n_streams, "Numbers of streams, a row each")
      .separated_by(',')
      .one_each_time()
      .range(1, 100000)
      .shows_default();
  app.option("--lanes", bench->n_lanes, "Streams advanced in one step; default: all, 1024 at most").range(1u, kMaxLanes);
  app.option("--window", bench->window, "Most frames of a step").range(8, 256).shows_default();
  app.option("--seconds", bench->seconds, "Audio of each stream").range(0.1, 1e5).shows_default();
  app.option("--chunk-ms", bench->chunk_ms, "Audio fed at a time").range(1, 10000).shows_default();
  app.option("--partial-ms", bench->partial_ms, "Audio between partial results").range(10, 100000).shows_default();
  app.option("--lattice-beam", bench->lattice_beam, "Final results with lattices of this width; 0: without")
      .range(0.0, 1000.0)
      .shows_default();
}

EnginePointer load_engine(const StreamBench &bench, uint32_t n_streams) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = bench.common.device.c_str();
  config.search_device = bench.search_device.c_str();
  config.max_lanes = std::min(bench.n_lanes > 0 ? bench.n_lanes : n_streams, kMaxLanes);
  config.window_frames = bench.window;
  config.n_threads = bench.common.n_threads;
  asr_engine *engine = nullptr;
  check(asr_engine_load(bench.model.c_str(), &config, &engine));
  return {engine, asr_engine_close};
}

asr_stream_config stream_config(const StreamBench &bench) {
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.beam = bench.beam;
  config.max_active = bench.max_active;
  config.acoustic_scale = bench.acoustic_scale;
  config.lattice_beam = bench.lattice_beam;
  return config;
}

}  // namespace asr::tool
