// SPDX-License-Identifier: Apache-2.0
// Implements `senone bench stream --features` and --loglikes: the utterances of an archive through the C ABI, with a fixed
// number of open streams. A stream is fed its whole utterance at once. When it has ended, another is opened in its slot for the
// next utterance. Several threads open, feed and close streams, so that feeding is not the bottleneck. Engines are loaded
// before the clock starts.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "core/backend/asr_backend_given.h"
#include "tools/bench_features.h"
#include "tools/bench_stream.h"

namespace asr::tool {
namespace {

constexpr uint32_t kMaxFeeders = 16;

// One pass over n utterances.
class Pass {
 public:
  // on_device: the rows in memory of the engine's device; nullptr: they are fed from the host.
  Pass(asr_engine *engine, const StreamBench &bench, const FeatureRows &features, const asr_device_rows *on_device,
       uint32_t n_streams, uint64_t n_utterances)
      : engine_(engine), features_(features), on_device_(on_device), n_utterances_(n_utterances), places_(n_streams) {
    config_ = stream_config(bench);
    config_.input = bench.loglikes.empty() ? ASR_INPUT_FEATURES : ASR_INPUT_LOGLIKES;
    if (on_device != nullptr) config_.rows_memory = on_device->memory;
    config_.max_backlog_ms = 0;
    config_.callback = on_event;
    for (uint64_t row = 0, i = 0; i < features.n_frames.size(); row += features.n_frames[i++]) first_row_.push_back(row);
    for (Place &place : places_) {
      place.pass = this;
      free_.push_back(&place);
    }
  }

  void run() {
    std::vector<std::thread> feeders;
    const auto n_cores = std::max(1u, std::thread::hardware_concurrency());
    const size_t n_feeders = std::min({size_t{kMaxFeeders}, size_t{n_cores}, places_.size()});
    for (size_t i = 0; i < n_feeders; ++i) feeders.emplace_back([this] { feed(); });
    for (std::thread &feeder : feeders) feeder.join();
    if (failure_) std::rethrow_exception(failure_);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return n_open_ == 0; });
  }

  // Valid after run().
  uint64_t n_frames() const { return n_frames_; }
  uint64_t n_failed() const { return n_failed_; }
  const std::string &first_error() const { return first_error_; }

 private:
  // A slot for one open stream at a time. A callback returns it when its stream has ended; a feeder then closes the stream.
  struct Place {
    Pass *pass = nullptr;
    StreamPointer stream{nullptr, asr_close};
    bool has_final = false;  // the stream's callbacks are serialised
  };

  void feed() {
    try {
      uint64_t number = 0;
      while (Place *place = next_place(&number)) open(place, number);
    } catch (...) {
      std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  // Returns a slot without a running stream, and the next utterance; nullptr when all have begun.
  Place *next_place(uint64_t *number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !free_.empty() || n_begun_ == n_utterances_ || failure_; });
    if (n_begun_ == n_utterances_ || failure_) return nullptr;
    Place *place = free_.front();
    free_.pop_front();
    *number = n_begun_++ % first_row_.size();
    n_frames_ += features_.n_frames[*number];
    ++n_open_;
    return place;
  }

  void open(Place *place, uint64_t number) {
    place->stream.reset();
    place->has_final = false;
    asr_stream_config config = config_;
    config.user_data = place;
    asr_stream *stream = nullptr;
    check(asr_open(engine_, &config, &stream));
    place->stream = {stream, asr_close};
    const uint64_t first = first_row_[number] * features_.n_dims;
    if (on_device_ != nullptr) {
      asr_device_rows rows = *on_device_;
      rows.offset = first * sizeof(float);
      check(asr_feed_device(stream, &rows, features_.n_frames[number]));
    } else {
      check(asr_feed(stream, features_.values.data() + first, features_.n_frames[number]));
    }
    check(asr_finish(stream));
  }

  static void on_event(asr_stream *, asr_event *event, void *user_data) {
    auto *place = static_cast<Place *>(user_data);
    const asr_event_kind kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_FINAL) place->has_final = true;
    if (kind == ASR_EVENT_ERROR) place->pass->note_error(asr_event_text(event));
    asr_event_free(event);
    if (kind == ASR_EVENT_END) place->pass->hand_back(place);
  }

  void note_error(const char *message) {
    std::lock_guard lock(mutex_);
    if (first_error_.empty()) first_error_ = message;
  }

  void hand_back(Place *place) {
    std::lock_guard lock(mutex_);
    n_failed_ += !place->has_final;
    --n_open_;
    free_.push_back(place);
    changed_.notify_all();
  }

  asr_engine *const engine_;
  const FeatureRows &features_;
  const asr_device_rows *const on_device_;
  const uint64_t n_utterances_;
  std::vector<uint64_t> first_row_;  // [utterance]
  asr_stream_config config_{};
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Place *> free_;
  uint64_t n_begun_ = 0, n_open_ = 0, n_frames_ = 0, n_failed_ = 0;
  std::string first_error_;
  std::exception_ptr failure_;
  std::vector<Place> places_;  // last member, so that streams are closed before everything else
};

