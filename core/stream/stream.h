// SPDX-License-Identifier: Apache-2.0
// Stream is the user's side of a stream: the calls that feed it, cut and cancel utterances, and take its events. Any thread may
// call them. The engine's side is its Session (core/session/session.h), which takes the input from here and posts the events.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/stream/carried_state.h"
#include "core/stream/event_queue.h"
#include "core/stream/intake.h"
#include "core/stream/meter.h"

namespace asr {

class Stream {
 public:
  // All referenced objects must outlive the stream. graph: the graph of options.graph. notify(): called on any thread when
  // there is something to do for the engine; must not throw. meter: the engine's.
  Stream(const StreamOptions &options, GraphName graph, const LoadedModel &model, std::shared_ptr<EventQueue> events,
         std::function<void()> notify, EngineMeter *meter);

  void start();                           // posts READY
  void replace(Stream *before) noexcept;  // `before` gets no further events to its user, and ends; call first, before start()
  void feed(const void *samples, size_t n);
  void try_feed(const void *samples, size_t n);  // throws ASR_BUSY if feed would block
  // Appends rows of asr_feed_device. Waits for their producer.
  void feed_device(std::shared_ptr<GivenPiece> piece, size_t n);
  void end_utterance();
  void cancel_utterance();
  void set_graph(GraphName graph);  // for the next utterance
  void boost(const std::string &phrases, float bonus);
  void forget_boosts();
  void finish();
  void cancel() noexcept;
  std::string state() const { return carried_.bytes(); }
  void set_state(const void *bytes, size_t n) { carried_.set(bytes, n); }
  EventPointer poll() { return events_->poll(); }
  void wait(int32_t timeout_ms) { events_->wait(timeout_ms); }
  // Callbacks that close each other's streams: see EventQueue::close. `*kept` holds this stream.
  void close(EventQueue::Handle *handle) noexcept;

  // Returns true if partial results were requested but batch normalisation delays them to the end.
  bool has_late_partials() const { return options_.partial_interval_ms > 0 && options_.is_audio() && is_batch_; }
  bool in_callback() const { return events_->in_callback(); }
  const StreamMeter &meter() const { return meter_; }
  const StreamOptions &options() const { return options_; }
  const std::shared_ptr<EventQueue> &events() const { return events_; }
  const GraphName &first_graph() const { return first_graph_; }

  // The session's side.
  size_t frame_values() const { return frame_values_; }  // values of the intake per frame shift
  double time_s(uint64_t n_values) const { return static_cast<double>(n_values) * value_s_; }
  double fed_s() const { return time_s(intake_.n_values()); }
  Intake &intake() { return intake_; }
  StreamMeter &meter() { return meter_; }
  CarriedState &carried() { return carried_; }
  Intake::Requests requests() { return intake_.requests(); }
  void post(EventPointer event) noexcept { events_->post(std::move(event), generation_); }
  void check_not_stopped() const;  // throws the reason why nothing more is decoded
  bool is_stopped() const { return stopped_; }
  StopToken stop_token() const { return StopToken(&stopped_); }  // stops work on results
  Error reason_of(const Error &failure) const;  // the user's reason, if work failed because of a call that stopped it

 private:
  void check_rows_memory(const char *call, asr_memory memory) const;
  void await_producer(const asr_device_rows &rows);
  void require_endpoints(const char *call) const;
  void require_lattices() const;
  void starve() noexcept;
  void require_room_for_rows(bool may_wait);
  void stop(const Error &reason) noexcept;

  const StreamOptions options_;
  const LoadedModel &model_;
  const bool is_batch_;  // the mean is taken over all audio
  const size_t frame_values_;
  const uint64_t max_untaken_rows_;  // beyond which feeding waits, if the stream gives rows; 0: it never does
  const double value_s_;             // seconds per value
  const std::shared_ptr<EventQueue> events_;
  const std::function<void()> notify_;
  const GraphName first_graph_;
  EventPointer ready_;
  uint64_t generation_ = 0;  // generation of the events
  StreamMeter meter_;
  Intake intake_;
  CarriedState carried_;
  std::atomic<bool> cancelled_{false};  // by asr_cancel
  std::atomic<bool> stopped_{false};    // so, closed, or replaced by asr_reset
  std::atomic<bool> starved_{false};    // a call lacked memory for its input
};

}  // namespace asr
