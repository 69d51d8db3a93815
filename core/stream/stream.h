// SPDX-License-Identifier: Apache-2.0
// Stream is one stream of an engine. Its user feeds it and receives its events on any thread; the scheduler's thread takes the
// input, decodes it and posts events.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "core/decode/sound_track.h"
#include "core/engine/serial_work.h"
#include "core/rows/fused_models.h"
#include "core/rows/row_source.h"
#include "core/rows/speaker_track.h"
#include "core/rows/speech_gate.h"
#include "core/session/utterance.h"
#include "core/stream/boost_choices.h"
#include "core/stream/carried_state.h"
#include "core/stream/event_queue.h"
#include "core/stream/graph_choices.h"
#include "core/stream/intake.h"

namespace asr {

class Scheduler;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // All referenced objects must outlive the stream. graph: the graph of options.graph.
  Stream(const StreamOptions &options, GraphName graph, const LoadedModel &model, Scheduler *scheduler, WorkerPool *results,
         WorkerPool *estimations, std::shared_ptr<EventQueue> events);

  // The user's side.
  void start();                           // posts READY
  void replace(Stream *before) noexcept;  // `before` gets no further events to its user, and ends; call first, before start()
  void feed(const void *samples, size_t n);
  void try_feed(const void *samples, size_t n);  // throws ASR_BUSY if feed would block
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
  // Returns true if partial results were requested but batch normalisation delays them to the end.
  bool has_late_partials() const { return options_.partial_interval_ms > 0 && options_.is_audio() && is_batch_; }
  bool in_callback() const { return events_->in_callback(); }
  const StreamOptions &options() const { return options_; }
  const std::shared_ptr<EventQueue> &events() const { return events_; }
  const GraphName &first_graph() const { return choices_.first(); }
  // Callbacks that close each other's streams: see EventQueue::close. `*kept` holds this stream.
  void close(EventQueue::Keepsake *kept) noexcept;

 private:
  // The engine's side.
  friend class Scheduler;
  static const Error *const kCancelled;  // the reason once asr_cancel was called; created at load and never freed
  void notify() noexcept;
  template <typename Action>
  void while_fed(Action action);
  void stop(const Error &reason) noexcept;
  void post(EventPointer event) noexcept { events_->post(std::move(event), generation_); }
  void post_once(asr_event_kind kind, double time_s) noexcept;
  void post_partial(EventPointer partial, uint32_t n_frames);
  void post_pause(EventPointer event, bool is_pause, uint32_t n_frames);
  void begin_rows(const LoadedModel &model);
  void begin_sound(const LoadedModel &model);  // after the utterance, where all is decoded
  void begin_utterance(const LoadedModel &model);
  void require_endpoints(const char *call) const;
  void require_lattices() const;
  void go_on(const LoadedModel &model);  // after an utterance whose result is posted
  void begin_next(const LoadedModel &model);
  void begin_at(uint64_t frame, const LoadedModel &model);  // earliest beginning of the next utterance
  PathTail tail(const asr_path &path) const;
  void post_speech_start(const PathTail &tail);
  bool is_heard() const { return reserve_[ASR_EVENT_SPEECH_START] == nullptr; }
  // Parts of asr_cancel_utterance: the first frame kept; whether the utterance began before it; its end without a
  // result.
  uint64_t kept_frame() const { return (cancelled_values_ + frame_values_ - 1) / frame_values_; }
  bool is_utterance_cancelled() const { return kept_frame() > utterance_frame_; }
  void drop_utterance(const LoadedModel &model);
  // For asr_set_graph. An utterance not yet heard at the frame of a choice is checked at that frame. It begins again
  // with the chosen graph if it has no words. Until then it may take this many rows.
  bool is_to_choose() const { return utterance_ && !is_heard() && choices_.next_frame() <= next_frame_; }
  size_t n_frames_to_choice() const;
  Boosts take_boosts();  // boosts of the ended utterance
  void post_endpoint() noexcept;
  void post_result(EventPointer final) noexcept;    // FINAL, and END unless an utterance follows
  void post_failure(const Error &reason) noexcept;  // ERROR and END; feeding throws the reason from now on
  void check_not_stopped() const;
  StopToken stop_token() const { return StopToken(&stopped_); }  // stops work on results

  // Result work for the pool, in order: settled pieces of the lattice, and at the end the result, which is posted with END. A
  // stream with kMostPieceJobs jobs of pieces that are not done takes no rows, so that pieces do not pile up where the search
  // is faster than the determiniser. Its audio then waits in the intake.
  static constexpr uint32_t kMostPieceJobs = 8;
  void submit_pieces(const LoadedModel &model);
  void submit_result(Scheduler *scheduler, std::function<EventPointer()> make);
  EventPointer lattice_result(SearchLattice found, const Decoding &decoding);
  void determinise(LatticePieces *pieces, const std::function<void()> &add_pieces);
  void adapt() noexcept;
  void make_result(Scheduler *scheduler, const std::function<EventPointer()> &make);

