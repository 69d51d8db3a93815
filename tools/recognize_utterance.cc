// SPDX-License-Identifier: Apache-2.0
// Recognises one utterance through the C ABI alone: open, feed, finish, events, close. The file is also an example of its use.
#include <algorithm>
#include <memory>
#include <mutex>
#include <set>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "tools/audio_file.h"
#include "tools/command_terms.h"
#include "tools/lattice_output.h"
#include "tools/progress.h"
#include "tools/recognize.h"

namespace asr::tool {
namespace {

constexpr char kMeasure[] = "measure";  // RecognizeOptions::cmn of a pass that measures the mean of a recording

asr_cmn cmn_kind(const std::string &name) {
  if (name == kMeasure) return ASR_CMN_MEASURE;
  return name == "live" ? ASR_CMN_LIVE : name == "batch" ? ASR_CMN_BATCH : name == "none" ? ASR_CMN_NONE : ASR_CMN_MODEL;
}

asr_stream_config stream_config(const RecognizeOptions &options) {
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.cmn = cmn_kind(options.cmn);
  config.beam = options.beam;
  config.acoustic_scale = options.acoustic_scale;
  config.word_insertion_cost = options.word_insertion_cost;
  config.blank_penalty = options.blank_penalty;
  config.prior_scale = options.prior_scale;
  config.blank_skip = options.blank_skip;
  config.max_active = options.max_active;
  config.min_active = options.min_active;
  config.n_best = options.n_best;
  config.lattice_beam = options.lattice_beam;
  config.endpoint = endpoint_preset(options.endpoint);
  config.max_utterance_s = kMaxUtteranceS;  // Length has the option's
  config.reject_threshold = options.reject;
  if (options.vad == "off") config.vad = ASR_VAD_OFF;
  config.vtln_warp = options.speaker == nullptr ? options.vtln_warp : 1;
  config.speaker = options.speaker;
  config.fusion = options.fusion;
  if (!options.learns) config.adaptation = ASR_ADAPTATION_OFF;
  return config;
}

StreamPointer open_stream(asr_engine *engine, const asr_stream_config &config) {
  asr_stream *opened = nullptr;
  check(asr_open(engine, &config, &opened));
  return {opened, asr_close};
}

// Length bounds the samples or rows of a recording by --max-hours.
class Length {
 public:
  Length(const RecognizeOptions &options, double rate_hz)
      : max_hours_(options.max_hours), n_left_(options.endpoint.empty() ? most(options.max_hours, rate_hz) : UINT64_MAX) {}

  // Returns how many of n more are taken. The first time that some are not, a warning is given.
  size_t take(size_t n, const std::string &path, const Reports &reports) {
    const size_t n_taken = std::min<uint64_t>(n, n_left_);
    n_left_ -= n_taken;
    if (n_taken < n) {
      reports.warned(
          format("%s: is longer than the %g hours of --max-hours: the rest is left out; raise the limit, or "
                 "find its utterances with --endpoint",
                 path.c_str(), max_hours_));
    }
    return n_taken;
  }

 private:
  static uint64_t most(double hours, double rate_hz) { return static_cast<uint64_t>(hours * 3600 * rate_hz); }

  const double max_hours_;
  uint64_t n_left_;
};

// Warns of a sample rate below the model's.
void warn_of_rate(uint32_t rate_hz, const std::string &path, double model_rate_hz, const Reports &reports) {
  static std::mutex mutex;
  static std::set<uint32_t> said;  // rates with a warning: a batch of one rate needs one
  const std::lock_guard lock(mutex);
  if (rate_hz < model_rate_hz && said.insert(rate_hz).second) {
    reports.warned(
        format("%s: has %u samples a second, the model is for %g: what lies above %u Hz is missing, and more "
               "words will be wrong; use a model for this rate (said once)",
               path.c_str(), rate_hz, model_rate_hz, rate_hz / 2));
  }
}

RecognisedAlternative take_alternative(const asr_event *event, size_t number) {
  RecognisedAlternative result;
  result.text = asr_event_alternative_text(event, number);
  check(asr_event_alternative_costs(event, number, &result.graph_cost, &result.acoustic_cost));
  for (size_t i = 0; i < asr_event_n_words(event, number); ++i) {
    asr_word word;
    word.size = sizeof(word);
    check(asr_event_word(event, number, i, &word));
    result.words.push_back({word.text, word.start_s, word.end_s, word.confidence, word.rule, word.tags});
  }
  return result;
}

constexpr char kStopsEarly[] = ": stops in the middle of a sentence: probably something else was said, or the end is missing";

// Returns the name of a recording or entry of an archive, or of one of its utterances.
std::string name_of(const Recognition &result, const RecognizeOptions &options) {
  const std::string &name = (options.features + options.loglikes).empty() ? result.path : result.id;
  return result.part == 0 ? name : format("%s, utterance %u", name.c_str(), result.part);
}

void take_result(const asr_event *event, const RecognizeOptions &options, double frame_shift_s, Recognition *result) {
  result->flags = asr_event_flags(event);
  result->out_of_grammar = asr_event_out_of_grammar(event);
  result->is_left_out =
      (result->has(ASR_FLAG_REJECTED) && !options.keep_rejected) || (result->has(ASR_FLAG_NOT_FINAL_STATE) && options.strict);
  result->best = take_alternative(event, 0);
  if (result->stops_early()) result->warnings.push_back(name_of(*result, options) + kStopsEarly);
  for (size_t i = 1; i < asr_event_n_alternatives(event); ++i) result->others.push_back(take_alternative(event, i));
  if (options.lattice_beam == 0) return;
  asr_lattice lattice;
  lattice.size = sizeof(lattice);
  check(asr_event_lattice(event, &lattice));
  result->acoustic_scale = lattice.acoustic_scale;
  result->lattice_beam = lattice.beam;
  if (!options.lattice.empty()) result->lattice = copy_lattice(event, frame_shift_s);
}

// Listener takes the events of a recording's stream: its one result, or a result for each utterance found by --endpoint.
class Listener {
 public:
  Listener(const RecognizeOptions &options, double frame_shift_s, const HeardFunction &heard, Recognition *result)
      : options_(options), frame_shift_s_(frame_shift_s), heard_(heard), result_(result) {}

