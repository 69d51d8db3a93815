// SPDX-License-Identifier: Apache-2.0
// Session is the engine's side of a stream: it makes rows of the input, has them searched an utterance at a time, and posts the
// events. Phases (phase.h) say where it stands. The thread of its Inbox uses it, and one job at a time of the engine's pools,
// which makes results.
//
// In each step that the scheduler visits it the calls come in this order: begin_step, fill, next_extract and extracted, gather;
// then, for the windows that have a share of it, the results that they brought: advanced, and partial, check or one of the
// finish functions; at last drop. A call that throws is to be followed by fail().
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "core/decode/sound_track.h"
#include "core/engine/worker_pool.h"
#include "core/rows/fused_models.h"
#include "core/rows/row_source.h"
#include "core/rows/speaker_track.h"
#include "core/rows/speech_gate.h"
#include "core/session/announcer.h"
#include "core/session/input_history.h"
#include "core/session/phase.h"
#include "core/session/utterance.h"
#include "core/stream/stream.h"

namespace asr {

class Inbox;

// Returns the bit that asks for the arcs which no later path changes, if the device can find them.
inline uint32_t wants_common(const LoadedModel &model) {
  return model.searcher().has(ASR_BACKEND_COMMON_PATH) ? ASR_WANTS_COMMON : 0;
}

class Session : public std::enable_shared_from_this<Session> {
 public:
  // All referenced objects must outlive the session. graph: the graph of options.graph. `model` is on the device that the
  // inbox's thread calls. results, estimations: the pools that make results, and that learn from speakers. meter: the engine's.
  Session(const StreamOptions &options, GraphName graph, const LoadedModel &model, Inbox *inbox, WorkerPool *results,
          WorkerPool *estimations, std::shared_ptr<EventQueue> events, EngineMeter *meter);

  Stream &stream() { return stream_; }
  void notify() noexcept;  // queues the session for a visit; any thread

  // What it has in a window: n_rows rows, whose log-likelihoods come to be at `place`.
  struct Share {
    WindowRows::Place place;
    size_t n_rows = 0;
    bool partial = false, check = false, last = false;  // afterwards a PARTIAL is due; check() is; the utterance ends
    bool has_left = false, may_leave = false;           // the device has left frames before these; it may leave some of these
  };

  // A visit. loss: why the device is no longer used, if it is not.
  void begin_step(const std::optional<Error> &loss);
  void fill();  // takes fed input, as far as a window needs it; touches nothing but the session
  // Frames whose cepstra the device is to compute, for a front end of the models; false if there are none.
  bool next_extract(size_t front_end, asr_extract_job *job);
  void extracted(size_t front_end);
  const FusedModels *fusion() const { return fusion_.get(); }  // nullptr: the engine's own model alone
  // Moves ready rows to the window. An utterance takes its lanes from *n_lanes, those that the window has left. *share is set
  // once rows are in the window, which it then is even if this throws. Returns whether to visit the session again.
  bool gather(uint32_t *n_lanes, WindowRows *window, std::optional<Share> *share);

  // Results, while is_decoding(). advanced(): rows has the share's rows if the device returned them, or is nullptr.
  bool is_decoding() const { return phase_.is_in(kDecoding); }
  const Utterance &utterance() const { return *utterance_; }
  void set_left(uint32_t n_frames) { n_left_ = n_frames; }  // frames that the device has left
  void advanced(const Share &share, const float *rows);
  void partial(const asr_path &path);
  void check(const asr_path &path);
  void finish(const asr_path &path);
  void finish(const asr_raw_lattice &lattice);
  void finish_later();  // a job of the pool takes the lattice from the device

  // Streams that give rows: posts those of a share, and END after the last one. is_giving(): such shares are in windows.
  bool is_giving() const { return phase_.is_in(phase_bits(Phase::kGiving, Phase::kGivingLast)); }
  void give(const Share &share, const float *loglikes);

