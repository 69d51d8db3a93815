// SPDX-License-Identifier: Apache-2.0
// What is fed to a stream and not yet worked on: callers put samples or rows in, the engine's thread takes them out.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "core/audio/comfort_noise.h"
#include "core/audio/resampler.h"
#include "core/audio/sample_ring.h"
#include "core/base/error.h"
#include "core/engine/stream_options.h"

namespace asr {

class Intake {
 public:
  // Audio is kept at the model's rate, rows as they are. row_length: values of a row, 1 for audio. limit: feed waits while
  // more values than this are kept; 0 = never. notify(): called when at least min_values more can be taken, or at the end.
  Intake(const StreamOptions &options, size_t row_length, size_t limit, size_t min_values, std::function<void()> notify);

  // Callers' side, any thread.
  void feed(const void *samples, size_t n, bool may_wait);
  void try_feed(const void *samples, size_t n);  // throws ASR_BUSY, with nothing taken, where feed would wait
  void mark();                                   // what was fed so far belongs together
  void finish();

  // Engine's side. Nothing beyond a mark is taken before the mark is passed.
  size_t take(float *values, size_t n);  // at most n; nothing while there are fewer than min_values and more may come
  bool ended() const;                    // finished, and everything was taken
  bool at_mark() const;                  // everything before the next mark was taken
  void pass_mark();
  bool ends_at_mark() const;                  // finished, with nothing fed since the last mark
  uint64_t n_values() const;                  // fed so far, in kept form
  uint64_t n_values(const char *call) const;  // the same; throws where feeding would
  void close(const Error &reason) noexcept;   // feeding throws this from now on, also where it waits

 private:
  void feed_pieces(const void *samples, size_t n, bool may_wait, const char *call);
  void append(const void *samples, size_t n, std::vector<float> *values);
  void push(const std::vector<float> &values, bool may_wait, const char *call);
  void check_open(const char *call) const;  // with mutex_ held

  const StreamOptions &options_;
  const size_t row_length_, limit_, min_values_;
  const std::function<void()> notify_;

  std::mutex feeding_;  // held by the caller that feeds, also while it waits
  Resampler resampler_;
  ComfortNoise noise_;
  std::vector<float> mono_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable room_;
  SampleRing ring_;
  uint64_t n_values_ = 0, n_taken_ = 0;
  std::deque<uint64_t> marks_;  // values before each
  std::optional<uint64_t> last_mark_;
  bool ends_at_mark_ = false;
  bool finished_ = false;
  std::optional<Error> closed_;
};

}  // namespace asr
