// SPDX-License-Identifier: Apache-2.0
// One stream of the stress program with its random life: how it is fed and how it ends.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/stress/result.h"

namespace asr::stress {

using Random = std::mt19937_64;

// Rows of features, or samples at 16 kHz.
struct Recording {
  std::string id;
  size_t n = 0, row_length = 1;
  std::vector<float> rows;
  std::vector<int16_t> samples;
};

// The options that affect a result. Zero: the bundle's.
struct Search {
  float beam, lattice_beam, acoustic_scale;
  uint32_t max_active;
};

asr_stream_config stream_config(const Recording &recording, const Search &search);

// Recognises at once, for reference results.
Found recognize(asr_engine *engine, const Recording &recording, const Search &search);

// kRun: fed, finished and read to its end. The others stop before or after asr_finish. kCancel: cancelled and read to its end.
// kClose: closed at once. kLeave: left with its unfinished work until it is destroyed.
enum class Fate { kRun, kCancel, kClose, kLeave };

class Session {
 public:
  // All arguments passed by reference must outlive it.
  Session(asr_engine *engine, const Recording &recording, const Search &search, Fate fate, Random *random);
  ~Session() { asr_close(stream_); }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  // Does the next action. Returns false once its life is over. Throws asr::Error if a call of the ABI fails, or if two minutes
  // pass without an event.
  bool step();

  Fate fate() const { return fate_; }
  std::string description() const;                              // names its way of feeding and reading
  const std::optional<Found> &found() const { return found_; }  // set after its life, if it had a result

 private:
  static void on_event(asr_stream *stream, asr_event *event, void *user_data);
  void take(const asr_event *event);
  void feed_piece();
  bool read();

  const Recording &recording_;
  const Fate fate_;
  Random &random_;
  asr_stream *stream_ = nullptr;
  uint32_t max_alternatives_ = 1, partial_interval_ms_ = 0, n_partials_ = 0;
  size_t at_ = 0, stop_ = 0;  // rows or samples fed, and the number at which its fate comes
  bool polled_ = true, finishes_ = true, finished_ = false, cancelled_ = false;
  std::optional<std::chrono::steady_clock::time_point> waiting_since_;
  std::mutex mutex_;  // guards the members below: with a callback, events come on a thread of the library
  bool ended_ = false;
  std::optional<Found> found_;
  std::optional<std::string> error_;
};

}  // namespace asr::stress
