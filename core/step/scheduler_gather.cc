// SPDX-License-Identifier: Apache-2.0
// Gathers the rows of streams for the next window.
#include <algorithm>

#include "core/step/scheduler.h"

namespace asr {

// Takes the stream's ready rows into the window. A stream that advanced, or whose end is near, is visited again. With a gate an
// utterance begins with speech; at the end of the stream one begins anyway, since it posts END.
void Scheduler::gather(const StreamPointer &stream, Window *window) {
  Stream &s = *stream;
  if (!s.makes_rows() || s.last_taken_ || s.awaits_check_) return;
  const bool all_taken = s.rows_->all_taken();
  if (!s.utterance_ && (all_taken || s.speech_begins())) s.begin_utterance(model_);
  if (!has_room(s, window)) return enqueue(stream);
  if (s.drops_rows() && !all_taken) return gather_dropped(stream, window);
  if (s.at_mark() && s.rows_->is_dry()) s.rows_->release_waiting();
  if (s.at_mark() && s.rows_->is_dry()) {
    s.end_at_ = s.next_frame_;
    s.intake_.pass_mark();
  }
  if (s.is_closing()) {
    s.last_taken_ = true;
    s.goes_on_ = !s.rows_->all_taken();
    window->parts.push_back({stream, {}, 0, false, false, true});
  } else if (s.is_to_choose()) {
    s.awaits_check_ = s.choosing_ = true;
    window->parts.push_back({stream, {}, 0, false, true, false});
  } else {
    gather_rows(stream, window);
  }
}

// Takes the lanes that the stream needs. Streams that do not fit are visited again.
bool Scheduler::has_room(const Stream &stream, Window *window) const {
  const uint32_t n = stream.utterance_ ? stream.utterance_->n_lanes() : 0;
  if (window->n_lanes + n > model_.n_lanes()) return false;
  window->n_lanes += n;
  return true;
}

// Drops rows outside utterances. The window gets a part if they are scored nevertheless.
void Scheduler::gather_dropped(const StreamPointer &stream, Window *window) {
  Stream &s = *stream;
  RowSource &rows = *s.rows_;
  const size_t n_frames = rows.next_frames();
  const size_t n = s.n_rows_to_drop();
  s.drop_rows(n, model_);
  if (rows.drop(n, &window->rows)) window->parts.push_back({stream, {}, 0, false, false, false});
  // Rows stay that only later audio can classify as background. Between utterances the mark has nothing to end, and need not
  // wait.
  const bool is_undecided = n == 0 && rows.n_ready() > 0;
  if (s.at_mark() && rows.is_dry()) rows.release_waiting();
  const bool at_mark = s.at_mark() && (rows.is_dry() || is_undecided);
  if (at_mark) s.pass_mark();
  if (n > 0 || n_frames > 0 || s.progressed_ || at_mark || s.at_mark() || rows.has_ended()) enqueue(stream);
}

void Scheduler::gather_rows(const StreamPointer &stream, Window *window) {
  Utterance &utterance = *stream->utterance_;
  RowSource &rows = *stream->rows_;
  const size_t n_frames = rows.next_frames();
  if (n_frames > 0) stream->progressed_ = true;
  const size_t n_fair = stream->fusion_ ? stream->fusion_->n_rows_for(model_.options().window_frames) : SIZE_MAX;
  const size_t n =
      std::min({utterance.room_for(rows.n_ready()), stream->n_frames_left(), stream->n_frames_to_choice(), n_fair});
  // Only adding the rows may fail. From then on the window's parts agree with its rows.
  WindowRows::Place place;
  if (stream->fusion_) {
    place = window->rows.add_fused(stream->fusion_, rows, n);
    rows.drop(n, &window->rows);
  } else {
    place = rows.take(n, &window->rows);
  }
  utterance.take(n);
  stream->next_frame_ += n;
  const bool partial = n > 0 && utterance.at_partial(), check = n > 0 && utterance.at_check();
  stream->awaits_check_ = check;
  stream->last_taken_ = rows.all_taken() && !partial && !check;  // each window requests one result of a stream
  if (n > 0 || n_frames > 0 || stream->last_taken_) {
    window->parts.push_back({stream, place, n, partial, check, stream->last_taken_});
  }
  if (stream->last_taken_ || check) return;
  if (n > 0 || stream->progressed_ || rows.has_ended() || stream->at_mark()) enqueue(stream);
}

}  // namespace asr
