// SPDX-License-Identifier: Apache-2.0
// Fuzzes the C ABI: the bytes of an input are calls in any order on up to four streams of the tone bundle. In any order
// of calls, a finished or cancelled stream reaches its END, once, and a call returns one of its documented codes.
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>

#include "api/asr.h"
#include "tests/api/tone_bundle.h"
#include "tests/fuzz/inspect_event.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/tone_engine.h"

namespace asr::fuzz {
namespace {

constexpr int kMaxWait_ms = 300000;  // allows for a heavily loaded machine
constexpr size_t kMaxCalls = 256;

const std::vector<int16_t> &speech() {
  static const std::vector<int16_t> samples = test::speak("low high mid");
  return samples;
}

asr_engine *load() {
  asr_engine *const engine = load_tone_engine();
  const std::string ends = test::tone_grammar_archive({"low", "high"});
  if (asr_engine_add_graph_bytes(engine, "ends", ends.data(), ends.size()) != ASR_OK) finding("%s", asr_last_error());
  return engine;
}

asr_engine *shared_engine() {
  static const std::unique_ptr<asr_engine, void (*)(asr_engine *)> engine(load(), asr_engine_close);
  return engine.get();
}

class Stream {
 public:
  // Members stay NULL if the configuration is refused.
  Stream(asr_engine *engine, Dice &dice) : config_(configuration(dice)) {
    const asr_status status = asr_open(engine, &config_, &stream_);
    if ((status == ASR_OK) != (stream_ != nullptr)) finding("asr_open gave %d and %s stream", status, stream_ ? "a" : "no");
  }
  ~Stream() { asr_close(stream_); }
  bool is_open() const { return stream_ != nullptr; }

  void feed_speech(Dice &dice) {
    const size_t begin = dice.below(64) * speech().size() / 64,
                 n = std::min<size_t>(size_t{250} * dice.below(64), speech().size() - begin);
    if (config_.input == ASR_INPUT_INT16) {
      const auto call = dice.below(2) == 0 ? asr_feed : asr_try_feed;
      check_feed(call(stream_, speech().data() + begin, n / config_.n_channels));
    } else {
      std::vector<float> values(speech().begin() + static_cast<ptrdiff_t>(begin),
                                speech().begin() + static_cast<ptrdiff_t>(begin + n));
      for (float &value : values) value /= 32768;
      feed_floats(values);
    }
  }
  void feed_bytes(Dice &dice) {
    std::vector<float> values(dice.byte());
    for (float &value : values) value = dice.pick({0, 1, -1, 1e-30f, 1e10f, -1e10f, 3e38f, -3e38f, INFINITY, NAN, 100, -100});
    feed_floats(values);
  }
  void end_utterance() {
    const asr_status status = asr_end_utterance(stream_);
    if (status == ASR_OK && config_.endpoint == ASR_ENDPOINT_OFF) finding("a stream without endpoints ends an utterance");
  }
  void cancel_utterance() {
    const asr_status status = asr_cancel_utterance(stream_);
    if (status == ASR_OK && config_.endpoint == ASR_ENDPOINT_OFF) finding("a stream without endpoints cancels an utterance");
  }
  void set_graph(Dice &dice) {
    const asr_status status = asr_set_graph(stream_, dice.below(3) == 0 ? "ends" : dice.below(3) == 0 ? "none" : "");
    if (status != ASR_OK && *asr_last_error() == '\0') finding("asr_set_graph gave %d without a message", status);
  }
  void boost(Dice &dice) {
    const char *const phrases[] = {"low", "High mid\nlow low", "# none", "", "low, mid\n\xe9"};
    const char *const text = phrases[dice.below(5)];
    const float bonus = dice.pick({7, -7, 0, 1000, -1000, 1e9f, NAN});
    const asr_status status =
        dice.below(5) == 0 ? asr_boost(stream_, nullptr, 0, 0) : asr_boost(stream_, text, strlen(text), bonus);
    if (status == ASR_OK && config_.lattice_beam == 0) finding("a stream without lattices takes boosts");
  }
  void reset() {
    if (asr_reset(stream_) != ASR_OK) finding("asr_reset failed: %s", asr_last_error());
    finished_ = ended_ = false;
  }
  // Sets the state of a stream, intact or damaged.
  void carry_state(Dice &dice) {
    unsigned char bytes[16384] = {};
    size_t n = 0;
    if (asr_stream_get_state(stream_, bytes, sizeof(bytes), &n) != ASR_OK) n = dice.below(64);
    if (dice.below(2) == 0 && n > 0) bytes[dice.byte() % n] ^= dice.byte();
    const asr_status status = asr_stream_set_state(stream_, bytes, n);
    if (status != ASR_OK && *asr_last_error() == '\0') finding("asr_stream_set_state gave %d without a message", status);
  }
  void finish() { finished_ |= asr_finish(stream_) == ASR_OK; }
  void cancel() { finished_ |= asr_cancel(stream_) == ASR_OK; }
  void wait(int32_t timeout_ms) {
    const asr_status status = asr_wait(stream_, timeout_ms);
    if (status != ASR_OK && status != ASR_TIMEOUT && status != ASR_INVALID_STATE) finding("asr_wait gave %d", status);
  }
  bool take() {
    asr_event *event = nullptr;
    if (asr_result(stream_, &event) != ASR_OK) finding("asr_result failed: %s", asr_last_error());
    if (event == nullptr) return false;
    if (ended_) finding("an event of kind %d after END", asr_event_get_kind(event));
    ended_ = asr_event_get_kind(event) == ASR_EVENT_END;
    inspect(event);
    asr_event_free(event);
    return true;
  }
  // Waits for END if it must come.
  void drain() {
    if (!finished_) return;
    const auto begin = std::chrono::steady_clock::now();
    while (!ended_) {
      if (!take()) wait(100);
      if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(kMaxWait_ms)) {
        finding("no END within %d ms", kMaxWait_ms);
      }
    }
  }

