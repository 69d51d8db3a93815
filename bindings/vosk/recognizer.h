// SPDX-License-Identifier: Apache-2.0
// Recognizer is VoskRecognizer: a stream with endpoints whose events become results when they are asked for. Calls for one
// recognizer wait for each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <senone.hpp>
#include <string>
#include <vector>

#include "bindings/vosk/model.h"
#include "bindings/vosk/result.h"

namespace senone::vosk {

// When an utterance ends, in milliseconds; 0: as the preset says.
struct Endpoints {
  uint32_t at_end_ms = 0, after_words_ms = 0, longest_ms = 0;
  uint32_t no_input_ms = 5000;  // silence before any word, after which there is an empty result
};

// Returns a stream's configuration for results of these options.
StreamConfig stream_config(const Model &model, const Search &search, uint32_t rate_hz, const ResultOptions &options,
                           const Endpoints &endpoints);

// Returns the sample rate as a whole number; throws Error if it is none that a stream takes.
uint32_t checked_rate(float rate_hz);

// Returns the samples of bytes that may begin and end within one. odd_byte: the last byte of such a piece, for the next one;
// -1: none.
std::vector<int16_t> samples_of(const char *bytes, size_t n_bytes, int *odd_byte);

constexpr double kMinHeldBack_s = 0.1;  // what any stream may hold back

// Waits until the stream has searched what it can without more audio. How much it holds back, as the front end and the detector
// of speech look ahead, depends on the model and the audio: *held_back_s is what is known of it, and becomes more if nothing
// happens for some time. On a machine that is so busy, a result is ready some calls later.
void settle(StreamView stream, double fed_s, double *held_back_s);

class Recognizer {
 public:
  // Throws Error.
  Recognizer(std::shared_ptr<Model> model, float rate_hz, Search search);

  void set_search(const std::string &grammar);
  void set_max_alternatives(int n);
  void set_words(bool words);
  void set_partial_words(bool words);
  void set_nlsml(bool nlsml);
  void set_endpointer_mode(int mode);
  void set_endpointer_delays(float start_max_s, float end_s, float max_s);

  // Takes bytes of 16-bit samples, which may end within one; samples. Returns 1 if a result is ready, -1 if the stream has
  // failed.
  int accept_bytes(const char *bytes, size_t n_bytes);
  int accept(const int16_t *samples, size_t n);

  // The texts are valid until the next call.
  const char *result(bool is_last);
  const char *partial_result();
  void reset();

 private:
  bool is_ready() const { return !finals_.empty() || no_input_; }
  int feed(const int16_t *samples, size_t n);
  void open();
  void reopen();
  void give(const int16_t *samples, size_t n);
  void save_state();
  void take_events();
  void end_stream();
  void close_stream();
  void give_up(const Error &error);
  const char *keep(std::string text) { return (text_ = std::move(text)).c_str(); }

  const std::shared_ptr<Model> model_;
  const uint32_t rate_hz_;

  std::mutex mutex_;  // guards the members below
  Search search_;
  ResultOptions options_;
  Endpoints endpoints_;
  float endpoint_scale_ = 1;  // of the preset's times
  bool is_outdated_ = false;  // the stream has another configuration than the next one is to have

  Stream stream_;  // empty before the first samples, and after errors
  bool has_ended_ = false;
  bool is_speech_ = false;    // an utterance has begun
  bool is_ending_ = false;    // its FINAL is due
  bool has_unknown_ = false;  // the grammar that it began with has "[unk]"
  double held_back_speech_s_ = kMinHeldBack_s, held_back_background_s_ = kMinHeldBack_s;
  uint64_t n_fed_ = 0;       // samples of the stream
  uint64_t n_before_ = 0;    // samples of streams before
  double taken_s_ = 0;       // position in the stream up to which the audio has results, or was dropped
  std::vector<char> state_;  // of the normalisation, for the next stream
  int odd_byte_ = -1;        // of a sample that a call has cut; -1: none

  std::vector<int16_t> recent_;  // the last samples of the stream

  std::vector<Heard> finals_;
  Heard partial_;
  bool no_input_ = false;
  std::string text_;
};

}  // namespace senone::vosk