  bool is_live() const { return phase_.is_in(kLive); }  // has work for the device
  Phase phase() const { return phase_.now(); }
  void drop();  // ends the step of kDropping, when the device is done with the utterance

  bool fail(const Error &reason) noexcept;  // records the reason, and returns true, unless nothing can fail any more
  const Error &failure() const { return *failure_; }
  void end_with_failure() noexcept;  // posts ERROR and END
  // Another device decodes the utterance again, from its first frame.
  void move_to(Inbox *inbox, const LoadedModel &model) noexcept;
  bool is_of(const Inbox *inbox) const { return inbox_ == inbox; }  // any thread

  bool is_watched = false;  // the engine's thread looks whether it is fed
  uint32_t n_windows = 0;   // windows in progress that have a share of it; the engine's thread
  // Links of the queues that it may be in.
  std::atomic<bool> is_queued{false};
  std::shared_ptr<Session> next_queued, next_failed;

 private:
  void begin_rows();
  void begin_sound();
  void begin_utterance();
  void begin_giving();
  void begin_next();              // after an utterance whose result is posted
  void begin_at(uint64_t frame);  // earliest beginning of the next utterance
  void forget_history() noexcept;
  void note_searched();
  void end(Phase phase) noexcept;

  // An utterance that begins before the kept frame was cancelled.
  bool is_utterance_cancelled() { return stream_.requests()->kept_frame() > utterance_frame_; }

  bool fill_directly();
  bool fill_given();
  bool fill_by_gate();
  void add_to_rows(const float *values, size_t n);
  void end_rows();
  void carry_state();
  bool makes_rows() const { return rows_ && is_live() && !phase_.is(Phase::kDropping) && !held_back_; }
  bool at_mark() const { return history_.at_mark() && (!gate_ || gate_->n_releasable() == 0); }
  bool speech_begins() const { return next_frame_ >= utterance_frame_ && gate_->speech_begins_at(next_frame_); }
  bool drops_rows() const { return next_frame_ < utterance_frame_ || !utterance_; }
  bool gather_dropped(WindowRows *window, std::optional<Share> *share);
  bool gather_rows(WindowRows *window, std::optional<Share> *share);
  bool gather_given(WindowRows *window, std::optional<Share> *share);
  WindowRows::Place add_scored(WindowRows *window, size_t n);
  void post_rows(const float *values, size_t n_rows, uint32_t n_values);
  bool is_closing() const { return phase_.is(Phase::kClosing) || (end_at_ && next_frame_ == *end_at_); }
  size_t n_frames_left() const { return end_at_ ? *end_at_ - next_frame_ : SIZE_MAX; }
  // For asr_set_graph. An utterance not yet heard at the frame of a choice is checked at that frame. It begins again with the
  // chosen graph if it has no words. Until then it may take this many rows.
  bool is_to_choose() { return utterance_ && !events_.is_heard() && stream_.requests()->next_graph_frame() <= next_frame_; }
  size_t n_frames_to_choice();

  void report_quiet(uint64_t frame);  // posts NO_INPUT if it is due before this frame, until which no word was heard
  double frame_s(uint64_t frame) const { return stream_.time_s(frame * stream_.frame_values()); }
  PathTail tail(const asr_path &path) const;
  void post_speech_start(const PathTail &tail);
  // Whether the utterance so far sounds like speech. Without a detector it does.
  bool has_voice() const { return !gate_ || gate_->has_voice(utterance_->first_frame(), utterance_->end_frame()); }
  void post_endpoint() noexcept;
  void post_result(EventPointer final) noexcept;    // FINAL, and END unless an utterance follows
  void post_failure(const Error &reason) noexcept;  // ERROR and END; feeding throws the reason from now on
  void look_for_endpoint(const asr_path &path, const PathTail &tail);
  void find_cut(const PathTail &tail);
  CutPath cut_off(const asr_path &path);
  EventPointer pause_event(const asr_path &path, bool is_pause);