 private:
  asr_stream_config config_;
  asr_stream *stream_ = nullptr;
  bool finished_ = false, ended_ = false;

  static asr_stream_config configuration(Dice &dice) {
    asr_stream_config config;
    asr_stream_config_default(&config);
    config.input = static_cast<asr_input>(dice.below(7));
    const uint8_t given = dice.byte();
    if ((given & 1) != 0) config.sample_rate_hz = static_cast<uint32_t>(dice.pick({0, 999, 1000, 8000, 16000, 44100, 768000}));
    if ((given & 2) != 0) config.n_channels = dice.below(4);
    if ((given & 4) != 0) config.channel = static_cast<int32_t>(dice.below(5)) - 2;
    if ((given & 8) != 0) config.cmn = static_cast<asr_cmn>(dice.below(5));
    if ((given & 16) != 0) config.vtln_warp = dice.pick({0.8f, 1.25f, 1, 0.9f, 0, NAN});
    if ((given & 32) != 0) config.beam = dice.pick({0, 1e-3f, 10, 1e30f, -1, NAN});
    if ((given & 64) != 0) config.lattice_beam = dice.pick({0, 1, 8, 100, 1e30f, -1});
    if ((given & 128) != 0) configure_more(dice, config);
    return config;
  }
  static void configure_more(Dice &dice, asr_stream_config &config) {
    config.acoustic_scale = dice.pick({0, 0.1f, 1, 1e30f, -1});
    config.word_insertion_cost = dice.pick({NAN, 0, 10, -10, 1e30f, -1e30f, INFINITY});
    config.max_active = dice.below(4);
    config.min_active = dice.below(300);
    config.partial_interval_ms = dice.below(3) * 100;
    config.max_backlog_ms = dice.below(2) * 30000;
    config.n_best = dice.below(20);
    config.endpoint = static_cast<asr_endpoint>(dice.below(5));
    config.silence_at_end_ms = dice.below(4) * 100;
    config.longest_utterance_ms = dice.below(3) * 500;
    config.vad = static_cast<asr_vad>(dice.below(4));
    config.pre_roll_ms = dice.below(3) * 10;
  }