  // Called by the scheduler's thread, fill_rows() by its team. take(): at most n values, from the history while that is read
  // again, else from the intake. fill_rows(): moves input to rows_, as far as a window needs it; returns whether there was any.
  size_t take(float *values, size_t n);
  void add_to_rows(const float *values, size_t n);
  // `states` has the state of each row of the result's path, or kNoState.
  void learn(const asr_event &final, const std::vector<uint32_t> &states);
  Sound sound() const;  // sound of the utterance; empty if results are not compared with the background
  bool fill_rows();
  bool fill_rows_by_gate();
  bool all_taken() const { return n_read_ == history_.size() && intake_.ended(); }
  bool all_taken_to_mark() const { return n_read_ == history_.size() && intake_.at_mark(); }
  bool at_mark() const { return all_taken_to_mark() && (!gate_ || gate_->n_releasable() == 0); }
  bool is_closing() const { return closing_ || (end_at_ && next_frame_ == *end_at_); }
  size_t n_frames_left() const { return end_at_ ? *end_at_ - next_frame_ : SIZE_MAX; }
  // Number of ready rows before the utterance, or between utterances in background; and their removal.
  bool drops_rows() const { return next_frame_ < utterance_frame_ || !utterance_; }
  size_t n_rows_to_drop() const;
  void drop_rows(size_t n, const LoadedModel &model);
  bool speech_begins() const { return next_frame_ >= utterance_frame_ && gate_->speech_begins_at(next_frame_); }
  void pass_mark();
  void forget_history(size_t n_margin_frames) noexcept;  // drops the history of earlier utterances
  void begin_again() noexcept;  // forgets the decoding, so that another scheduler can repeat it from the history
  bool is_decoding() const { return utterance_ && !failure_ && !dropping_; }
  bool makes_rows() const { return rows_ && !ended_ && !failure_ && !dropping_ && !held_back_; }
  double fed_s() const { return static_cast<double>(intake_.n_values()) * value_s_; }
  uint64_t fed_frame(const char *call) const;  // first frame that was not fed
  double frame_s(uint64_t frame) const { return static_cast<double>(frame * frame_values_) * value_s_; }

  const StreamOptions options_;
  const float warp_;                    // warp of the frequency axis
  const bool is_batch_;                 // the mean is taken over all audio
  std::atomic<Scheduler *> scheduler_;  // set by the previous scheduler's thread
  const size_t frame_values_;           // intake values per frame shift
  const double value_s_;                // seconds per value
  const std::shared_ptr<EventQueue> events_;
  uint64_t generation_ = 0;  // generation of the events
  Intake intake_;
  CarriedState carried_;
  std::atomic<bool> cancelled_{false}, closed_{false}, stopped_{false};  // stopped_: cancelled or closed
  std::atomic<bool> starved_{false};                                     // a call lacked memory for its input
  std::atomic<uint64_t> cancelled_values_{0};  // this many values belong to no utterance without a posted result
  GraphChoices choices_;
  BoostChoices boosts_;
  const std::shared_ptr<SerialWork> work_, estimation_;  // the second exists if the stream adapts its speaker
  std::atomic<bool> queued_{false};                      // waits for a scheduler
  std::shared_ptr<Stream> next_queued_;
  std::atomic<uint32_t> n_piece_jobs_{0};  // submitted and not done
  std::atomic<bool> redo_{false};          // ended, but the device was lost before the pool had the result

  std::atomic<bool> resume_{false};  // the result of an utterance is posted, or failed, and the stream goes on

  // Used by the thread of scheduler_; after the end of an utterance, by the job that makes its result.
  const bool keeps_history_;
  std::vector<float> history_;               // values taken from the intake, if the engine has a fallback
  uint64_t history_frame_ = 0;               // first frame of the history
  size_t n_read_ = 0;                        // values of the history already read
  uint32_t n_partial_frames_ = 0;            // at the last posted partial result
  bool is_pause_ = false;                    // PROBABLY_FINISHED was posted, and not taken back
  uint32_t n_pause_frames_ = 0;              // at the last event about that
  EventPointer reserve_[ASR_EVENT_END + 1];  // events that post_once has not yet posted
  bool fell_back_ = false;
  std::optional<SpeechGate> gate_;       // if background is not decoded; like rows_, but it outlives a lost device
  std::unique_ptr<RowSource> rows_;      // from the first visit to the end
  std::optional<SoundTrack> sound_;      // as rows_, where results may be compared with the background
  std::optional<SpeakerTrack> speaker_;  // nullopt: no speaker
  std::shared_ptr<FusedModels> fusion_;  // as rows_, where models are fused
  uint64_t next_frame_ = 0;              // number of the next frame of the rows
  uint64_t utterance_frame_ = 0;         // first frame of the utterance
  std::shared_ptr<LoadedGraph> graph_;   // graph of the utterance, from its first beginning on
  std::optional<Utterance> utterance_;   // from its first visit, or where speech begins, to its end
  std::optional<uint64_t> end_at_;       // frame at which asr_end_utterance ends the utterance
  bool begins_at_mark_ = false;          // the utterance before ended so
  bool awaits_check_ = false;            // no row is taken before the window under way has shown whether the utterance ends
  bool choosing_ = false;                // this window decides whether the utterance takes another graph
  bool closing_ = false;                 // the utterance has ended
  bool restarting_ = false;              // the utterance takes another graph, and begins again
  bool dropping_ = false;                // it was cancelled, or begins again, and ends with this step
  bool goes_on_ = false;                 // another utterance follows the one whose result is in progress
  std::optional<Error> failure_;         // failure to report at the stream's end
  std::optional<Error> result_failure_;  // the job's failure, for the thread of scheduler_
  std::shared_ptr<Stream> next_failed_;
  bool progressed_ = false;  // in this step
  bool held_back_ = false;   // in this step, as there were kMostPieceJobs
  bool last_taken_ = false;  // the rest of the utterance is in a window
  bool ended_ = false;       // nothing is left to decode, at least of this utterance
};

}  // namespace asr