// Rows of the host, put into memory of an engine's device.
class OnDevice {
 public:
  OnDevice(const asr_engine *engine, const std::string &device, const std::vector<float> &values) {
    asr_engine_memory memory{};
    memory.size = sizeof(memory);
    check(asr_engine_get_memory(engine, &memory));
    const asr_backend_api &api = *choose_device(device).api;
    api_ = extension_of<asr_backend_given_api>(api, ASR_BACKEND_GIVEN);
    if (api_ == nullptr || memory.memory == ASR_MEMORY_HOST) {
      fail(ASR_UNSUPPORTED, "bench stream: --device-rows needs a device with memory of its own, such as cuda:0");
    }
    asr_device_rows_default(&rows_);
    if (api_->make(&memory, values.data(), values.size() * sizeof(float), 0, &rows_) != ASR_OK) {
      fail(ASR_OUT_OF_MEMORY, "bench stream: %s", api.last_error());
    }
    made_ = rows_;
    rows_.user = nullptr;
  }
  ~OnDevice() { api_->free_made(&made_); }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  const asr_device_rows *rows() const { return &rows_; }

 private:
  const asr_backend_given_api *api_;
  asr_device_rows rows_, made_;
};

double frame_shift_s(const asr_engine *engine) {
  asr_engine_info info;
  info.size = sizeof(info);
  check(asr_engine_get_info(engine, &info));
  return info.frame_shift_ms / 1000;
}

}  // namespace

void stream_features(const StreamBench &bench) {
  const bool are_loglikes = !bench.loglikes.empty();
  const std::string &archive = are_loglikes ? bench.loglikes : bench.features;
  const FeatureRows features = are_loglikes ? read_loglike_rows(bench.model, archive) : read_feature_rows(bench.model, archive);
  BenchReport report("stream", bench.common, choose_device(bench.common.device),
                     {{"n_streams", "streams", 0},
                      {"utterances", "utterances", 0},
                      {"audio_s", "audio s", 1},
                      {"seconds", "seconds", 3},
                      {"times_real_time", "x real time", 1},
                      {"times_real_time_median", "median", 1},
                      {"failed", "failed", 0},
                      {"peak_memory_mb", "peak MB", 0}});
  report.option("model", std::filesystem::path(bench.model).filename().string());
  if (!bench.search_device.empty()) report.option("search_device", bench.search_device);
  report.option(are_loglikes ? "loglikes" : "features", std::filesystem::path(archive).filename().string());
  if (are_loglikes) report.option("device_rows", bench.device_rows);
  report.option("window", bench.window);
  report.option("beam", bench.beam);
  report.option("max_active", bench.max_active);
  report.option("acoustic_scale", bench.acoustic_scale);
  report.option("lattice_beam", bench.lattice_beam);
  uint64_t n_failed = 0;
  std::string error;
  for (const uint32_t n_streams : bench.n_streams) {
    const EnginePointer engine = load_engine(bench, n_streams);
    std::optional<OnDevice> on_device;
    if (bench.device_rows) on_device.emplace(engine.get(), bench.common.device, features.values);
    const uint64_t n_utterances =
        bench.n_utterances > 0 ? bench.n_utterances : std::max<uint64_t>(features.n_frames.size(), uint64_t{4} * n_streams);
    uint64_t n_frames = 0;
    const Timing time = time_repeats(bench.common.n_repeats, [&] {
      Pass pass(engine.get(), bench, features, on_device ? on_device->rows() : nullptr, n_streams, n_utterances);
      pass.run();
      n_frames = pass.n_frames();
      n_failed += pass.n_failed();
      if (error.empty()) error = pass.first_error();
    });
    const double audio_s = static_cast<double>(n_frames) * frame_shift_s(engine.get());
    report.row({n_streams, n_utterances, audio_s, time.min_s, audio_s / time.min_s, audio_s / time.median_s, n_failed,
                1e-6 * static_cast<double>(peak_memory_bytes())});
  }
  report.note("x real time: audio of all utterances over the time from opening the first stream to the end of the last");
  report.print();
  if (n_failed > 0) fail(ASR_INTERNAL, "bench stream: %llu streams failed: %s", (unsigned long long)n_failed, error.c_str());
}

}  // namespace asr::tool