  void feed(const void *samples, size_t n) { check_feed(asr_feed(stream_, samples, n)); }
  void feed_floats(const std::vector<float> &values) {
    if (config_.input == ASR_INPUT_INT16) {
      feed(values.data(), values.size() * 2 / config_.n_channels);
    } else {
      feed(values.data(), values.size() / row_length());
    }
  }
  size_t row_length() const {
    asr_engine_info info{};
    info.size = sizeof(info);
    asr_engine_get_info(shared_engine(), &info);
    if (config_.input == ASR_INPUT_FEATURES) return info.n_feature_dims;
    return config_.input == ASR_INPUT_LOGLIKES ? info.n_states : config_.n_channels;
  }
  void check_feed(asr_status status) const {
    if (status != ASR_OK && *asr_last_error() == '\0') finding("asr_feed gave %d without a message", status);
  }
};

// Makes every call with NULL for all optional arguments.
void call_with_nothing() {
  asr_stream *stream = nullptr;
  asr_event *event = nullptr;
  asr_engine *engine = nullptr;
  if (asr_engine_load(nullptr, nullptr, &engine) != ASR_INVALID_ARGUMENT) finding("asr_engine_load takes no bundle");
  if (asr_open(nullptr, nullptr, &stream) != ASR_INVALID_ARGUMENT) finding("asr_open takes no engine");
  if (asr_feed(nullptr, nullptr, 1) != ASR_INVALID_ARGUMENT) finding("asr_feed takes no stream");
  if (asr_result(nullptr, &event) != ASR_INVALID_ARGUMENT) finding("asr_result takes no stream");
  if (asr_try_feed(nullptr, nullptr, 1) != ASR_INVALID_ARGUMENT) finding("asr_try_feed takes no stream");
  if (asr_end_utterance(nullptr) != ASR_INVALID_ARGUMENT) finding("asr_end_utterance takes no stream");
  if (asr_cancel_utterance(nullptr) != ASR_INVALID_ARGUMENT) finding("asr_cancel_utterance takes no stream");
  if (asr_reset(nullptr) != ASR_INVALID_ARGUMENT) finding("asr_reset takes no stream");
  if (asr_set_graph(nullptr, "") != ASR_INVALID_ARGUMENT) finding("asr_set_graph takes no stream");
  if (asr_boost(nullptr, "", 0, 0) != ASR_INVALID_ARGUMENT) finding("asr_boost takes no stream");
  if (asr_engine_boost(nullptr, "", "", 0, 0, 0) != ASR_INVALID_ARGUMENT) finding("asr_engine_boost takes no engine");
  asr_speaker *speaker = nullptr;
  size_t n_values = 0;
  if (asr_speaker_new(nullptr, &speaker) != ASR_INVALID_ARGUMENT) finding("asr_speaker_new takes no engine");
  if (asr_adapt(nullptr) != ASR_INVALID_ARGUMENT) finding("asr_adapt takes no speaker");
  float warp = 0;
  if (asr_speaker_set_methods(nullptr, ASR_SPEAKER_FMLLR, 0) != ASR_INVALID_ARGUMENT) finding("set_methods takes no speaker");
  if (asr_speaker_get_warp(nullptr, &warp) != ASR_INVALID_ARGUMENT) finding("get_warp takes no speaker");
  if (asr_speaker_set_warp(nullptr, 1) != ASR_INVALID_ARGUMENT) finding("set_warp takes no speaker");
  if (asr_speaker_get_transform(nullptr, nullptr, 0, &n_values) != ASR_INVALID_ARGUMENT)
    finding("get_transform takes no speaker");
  if (asr_speaker_set_transform(nullptr, nullptr, 0) != ASR_INVALID_ARGUMENT) finding("set_transform takes no speaker");
  if (asr_speaker_get_mean_transform(nullptr, nullptr, 0, &n_values) != ASR_INVALID_ARGUMENT)
    finding("get_mean_transform takes no speaker");
  if (asr_speaker_set_mean_transform(nullptr, nullptr, 0) != ASR_INVALID_ARGUMENT)
    finding("set_mean_transform takes no speaker");
  asr_speaker_free(nullptr);
  if (asr_engine_add_model(nullptr, "a", "") != ASR_INVALID_ARGUMENT) finding("asr_engine_add_model takes no engine");
  if (asr_engine_remove_model(nullptr, "a") != ASR_INVALID_ARGUMENT) finding("asr_engine_remove_model takes no engine");
  asr_fusion_default(nullptr);
  if (asr_engine_add_graph(nullptr, "", "") != ASR_INVALID_ARGUMENT) finding("asr_engine_add_graph takes no engine");
  if (asr_engine_add_graph_bytes(nullptr, "", "", 0) != ASR_INVALID_ARGUMENT) finding("add_graph_bytes takes no engine");
  if (asr_engine_remove_graph(nullptr, "") != ASR_INVALID_ARGUMENT) finding("asr_engine_remove_graph takes no engine");
  if (asr_stream_get_state(nullptr, nullptr, 0, nullptr) != ASR_INVALID_ARGUMENT)
    finding("asr_stream_get_state takes no stream");
  if (asr_stream_set_state(nullptr, nullptr, 0) != ASR_INVALID_ARGUMENT) finding("asr_stream_set_state takes no stream");
  asr_close(nullptr);
  asr_event_free(nullptr);
  asr_engine_close(nullptr);
  inspect_words(nullptr, 0);
}

void call(Dice &dice, std::unique_ptr<Stream> (&streams)[4]) {
  const uint8_t what = dice.byte();
  std::unique_ptr<Stream> &stream = streams[what / 16 % 4];
  if (what % 16 == 15) return call_with_nothing();
  if (!stream) {
    stream = std::make_unique<Stream>(shared_engine(), dice);
    if (!stream->is_open()) stream.reset();
    return;
  }
  switch (what % 16) {
    case 0:
      return stream.reset();
    case 1:
      return stream->finish();
    case 2:
      return stream->cancel();
    case 3:
      return stream->wait(dice.below(4));
    case 4:
      return stream->feed_bytes(dice);
    case 5:
    case 6:
      (void)stream->take();
      return;
    case 7:
      return stream->drain();
    case 8:
      return stream->end_utterance();
    case 9:
      return stream->cancel_utterance();
    case 10:
      return stream->reset();
    case 11:
      return stream->carry_state(dice);
    case 13:
      return stream->boost(dice);
    case 14:
      return stream->set_graph(dice);
    default:
      return stream->feed_speech(dice);
  }
}

}  // namespace

