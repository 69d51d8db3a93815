// SPDX-License-Identifier: Apache-2.0
// Intake is the queue of a stream's unprocessed input: callers put samples or rows in, the engine's thread takes them out. Its
// lock also guards the requests that callers make at a position of the input.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "core/audio/comfort_noise.h"
#include "core/audio/resampler.h"
#include "core/audio/sample_ring.h"
#include "core/base/error.h"
#include "core/stream/given_rows.h"
#include "core/stream/meter.h"
#include "core/stream/stream_options.h"
#include "core/stream/timeline.h"

namespace asr {

class Intake {
 public:
  // Audio is kept at the model's rate, rows unchanged. row_length: values per row, 1 for audio. limit: feed blocks while more
  // values are kept; 0 = never. max_values: no more are taken; feeding more throws ASR_INVALID_STATE, and the input has
  // ended. notify(): called when at least min_values more can be taken, or at the end.
  // meter: learns how much is fed.
  Intake(const StreamOptions &options, size_t row_length, size_t limit, uint64_t max_values, size_t min_values,
         Timeline timeline, std::function<void()> notify, StreamMeter *meter);

  // The requests, locked as long as this exists.
  class Requests {
   public:
    Requests(std::mutex *mutex, Timeline *timeline) : lock_(*mutex), timeline_(timeline) {}
    Timeline *operator->() const { return timeline_; }

   private:
    std::unique_lock<std::mutex> lock_;
    Timeline *const timeline_;
  };
  Requests requests() { return {&mutex_, &timeline_}; }
  Requests requests(const char *call);  // for a call that throws if feeding would

  // The callers' side, any thread.
  enum class WhenFull {
    kWait,    // until there is room
    kTake,    // anyway: a callback must not wait for the thread that it may hold up
    kRefuse,  // throws ASR_BUSY, with nothing taken; also while another thread is feeding
  };
  void feed(const void *samples, size_t n, WhenFull when_full);
  // The same for rows in memory of the device, which are complete.
  void feed_given(std::shared_ptr<GivenPiece> piece, size_t n_rows, WhenFull when_full);
  void mark();  // separates the values fed so far from later ones
  void finish();
  // The same as mark() if nothing was fed since `then`; returns when something was, or nothing if the input needs no mark.
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> mark_if_idle_since(Clock::time_point then);

  // The engine's side. Values beyond a mark cannot be taken before the mark is passed.
  size_t take(float *values, size_t n);                        // at most n; none below min_values while more may come
  size_t take_given(size_t n, std::vector<GivenSpan> *spans);  // the same of rows in memory of the device
  bool ended() const;                                          // finished, and everything was taken
  bool at_mark() const;                                        // everything before the next mark was taken
  void pass_mark();
  bool is_finished() const;                  // asr_finish was called, and the stream is not stopped
  bool ends_at_mark() const;                 // finished, with nothing fed since the last mark
  uint64_t n_values() const;                 // values fed so far, as kept
  void close(const Error &reason) noexcept;  // feeding throws `reason` from now on, also if blocked

 private:
  void check_bytes(const void *samples, size_t n_bytes, const char *call);
  void check_finite(const void *samples, size_t n, size_t unit, const char *call);
  void check_scale(const float *values, size_t n, const char *call);
  void append(const void *samples, size_t n, std::vector<float> *values);
  bool push(const std::vector<float> &values, bool may_wait, const char *call);
  // These require mutex_.
  size_t n_waiting() const { return ring_.size() + n_given_; }
  bool is_over_limit() const { return limit_ > 0 && n_waiting() > limit_; }
  size_t n_takable(size_t n) const;
  bool advance(size_t n, size_t n_wanted);
  void check_open(const char *call) const;  // requires mutex_
  [[noreturn]] void fail_full(const char *call) const;

  const StreamOptions &options_;
  const size_t row_length_, limit_;
  const uint64_t max_values_;
  const size_t min_values_;
  const std::function<void()> notify_;
  StreamMeter *const meter_;

  std::mutex feeding_;  // held by the feeding caller, also while it blocks
  Resampler resampler_;
  ComfortNoise noise_;
  std::vector<float> mono_;
  bool warned_of_scale_ = false;
  uint64_t n_fed_ = 0;  // samples of each channel, or rows, of earlier calls

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable room_;
  SampleRing ring_;
  std::list<GivenSpan> given_;  // an empty one needs no memory
  size_t n_given_ = 0;          // values in it
  Timeline timeline_;
  uint64_t n_taken_ = 0;
  Clock::time_point last_fed_{};  // if the stream ends utterances when it is idle
  bool ends_at_mark_ = false;
  bool finished_ = false, is_full_ = false;  // full: finished because it has max_values_
  std::optional<Error> closed_;
};

}  // namespace asr