  void take_ready(asr_stream *stream) {
    while (take(stream)) continue;
  }

  void take_all(asr_stream *stream) {
    while (!ended_) {
      check(asr_wait(stream, -1));
      take(stream);
    }
  }

 private:
  // Takes an event; returns false if none was available, or after END.
  bool take(asr_stream *stream) {
    asr_event *taken = nullptr;
    check(asr_result(stream, &taken));
    const EventPointer event(taken, asr_event_free);
    if (taken == nullptr) return false;
    const asr_event_kind kind = asr_event_get_kind(taken);
    if (kind == ASR_EVENT_SPEECH_START) begin_s_ = asr_event_time_s(taken);
    if (kind == ASR_EVENT_FINAL) take_final(taken);
    if (kind == ASR_EVENT_ERROR) fail(asr_event_status(taken), "%s", in_command_terms(asr_event_text(taken)).c_str());
    ended_ = kind == ASR_EVENT_END;
    return !ended_;
  }

  void take_final(const asr_event *event) {
    if (options_.endpoint.empty()) return take_result(event, options_, frame_shift_s_, result_);
    Recognition part;
    part.id = result_->id;
    part.path = result_->path;
    part.part = ++n_parts_;
    part.audio_s = asr_event_time_s(event) - begin_s_;
    take_result(event, options_, frame_shift_s_, &part);
    heard_(std::move(part));
  }

