// SPDX-License-Identifier: Apache-2.0
// One stream of an engine. Its user feeds it and receives its events from any thread; the scheduler's thread takes what was
// fed, decodes it and posts events.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "core/engine/event_queue.h"
#include "core/engine/intake.h"
#include "core/engine/serial_work.h"
#include "core/engine/utterance.h"

namespace asr {

class Scheduler;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // All that is pointed to must outlive the stream. `options` has no unset fields but cmn.
  Stream(const StreamOptions &options, const LoadedModel &model, Scheduler *scheduler, WorkerPool *callbacks,
         WorkerPool *results);

  // The user's side.
  void start();  // posts READY
  void feed(const void *samples, size_t n);
  void finish();
  void cancel() noexcept;
  EventPointer poll() { return events_->poll(); }
  void wait(int32_t timeout_ms) { events_->wait(timeout_ms); }
  bool in_callback() const { return events_->in_callback(); }
  // Callbacks that close each other's streams: see EventQueue::close. `*kept` holds this stream.
  void close(EventQueue::Keepsake *kept) noexcept;

 private:
  // The engine's side.
  friend class Scheduler;
  void notify() noexcept;
  template <typename Action>
  void while_fed(Action action);
  void post_once(asr_event_kind kind, double time_s) noexcept;
  void post_partial(EventPointer partial, uint32_t n_frames);
  void post_result(EventPointer final) noexcept;    // FINAL and END
  void post_failure(const Error &reason) noexcept;  // ERROR and END; feeding throws the reason from now on
  void check_not_stopped() const;
  StopToken stop() const { return StopToken(&stopped_); }  // of work on results

  // Work on results that is left to the pool, in order: what settled of the lattice, and at the end the result, which is posted
  // with END.
  void submit_pieces(const LoadedModel &model);
  void submit_result(Scheduler *scheduler, std::function<EventPointer()> make);
  void determinise(LatticePieces *pieces, const std::function<void()> &add_pieces);
  void make_result(Scheduler *scheduler, const std::function<EventPointer()> &make);

  // Of the scheduler's thread: at most n values, of the history where it is read again, else of the intake.
  size_t take(float *values, size_t n);
  bool all_taken() const { return n_read_ == history_.size() && intake_.ended(); }
  void begin_again() noexcept;  // forgets the decoding, so that another scheduler can do it from the history
  bool is_decoding() const { return utterance_ && !failure_; }
  double fed_s() const { return static_cast<double>(intake_.n_values()) * value_s_; }

  const StreamOptions options_;
  std::atomic<Scheduler *> scheduler_;  // set by the thread of the one before
  const double value_s_;                // seconds for one kept value of the intake
  const std::shared_ptr<EventQueue> events_;
  Intake intake_;
  std::atomic<bool> cancelled_{false}, closed_{false}, stopped_{false};  // stopped_: cancelled or closed
  std::atomic<bool> starved_{false};                                     // there was no memory for what a call fed
  const std::shared_ptr<SerialWork> work_;
  std::atomic<bool> queued_{false};  // waits for a scheduler
  std::shared_ptr<Stream> next_queued_;
  std::atomic<bool> redo_{false};  // ended, but the device was lost before the pool had the result

  // Of the thread of scheduler_; after the end, of the job that makes the result.
  const bool keeps_history_;
  std::vector<float> history_;               // all that was taken from the intake, where the engine has a fallback
  size_t n_read_ = 0;                        // values of the history that are read
  uint32_t n_partial_frames_ = 0;            // of the last partial result that was posted
  EventPointer reserve_[ASR_EVENT_END + 1];  // those that post_once has not yet posted
  bool fell_back_ = false;
  std::optional<Utterance> utterance_;  // from the first visit to the end
  std::optional<Error> failure_;        // to be reported and ended
  std::shared_ptr<Stream> next_failed_;
  bool progressed_ = false;  // in this step
  bool last_taken_ = false;  // the rest of the audio is in a window
  bool ended_ = false;       // END was posted
};

}  // namespace asr
