// SPDX-License-Identifier: Apache-2.0
// Events and results of a stream: the events that the scheduler's thread posts, and the jobs of the pool that make
// results.
#include "core/lattice/from_backend.h"
#include "core/step/scheduler.h"
#include "core/stream/stream.h"

namespace asr {

void Stream::post_once(asr_event_kind kind, double time_s) noexcept {
  EventPointer event = std::move(reserve_[kind]);
  if (!event) return;
  event->time_s = time_s;
  post(std::move(event));
}

void Stream::post_partial(EventPointer partial, uint32_t n_frames) {
  if (n_frames <= n_partial_frames_) return;
  n_partial_frames_ = n_frames;
  if (fell_back_) partial->flags |= ASR_FLAG_FELL_BACK;
  post(std::move(partial));
}

// Posts PROBABLY_FINISHED or SPEECH_RESUMED; null if neither is due. Events posted before a device was lost are not repeated.
void Stream::post_pause(EventPointer event, bool is_pause, uint32_t n_frames) {
  if (!event || n_frames <= n_pause_frames_) return;
  n_pause_frames_ = n_frames;
  is_pause_ = is_pause;
  if (fell_back_) event->flags |= ASR_FLAG_FELL_BACK;
  post(std::move(event));
}

// Posts SPEECH_START; in a stream with endpoints it comes with the utterance's first word.
void Stream::post_speech_start(const PathTail &tail) {
  if (tail.has_words) post_once(ASR_EVENT_SPEECH_START, frame_s(utterance_->first_frame() + tail.n_silent_before));
}

void Stream::post_endpoint() noexcept {
  if (!options_.endpoint) {
    post_once(ASR_EVENT_ENDPOINT, fed_s());
  } else if (is_heard()) {
    post_once(ASR_EVENT_ENDPOINT, frame_s(utterance_->end_frame()));
  }
}

void Stream::post_result(EventPointer final) noexcept {
  if (fell_back_) final->flags |= ASR_FLAG_FELL_BACK;
  final->time_s = options_.endpoint ? frame_s(next_frame_) : fed_s();
  if (is_utterance_cancelled()) {
    final->flags |= ASR_FLAG_CANCELLED | ASR_FLAG_NO_SPEECH;
    final->alternatives.resize(1);
    final->alternatives[0] = {};
    final->n_stable_words = 0;
    final->out_of_grammar = -1;
    final->flags &= ~ASR_FLAG_REJECTED;
    final->lattice.reset();
  }
  // Frames that only waited for the audio after asr_end_utterance are not an utterance if none follows.
  const bool is_rest = begins_at_mark_ && !goes_on_ && intake_.ends_at_mark();
  const bool is_cancelled = (final->flags & ASR_FLAG_CANCELLED) != 0;
  if (is_heard() || (!final->alternatives[0].words.empty() && !is_rest)) {
    if (!is_cancelled) boosts_.pass();
    post_once(ASR_EVENT_SPEECH_START, final->alternatives[0].words.empty() ? 0 : final->alternatives[0].words[0].start_s);
    post_once(ASR_EVENT_ENDPOINT, final->time_s);
    post(std::move(final));
  }
  if (goes_on_) return;
  history_ = {};
  graph_.reset();
  post_once(ASR_EVENT_END, fed_s());
}

void Stream::post_failure(const Error &reason) noexcept {
  history_ = {};
  graph_.reset();
  intake_.close(reason);
  if (reserve_[ASR_EVENT_ERROR]) reserve_[ASR_EVENT_ERROR]->error = reason;
  post_once(ASR_EVENT_ERROR, fed_s());
  post_once(ASR_EVENT_END, fed_s());
}

Sound Stream::sound() const { return sound_ ? sound_->sound(utterance_->first_frame(), utterance_->end_frame()) : Sound(); }

void Stream::learn(const asr_event &final, const std::vector<uint32_t> &states) {
  if (!speaker_ || is_utterance_cancelled()) return;
  speaker_->learn(final, utterance_frame_, states, stop_token());
}

void Stream::submit_pieces(const LoadedModel &model) {
  if (!model.searcher().has(ASR_BACKEND_PIECES)) return;
  const auto channel = utterance_->channel();
  const auto pieces = utterance_->pieces();
  const float word_cost = utterance_->decoding().word_insertion_cost;
  const auto take = [&device = model.searcher(), channel](asr_raw_lattice *piece) {
    asr_backend_channel *const searched = channel.get();
    device.check(device.api()->lattices(device.get(), &searched, 1, ASR_WANTS_PIECE, piece));
  };
  std::function<void()> add_pieces;
  if (model.overlaps()) {
    add_pieces = [this, take, pieces, word_cost] { add_settled_pieces(take, word_cost, &pieces->determiniser, stop_token()); };
  } else {
    const auto lattices = std::make_shared<std::vector<Lattice>>();
    for_settled_pieces(take, word_cost, [&](Lattice piece) { lattices->push_back(std::move(piece)); });
    if (lattices->empty()) return;
    add_pieces = [this, pieces, lattices] {
      for (Lattice &lattice : *lattices) pieces->determiniser.add(std::move(lattice), stop_token());
    };
  }
  ++n_piece_jobs_;
  work_->submit([self = shared_from_this(), pieces, add_pieces] {
    self->determinise(pieces.get(), add_pieces);
    if (self->n_piece_jobs_-- == kMostPieceJobs) self->notify();
  });
}

void Stream::submit_result(Scheduler *scheduler, std::function<EventPointer()> make) {
  work_->submit([self = shared_from_this(), scheduler, make = std::move(make)] { self->make_result(scheduler, make); });
}

EventPointer Stream::lattice_result(SearchLattice found, const Decoding &decoding) {
  std::vector<uint32_t> states;
  EventPointer final = lattice_event(std::move(found), decoding, stop_token(), speaker_ ? &states : nullptr);
  learn(*final, states);
  return final;
}

void Stream::determinise(LatticePieces *pieces, const std::function<void()> &add_pieces) {
  if (pieces->failure || cancelled_ || closed_ || is_utterance_cancelled()) return;
  try {
    add_pieces();
  } catch (...) {
    pieces->failure = current_error();
  }
}

void Stream::make_result(Scheduler *scheduler, const std::function<EventPointer()> &make) {
  try {
    check_not_stopped();
    EventPointer final = make();
    check_not_stopped();
    post_result(std::move(final));
    if (goes_on_ && estimation_ && speaker_->is_due()) {
      estimation_->submit([self = shared_from_this()] { self->adapt(); });
      return;
    }
  } catch (...) {
    const Error found = current_error();
    const Error &reason = found.code() == ASR_CANCELLED && cancelled_ ? *kCancelled : found;
    const bool lost = reason.code() == ASR_DEVICE_LOST;
    if (lost && keeps_history_) {  // the scheduler repeats the work, or posts the failure
      redo_ = true;
      scheduler->lose(reason, shared_from_this());
      return;
    }
    if (lost) scheduler->lose(reason, shared_from_this());
    if (goes_on_) {
      result_failure_ = reason;
    } else {
      post_failure(reason);
    }
  }
  if (!goes_on_) return;
  resume_ = true;
  notify();
}

// The next utterance waits for this, other streams do not.
void Stream::adapt() noexcept {
  try {
    speaker_->adapt_if_due(stop_token());
  } catch (...) {
    result_failure_ = current_error();
  }
  resume_ = true;
  notify();
}

}  // namespace asr