  const RecognizeOptions &options_;
  const double frame_shift_s_;
  const HeardFunction &heard_;
  Recognition *const result_;
  uint32_t n_parts_ = 0;
  double begin_s_ = 0;
  bool ended_ = false;
};

// state: the mean of the whole recording, if it was measured before.
StreamPointer open_audio_stream(asr_engine *engine, const RecognizeOptions &options, uint32_t rate_hz,
                                const std::string &state) {
  asr_stream_config config = stream_config(options);
  config.input = ASR_INPUT_FLOAT;
  config.sample_rate_hz = rate_hz;
  StreamPointer stream = open_stream(engine, config);
  if (!state.empty()) check(asr_stream_set_state(stream.get(), state.data(), state.size()));
  return stream;
}

void check_length(const std::string &path, size_t n_samples, uint32_t rate_hz, const asr_engine_info &info) {
  if (n_samples == 0) fail(ASR_BAD_AUDIO, "%s: no audio in it; check how it was recorded", path.c_str());
  if (n_samples < info.frame_shift_ms / 1000 * rate_hz) {
    fail(ASR_BAD_AUDIO, "%s: %zu samples at %u Hz are less than a frame of %g ms; check how it was recorded", path.c_str(),
         n_samples, rate_hz, info.frame_shift_ms);
  }
}

// Returns whether the engine would keep so many cepstra of the recording for its mean that it is better read twice.
bool is_measured_first(const AudioFile &audio, const RecognizeOptions &options, const asr_engine_info &info) {
  const bool is_batch = options.cmn == "batch" || (cmn_kind(options.cmn) == ASR_CMN_MODEL && info.is_batch != 0);
  if (!is_batch || !options.endpoint.empty() || options.fusion != nullptr) return false;
  return audio.n_samples() == 0 || audio.n_samples() / audio.rate_hz() > kMaxHeldCepstraS;
}

// Reads a recording for its mean alone.
std::string measure(asr_engine *engine, RecognizeOptions options, const std::string &path, const asr_engine_info &info) {
  options.cmn = kMeasure;
  options.lattice_beam = 0;
  options.n_best = 1;
  options.reject = -1;
  options.learns = false;
  const Reports none{{}, {}, [](std::string &&) {}};
  std::vector<float> samples(options.chunk_samples);
  std::string state;
  for (uint32_t i = 0; i < info.n_measurements; ++i) {
    AudioFile audio(path, options.audio);
    const StreamPointer stream = open_audio_stream(engine, options, audio.rate_hz(), state);
    Length length(options, audio.rate_hz());
    while (!audio.has_ended()) {
      const size_t n_read = audio.read(samples.data(), samples.size()), n = length.take(n_read, path, none);
      check(asr_feed(stream.get(), samples.data(), n));
      if (n < n_read) break;
    }
    check(asr_finish(stream.get()));
    Recognition nothing;
    Listener(options, info.frame_shift_ms / 1000, {}, &nothing).take_all(stream.get());
    state.resize(kMaxStateBytes);
    size_t n_bytes = 0;
    check(asr_stream_get_state(stream.get(), state.data(), state.size(), &n_bytes));
    state.resize(n_bytes);
  }
  return state;
}

// Feeds a recording as it is read; live input as it arrives, so that each utterance is reported when it ends.
StreamPointer feed_recording(asr_engine *engine, const RecognizeOptions &options, AudioFile *audio, const std::string &path,
                             const asr_engine_info &info, const std::string &state, const Reports &reports, Listener *listener,
                             Recognition *result) {
  const auto warn = [&] {
    for (std::string &warning : audio->take_warnings()) reports.warned(std::move(warning));
  };
  warn();
  warn_of_rate(audio->rate_hz(), path, info.sample_rate_hz, reports);
  StreamPointer stream = open_audio_stream(engine, options, audio->rate_hz(), state);
  std::vector<float> samples(options.chunk_samples);
  size_t n_samples = 0;
  Length length(options, audio->rate_hz());
  while (!audio->has_ended()) {
    const size_t n_read = audio->read(samples.data(), samples.size()), n = length.take(n_read, path, reports);
    check(asr_feed(stream.get(), samples.data(), n));
    listener->take_ready(stream.get());
    n_samples += n;
    if (n > 0) reports.fed(double(n) / audio->rate_hz(), audio->n_samples() > 0 ? double(n) / audio->n_samples() : 0);
    warn();
    if (n < n_read) break;
  }
  if (audio->has_shrunk()) {
    reports.warned(
        format("%s: became shorter while it was read: its end is missing; recognise it when it is complete", path.c_str()));
  }
  result->audio_s = static_cast<double>(n_samples) / audio->rate_hz();
  check_length(path, n_samples, audio->rate_hz(), info);
  return stream;
}

StreamPointer feed_audio(asr_engine *engine, const RecognizeOptions &options, const std::string &path,
                         const asr_engine_info &info, const Reports &reports, Listener *listener, Recognition *result) {
  if (path == "-" && !options.endpoint.empty()) {
    const InputEnd end;
    AudioFile audio(options.audio, end.descriptor());
    return feed_recording(engine, options, &audio, path, info, "", reports, listener, result);
  }
  AudioFile audio(path, options.audio);
  const bool is_read_twice = path != "-" && is_measured_first(audio, options, info);
  const std::string state = is_read_twice ? measure(engine, options, path, info) : "";
  return feed_recording(engine, options, &audio, path, info, state, reports, listener, result);
}

StreamPointer feed_rows(asr_engine *engine, const RecognizeOptions &options, const Utterance &utterance, double frame_shift_s,
                        const Reports &reports, Listener *listener, double *audio_s) {
  asr_stream_config config = stream_config(options);
  config.input = utterance.input;
  StreamPointer stream = open_stream(engine, config);
  Length length(options, 1 / frame_shift_s);
  const size_t n_rows = length.take(utterance.n_rows, utterance.id, reports);
  for (size_t row = 0; row < n_rows; row += options.chunk_samples) {
    const size_t n = std::min(options.chunk_samples, n_rows - row);
    check(asr_feed(stream.get(), utterance.rows.data() + row * utterance.row_length, n));
    listener->take_ready(stream.get());
    reports.fed(static_cast<double>(n) * frame_shift_s, static_cast<double>(n) / static_cast<double>(n_rows));
  }
  *audio_s = static_cast<double>(n_rows) * frame_shift_s;
  return stream;
}

}  // namespace

asr_endpoint endpoint_preset(const std::string &name) {
  if (name == "command") return ASR_ENDPOINT_COMMAND;
  if (name == "dictation") return ASR_ENDPOINT_DICTATION;
  return name == "captions" ? ASR_ENDPOINT_CAPTIONS : ASR_ENDPOINT_OFF;
}

void check(asr_status status) {
  if (status != ASR_OK) fail(status, "%s", in_command_terms(asr_last_error()).c_str());
}

void recognize_utterance(asr_engine *engine, const RecognizeOptions &options, const Utterance &utterance,
                         const Reports &reports, Recognition *result) {
  asr_engine_info info;
  info.size = sizeof(info);
  check(asr_engine_get_info(engine, &info));
  const double frame_shift_s = info.frame_shift_ms / 1000;
  Listener listener(options, frame_shift_s, reports.heard, result);
  const StreamPointer stream = utterance.input == ASR_INPUT_FLOAT
                                   ? feed_audio(engine, options, utterance.path, info, reports, &listener, result)
                                   : feed_rows(engine, options, utterance, frame_shift_s, reports, &listener, &result->audio_s);
  check(asr_finish(stream.get()));
  listener.take_all(stream.get());
}

}  // namespace asr::tool