  // Jobs of the pool, in order: settled pieces of the lattice, and at the end the result, which is posted with END. A session
  // with kMaxPieceJobs jobs of pieces that are not done takes no rows, so that pieces do not pile up where the search is
  // faster than the determiniser. Its audio then waits in the intake.
  static constexpr uint32_t kMaxPieceJobs = 8;
  void submit_pieces();
  void determinise(LatticePieces *pieces, uint64_t first_frame, const std::function<void()> &add_pieces);
  void submit_result(std::function<EventPointer()> make);
  void make_result(Inbox *inbox, const std::function<EventPointer()> &make);
  EventPointer lattice_result(SearchLattice found, const Decoding &decoding);
  // states: state of each row of the result's path, or kNoState.
  void learn(const asr_event &final, const std::vector<uint32_t> &states);
  void adapt() noexcept;
  // Compares the best path with the background; nullopt if the stream does not.
  std::optional<Comparison> comparison(const asr_path &path) const;
  std::optional<Comparison> comparison_of_search() const;
  EventPointer judged(EventPointer event, const asr_path &path) const;
  GivenBoosts take_boosts();  // boosts of the ended utterance

  Stream stream_;
  const StreamOptions &options_;
  const float warp_;                                     // warp of the frequency axis
  std::atomic<Inbox *> inbox_;                           // set by the previous inbox's thread
  const LoadedModel *model_;                             // on the device of the inbox's thread
  const std::shared_ptr<SerialWork> work_, estimation_;  // the second exists if the stream adapts its speaker
  std::atomic<uint32_t> n_piece_jobs_{0};                // submitted and not done
  std::atomic<bool> redo_{false};                        // the device was lost before the pool had the last result
  std::atomic<bool> resume_{false};      // the result of an utterance is posted, or failed, and the stream goes on
  std::optional<Error> result_failure_;  // the job's failure, for the engine's thread

  PhaseTrack phase_;
  Announcer events_;
  InputHistory history_;
  std::optional<SpeechGate> gate_;       // if background is not decoded; like rows_, but it outlives a lost device
  std::unique_ptr<RowSource> rows_;      // from the first visit to the end
  MeanState mean_state_;                 // scratch: that of the rows
  std::optional<SoundTrack> sound_;      // as rows_, where results may be compared with the background
  std::optional<SpeakerTrack> speaker_;  // nullopt: no speaker
  std::shared_ptr<FusedModels> fusion_;  // as rows_, where models are fused
  std::shared_ptr<FusedModels> scorer_;  // as rows_, where rows of log-likelihoods are given
  uint32_t n_left_ = 0;                  // frames before next_frame_ that the device has left, see ASR_MAY_LEAVE
  uint64_t next_frame_ = 0;              // number of the next frame of the rows
  uint64_t utterance_frame_ = 0;         // first frame of the utterance
  uint64_t given_frame_ = 0;             // first frame whose row is not posted yet
  uint64_t quiet_frame_ = 0;             // frame after the last word, or NO_INPUT
  std::shared_ptr<LoadedGraph> graph_;   // graph of the utterance, from its first beginning on
  GivenBoosts standing_boosts_;          // those of the graph and of the engine at that time
  std::optional<Utterance> utterance_;   // in the phases of kDecoding, and kDropping
  std::optional<uint64_t> end_at_;       // frame at which asr_end_utterance ends the utterance
  std::optional<Utterance::Cut> cut_;    // where the utterance is cut, if not at its end
  bool had_voice_ = true;                // the ended utterance; see has_voice()
  bool is_cut_ = false;                  // only its length ends the utterance
  bool begins_at_mark_ = false;          // the utterance before ended so
  bool goes_on_ = false;                 // another utterance follows the one whose result is in progress
  std::optional<Error> failure_;         // the reason of kFailed
  bool progressed_ = false;              // in this step
  bool held_back_ = false;               // in this step, as there were kMaxPieceJobs
};

}  // namespace asr
