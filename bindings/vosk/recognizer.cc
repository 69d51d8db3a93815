// SPDX-License-Identifier: Apache-2.0
#include "bindings/vosk/recognizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

namespace senone::vosk {

namespace {

constexpr int kMaxAlternatives = 100;
constexpr float kLatticeBeam = 6, kAlternativesBeam = 8;  // for confidences; for alternatives
constexpr uint32_t kPartialInterval_ms = 200;
constexpr double kMaxHeldBack_s = 1.3;  // at most, between utterances, where the detector of speech looks ahead
// How long nothing must happen until the stream is known to hold the rest back; also as a share of the audio that was fed, so
// that waiting takes less time than the audio.
constexpr double kQuiet_s = 0.1, kQuietShare = 0.5, kStuck_s = 10;
constexpr double kRecent_s = 2;  // more than a word lasts until it is known as one
constexpr auto kPoll = std::chrono::milliseconds(1);

// The presets of docs/endpoints.md, which the modes of Vosk scale.
struct Preset {
  asr_endpoint endpoint;
  float at_end_ms, after_words_ms;
};
constexpr Preset kCommand = {ASR_ENDPOINT_COMMAND, 300, 800}, kDictation = {ASR_ENDPOINT_DICTATION, 700, 1500};

const Preset &preset_of(const Model &model, const Search &search) {
  return search.graph != nullptr || model.is_grammar() ? kCommand : kDictation;
}

uint32_t in_ms(double seconds) { return static_cast<uint32_t>(std::lround(std::clamp(1000 * seconds, 100.0, 600000.0))); }

}  // namespace

uint32_t checked_rate(float rate_hz) {
  if (rate_hz >= 1000 && rate_hz <= 768000) return static_cast<uint32_t>(std::lround(rate_hz));
  throw Error(ASR_INVALID_ARGUMENT, "the sample rate is not between 1,000 and 768,000 Hz; give that of the audio");
}

StreamConfig stream_config(const Model &model, const Search &search, uint32_t rate_hz, const ResultOptions &options,
                           const Endpoints &endpoints) {
  StreamConfig config;
  config.input = ASR_INPUT_INT16;
  config.sample_rate_hz = rate_hz;
  config.endpoint = preset_of(model, search).endpoint;
  config.silence_at_end_ms = endpoints.at_end_ms;
  config.silence_after_words_ms = endpoints.after_words_ms;
  config.longest_utterance_ms = endpoints.longest_ms;
  config.no_input_ms = endpoints.no_input_ms;
  config.partial_interval_ms = kPartialInterval_ms;
  if (options.words || options.max_alternatives > 0) {
    config.lattice_beam = options.max_alternatives > 0 ? kAlternativesBeam : kLatticeBeam;
    config.n_best = static_cast<uint32_t>(std::max(1, options.max_alternatives));
  }
  if (search.graph != nullptr) config.graph = search.graph->name().c_str();
  return config;
}

std::vector<int16_t> samples_of(const char *bytes, size_t n_bytes, int *odd_byte) {
  std::string whole;
  if (*odd_byte >= 0 && n_bytes > 0) {
    whole.assign(1, static_cast<char>(*odd_byte)).append(bytes, n_bytes);
    bytes = whole.data();
    n_bytes = whole.size();
    *odd_byte = -1;
  }
  if (n_bytes % 2 != 0) *odd_byte = static_cast<unsigned char>(bytes[n_bytes - 1]);
  std::vector<int16_t> samples(n_bytes / 2);  // bytes may lie at any address
  if (!samples.empty()) memcpy(samples.data(), bytes, 2 * samples.size());
  return samples;
}

void settle(StreamView stream, double fed_s, double *held_back_s) {
  using Clock = std::chrono::steady_clock;
  double waiting_s = -1;
  auto since = Clock::now();
  for (;;) {
    const double now_s = stream.stats().waiting_s;
    if (now_s <= *held_back_s) return;
    const double quiet_s = now_s > kMaxHeldBack_s ? kStuck_s : std::min(kQuiet_s, kQuietShare * fed_s);
    if (now_s != waiting_s) {
      waiting_s = now_s;
      since = Clock::now();
    } else if (std::chrono::duration<double>(Clock::now() - since).count() > quiet_s) {
      *held_back_s = std::min(now_s, kMaxHeldBack_s);
      return;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

Recognizer::Recognizer(std::shared_ptr<Model> model, float rate_hz, Search search)
    : model_(std::move(model)), rate_hz_(checked_rate(rate_hz)), search_(std::move(search)) {
  if (search_.graph == nullptr && !model_->has_graph()) {
    throw Error(ASR_NOT_FOUND, "the bundle has no graph of its own; make one with `senone graph`, or give a grammar");
  }
}

void Recognizer::set_search(const std::string &grammar) {
  Search search = model_->search(grammar);
  if (search.graph == nullptr && !model_->has_graph()) throw Error(ASR_NOT_FOUND, "the bundle has no graph of its own");
  const std::lock_guard lock(mutex_);
  if (&preset_of(*model_, search) != &preset_of(*model_, search_)) is_outdated_ = true;
  search_ = std::move(search);
  if (stream_ && !has_ended_ && !is_outdated_) stream_.set_graph(search_.graph ? search_.graph->name() : "");
}

void Recognizer::set_max_alternatives(int n) {
  const std::lock_guard lock(mutex_);
  options_.max_alternatives = std::clamp(n, 0, kMaxAlternatives);
  is_outdated_ = true;
}

void Recognizer::set_words(bool words) {
  const std::lock_guard lock(mutex_);
  options_.words = words;
  is_outdated_ = true;
}

void Recognizer::set_partial_words(bool words) {
  const std::lock_guard lock(mutex_);
  options_.partial_words = words;
}

void Recognizer::set_nlsml(bool nlsml) {
  const std::lock_guard lock(mutex_);
  options_.nlsml = nlsml;
}

void Recognizer::set_endpointer_mode(int mode) {
  const std::lock_guard lock(mutex_);
  endpoint_scale_ = mode == 1 ? 0.75f : mode == 2 ? 1.5f : mode == 3 ? 4.0f : 1.0f;
  endpoints_ = {};
  is_outdated_ = true;
}

void Recognizer::set_endpointer_delays(float start_max_s, float end_s, float max_s) {
  if (!(start_max_s >= 0 && end_s >= 0 && max_s >= 0)) {  // also for values that are no numbers
    throw Error(ASR_INVALID_ARGUMENT, "the delays of the endpointer are not all 0 or above; give seconds");
  }
  const std::lock_guard lock(mutex_);
  endpoint_scale_ = 1;
  endpoints_ = {in_ms(end_s), in_ms(end_s + 1.0), in_ms(max_s), in_ms(start_max_s)};
  is_outdated_ = true;
}

int Recognizer::accept_bytes(const char *bytes, size_t n_bytes) {
  const std::lock_guard lock(mutex_);
  const std::vector<int16_t> samples = samples_of(bytes, n_bytes, &odd_byte_);
  return feed(samples.data(), samples.size());
}

int Recognizer::accept(const int16_t *samples, size_t n) {
  const std::lock_guard lock(mutex_);
  return feed(samples, n);
}

int Recognizer::feed(const int16_t *samples, size_t n) {
  try {
    if (n > 0) {
      if (!stream_ || has_ended_) {
        open();
      } else if (is_outdated_ && !is_speech_) {
        reopen();
      }
      double *const held_back_s = &(is_speech_ ? held_back_speech_s_ : held_back_background_s_);
      if (is_speech_) *held_back_s = std::max(kMinHeldBack_s, std::min(*held_back_s, stream_.stats().waiting_s));
      give(samples, n);
      settle(stream_, static_cast<double>(n) / rate_hz_, held_back_s);
      take_events();
      while (is_ending_ && !has_ended_) {
        stream_.wait();
        take_events();
      }
    }
  } catch (const Error &error) {
    give_up(error);
    return -1;
  }
  return is_ready() ? 1 : 0;
}

// Opens a stream that goes on where the one before ended.
void Recognizer::open() {
  close_stream();
  Endpoints endpoints = endpoints_;
  if (endpoint_scale_ != 1) {
    const Preset &preset = preset_of(*model_, search_);
    endpoints.at_end_ms = static_cast<uint32_t>(endpoint_scale_ * preset.at_end_ms);
    endpoints.after_words_ms = static_cast<uint32_t>(endpoint_scale_ * preset.after_words_ms);
  }
  stream_ = model_->engine().open(stream_config(*model_, search_, rate_hz_, options_, endpoints));
  is_outdated_ = false;
  if (!state_.empty() && asr_stream_set_state(stream_.get(), state_.data(), state_.size()) != ASR_OK) state_.clear();
}

// Between utterances, opens a stream of the present configuration, which hears again what the detector of speech has not
// decided on yet.
void Recognizer::reopen() {
  save_state();
  const double undecided_s = static_cast<double>(n_fed_) / rate_hz_ - taken_s_;
  const auto n = std::min(recent_.size(), static_cast<size_t>(std::ceil(std::max(0.0, undecided_s) * rate_hz_)));
  const std::vector<int16_t> undecided(recent_.end() - static_cast<std::ptrdiff_t>(n), recent_.end());
  close_stream();
  n_before_ -= n;
  open();
  give(undecided.data(), n);
}

void Recognizer::give(const int16_t *samples, size_t n) {
  stream_.feed(samples, n);
  n_fed_ += n;
  const auto n_kept = static_cast<size_t>(kRecent_s * rate_hz_);
  recent_.insert(recent_.end(), samples + (n - std::min(n, n_kept)), samples + n);
  if (recent_.size() > n_kept) recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(n_kept));
}

void Recognizer::take_events() {
  const double offset_s = static_cast<double>(n_before_) / rate_hz_;
  for (;;) {
    Event event = stream_.poll();
    if (!event) return;
    const EventKind kind = event.kind();
    if (kind == EventKind::kError) throw Error(event.status(), std::string(event.text()));
    if (kind == EventKind::kEnd) {
      has_ended_ = true;
      return;
    }
    if (kind == EventKind::kSpeechStart) {
      is_speech_ = true;
      has_unknown_ = search_.has_unknown;
    }
    if (kind == EventKind::kEndpoint) is_ending_ = true;
    if (kind == EventKind::kFinal) is_speech_ = is_ending_ = false;
    if (event.time_s() <= taken_s_) continue;
    if (kind == EventKind::kFinal) {
      partial_ = {};
      taken_s_ = event.time_s();
      if ((event.flags() & ASR_FLAG_CANCELLED) == 0) finals_.push_back({std::move(event), offset_s, has_unknown_});
    } else if (kind == EventKind::kPartial || kind == EventKind::kProbablyFinished) {
      partial_ = {std::move(event), offset_s, has_unknown_};
    } else if (kind == EventKind::kNoInput) {
      no_input_ = true;
    }
  }
}

// Ends the audio of the stream, and takes all that is left of it.
void Recognizer::end_stream() {
  if (!stream_ || has_ended_) return;
  stream_.finish();
  while (!has_ended_) {
    stream_.wait();
    take_events();
  }
  save_state();
}

// Keeps what the stream has learned of the speaker and the microphone, if it has a state.
void Recognizer::save_state() {
  size_t n = 0;
  if (asr_stream_get_state(stream_.get(), nullptr, 0, &n) != ASR_OK) return;
  state_.resize(n);
  if (asr_stream_get_state(stream_.get(), state_.data(), n, &n) != ASR_OK) state_.clear();
}

void Recognizer::close_stream() {
  stream_.close();
  n_before_ += n_fed_;
  n_fed_ = 0;
  taken_s_ = 0;
  has_ended_ = is_speech_ = is_ending_ = false;
  partial_ = {};
  recent_.clear();
}

// Leaves a stream that has failed, so that later audio begins another one.
void Recognizer::give_up(const Error &error) {
  report(error.what());
  state_.clear();
  close_stream();
}

const char *Recognizer::result(bool is_last) {
  const std::lock_guard lock(mutex_);
  try {
    if (is_last || !is_ready()) end_stream();
  } catch (const Error &error) {
    give_up(error);
  }
  if (is_last) odd_byte_ = -1;
  std::string text = result_of(finals_, options_);
  finals_.clear();
  no_input_ = false;
  return keep(std::move(text));
}

const char *Recognizer::partial_result() {
  const std::lock_guard lock(mutex_);
  try {
    if (stream_ && !has_ended_) take_events();
  } catch (const Error &error) {
    give_up(error);
  }
  return keep(partial_result_of(finals_, partial_, options_));
}

void Recognizer::reset() {
  const std::lock_guard lock(mutex_);
  finals_.clear();
  partial_ = {};
  no_input_ = false;
  odd_byte_ = -1;
  if (!stream_ || has_ended_) return;
  (void)stream_.try_cancel_utterance();
  taken_s_ = static_cast<double>(n_fed_) / rate_hz_;
}

}  // namespace senone::vosk