void call_all(const std::string &bytes) {
  Dice dice(bytes);
  std::unique_ptr<Stream> streams[4];
  for (size_t i = 0; i < kMaxCalls && !dice.empty(); ++i) call(dice, streams);
  for (std::unique_ptr<Stream> &stream : streams) {
    if (stream) stream->drain();
  }
}

// A stream's complete life: opened, fed all of the speech, finished, and its events taken.
std::vector<std::string> seeds() {
  (void)shared_engine();
  (void)speech();
  const std::string whole("\x0b\x00\x3f\x00", 4);
  const std::string plain = std::string("\x00\x00\x00", 3) + whole + whole + std::string("\x01\x03\x03\x05\x07\x00", 6);
  const std::string lattice = std::string("\x00\x01\x40\x02", 4) + whole + std::string("\x01\x07", 2);
  const std::string cancelled = std::string("\x10\x00\x00", 3) + whole + "\x12\x17";
  // Endpoints with the detector; an utterance cancelled, the stream reset, and all of it again.
  const std::string dialog = std::string("\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00", 15) + whole + "\x09" +
                             whole + "\x0a" + whole + "\x08\x01\x07";
  // Another graph before, within and after the words.
  const std::string grammars = std::string("\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00", 15) +
                               std::string("\x0e\x00", 2) + whole + std::string("\x0e\x01\x01", 3) + whole + "\x01\x07";
  return {plain, lattice, cancelled, dialog, grammars, "\x0f"};
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  // A call of two bytes feeds a second of sound at most, or requests the lattice of all of it.
  const fuzz::Budget budget = {512, 1 << 17, 10, 20000};
  return fuzz::run(data, size, budget, fuzz::call_all);
}
