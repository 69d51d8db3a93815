// SPDX-License-Identifier: Apache-2.0
// Session: what it does with results of the search, and the jobs of the pools that make events of them.
#include <limits>

#include "core/lattice/from_backend.h"
#include "core/session/inbox.h"
#include "core/session/session.h"

namespace asr {
namespace {

// PARTIALs of longer utterances have no score, because each would cost as much time as the utterance is long.
constexpr double kMaxComparedPartial_s = 60;

asr_path best_path(const LoadedModel &model, asr_backend_channel *channel, uint32_t wants) {
  asr_path path{};
  const Device &device = model.searcher();
  device.check(device.api()->best_paths(device.get(), &channel, 1, wants, &path));
  return path;
}

}  // namespace

void Session::advanced(const Share &share, const float *rows) {
  if (rows != nullptr) speaker_->keep(rows, share.n_rows);
  if (!utterance_->advanced(share.n_rows, n_left_)) return;
  utterance_->take_settled_paths(model_->searcher());
  if (utterance_->pieces() != nullptr) submit_pieces();
}

void Session::give(const Share &share, const float *loglikes) {
  if (share.n_rows > 0) post_rows(loglikes, share.n_rows, model_->n_states());
  if (!share.last) return;
  history_.clear();
  stream_.meter().end();
  events_.end(stream_.fed_s());
  end(Phase::kEnded);
}

void Session::post_rows(const float *values, size_t n_rows, uint32_t n_values) {
  EventPointer event = new_event(ASR_EVENT_ROWS);
  event->rows = {{values, values + n_rows * n_values}, static_cast<uint32_t>(n_rows), n_values, given_frame_};
  given_frame_ += n_rows;
  event->time_s = frame_s(given_frame_);
  events_.rows(std::move(event));
}

void Session::partial(const asr_path &path) {
  if (options_.endpoint) post_speech_start(tail(path));
  if (events_.is_heard()) events_.partial(judged(utterance_->result(ASR_EVENT_PARTIAL, path), path), path.n_frames);
}

void Session::check(const asr_path &path) {
  const PathTail tail = this->tail(path);
  post_speech_start(tail);
  report_quiet(utterance_->end_frame());
  if (phase_.is(Phase::kChoosing)) {
    phase_.to(events_.is_heard() ? Phase::kHearing : Phase::kRestarting);
  } else {
    look_for_endpoint(path, tail);
  }
  notify();
}

void Session::look_for_endpoint(const asr_path &path, const PathTail &tail) {
  const double cost = path.total_cost;
  const uint32_t n_frames = path.n_frames;
  const auto cost_to_end = [&] {
    const asr_path final = best_path(*model_, utterance_->channel().get(), ASR_WANTS_FINAL);
    return final.reached_final != 0 ? final.total_cost - cost : std::numeric_limits<double>::infinity();
  };
  const bool is_pause = events_.is_heard() && utterance_->has_probably_ended(tail);
  EventPointer event = is_pause == events_.is_pause() ? nullptr : pause_event(path, is_pause);
  const bool ends = path.beam_died != 0 || utterance_->ends_at(tail, cost_to_end);  // the path is no longer valid
  if (ends && path.beam_died == 0) find_cut(tail);
  phase_.to(ends ? Phase::kClosing : Phase::kHearing);
  if (!ends) events_.pause(std::move(event), is_pause, n_frames);
}

void Session::find_cut(const PathTail &tail) {
  is_cut_ = utterance_->is_cut(tail);
  const uint32_t wants = wants_common(*model_);
  if (wants == 0) return;
  cut_ = utterance_->cut(tail, [&] { return best_path(*model_, utterance_->channel().get(), wants); });
  if (cut_ && utterance_->end_frame() - utterance_->first_frame() - cut_->frame > rows_->n_kept()) cut_.reset();
}

// The rows after the cut are the next utterance's.
CutPath Session::cut_off(const asr_path &path) {
  CutPath cut = utterance_->cut(path, *cut_);
  const uint64_t n_rows = utterance_->end_frame() - utterance_->first_frame() - cut_->frame;
  rows_->rewind(n_rows);
  next_frame_ -= n_rows;
  utterance_->shorten(cut_->frame);
  goes_on_ = true;
  return cut;
}

EventPointer Session::pause_event(const asr_path &path, bool is_pause) {
  if (is_pause) {
    const uint32_t wants = wants_common(*model_);
    const asr_path whole = wants != 0 ? best_path(*model_, utterance_->channel().get(), wants) : path;
    return judged(utterance_->result(ASR_EVENT_PROBABLY_FINISHED, whole), whole);
  }
  EventPointer event = new_event(ASR_EVENT_SPEECH_RESUMED);
  event->time_s = frame_s(utterance_->end_frame());
  return event;
}

PathTail Session::tail(const asr_path &path) const {
  PathTail tail = utterance_->tail(path);
  const uint64_t n = gate_ ? gate_->n_background_before(utterance_->end_frame()) : 0;
  if (n < tail.n_frames) tail.n_background = static_cast<uint32_t>(n);  // else the gate's speech is still to come
  return tail;
}

// In a stream with endpoints SPEECH_START comes with the utterance's first word, if that is no noise in which the search hears
// words.
void Session::post_speech_start(const PathTail &tail) {
  if (tail.has_words && !events_.is_heard() && has_voice())
    events_.speech_start(frame_s(utterance_->first_frame() + tail.n_silent_before));
}

void Session::post_endpoint() noexcept {
  if (!options_.endpoint) {
    events_.endpoint(stream_.fed_s());
  } else if (events_.is_heard()) {
    events_.endpoint(frame_s(utterance_->end_frame()));
  }
}

void Session::post_result(EventPointer final) noexcept {
  final->time_s = options_.endpoint ? frame_s(next_frame_) : stream_.fed_s();
  if (is_cut_) final->flags |= ASR_FLAG_CUT;
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
  const bool is_rest = begins_at_mark_ && !goes_on_ && stream_.intake().ends_at_mark();
  const bool is_cancelled = (final->flags & ASR_FLAG_CANCELLED) != 0;
  // Words without a voice are those of a noise, unless other speech was compared with them and is less likely: a whisper.
  const bool is_whisper = final->out_of_grammar >= 0 && (final->flags & ASR_FLAG_REJECTED) == 0;
  const bool is_heard = had_voice_ || is_whisper || !options_.endpoint;
  const bool is_said = !final->alternatives[0].words.empty() && !is_rest && is_heard;
  if (events_.is_heard() || is_said) {
    if (!is_cancelled) stream_.requests()->pass_boosts();
    events_.speech_start(final->alternatives[0].words.empty() ? 0 : final->alternatives[0].words[0].start_s);
    events_.endpoint(final->time_s);
    events_.final(std::move(final));
  }
  if (goes_on_) return;
  history_.clear();
  graph_.reset();
  stream_.meter().end();
  events_.end(stream_.fed_s());
}

void Session::post_failure(const Error &reason) noexcept {
  history_.clear();
  graph_.reset();
  stream_.intake().close(reason);
  stream_.meter().end();
  events_.failure(reason, stream_.fed_s());
}

std::optional<Comparison> Session::comparison(const asr_path &path) const {
  asr_backend_channel *const channel = utterance_->background().get();
  if (channel == nullptr) return std::nullopt;
  const asr_path background = best_path(*model_, channel, 0);
  const Sound sound = sound_ ? sound_->sound(utterance_->first_frame(), utterance_->end_frame()) : Sound();
  return Comparison(utterance_->heard(path), {utterance_->background_heard(background), sound}, utterance_->words(path));
}

std::optional<Comparison> Session::comparison_of_search() const {
  if (!utterance_->background()) return std::nullopt;
  return comparison(best_path(*model_, utterance_->channel().get(), ASR_WANTS_FINAL));
}

EventPointer Session::judged(EventPointer event, const asr_path &path) const {
  const bool is_too_long = event->kind != ASR_EVENT_FINAL && path.n_frames * model_->frame_shift_s() > kMaxComparedPartial_s;
  if (is_too_long) leave_out_keywords(utterance_->decoding(), event.get());
  if (event->alternatives[0].words.empty() || is_too_long) return event;
  if (const auto compared = comparison(path)) {
    judge(*compared, utterance_->first_frame(), utterance_->decoding(), event.get());
  }
  return event;
}

GivenBoosts Session::take_boosts() {
  GivenBoosts boosts = standing_boosts_;
  const GivenBoosts given = stream_.requests()->take_boosts(options_.endpoint ? utterance_->end_frame() : UINT64_MAX);
  boosts.insert(boosts.end(), given.begin(), given.end());
  return boosts;
}

void Session::finish(const asr_path &searched) {
  had_voice_ = has_voice();
  CutPath cut;
  if (cut_) cut = cut_off(searched);
  const asr_path &path = cut_ ? cut.path : searched;
  EventPointer final = judged(utterance_->result(ASR_EVENT_FINAL, path), path);
  if (speaker_) {  // learning takes time
    submit_result([this, made = std::make_shared<EventPointer>(std::move(final)), states = utterance_->states(path)] {
      learn(**made, states);
      return std::move(*made);
    });
    return end(Phase::kResult);
  }
  post_result(std::move(final));
  resume_ = goes_on_;
  end(goes_on_ ? Phase::kResult : Phase::kEnded);
}

// The device's memory of the lattice is taken over at once; the pool does the further work on it.
void Session::finish(const asr_raw_lattice &lattice) {
  had_voice_ = has_voice();
  const Decoding &decoding = utterance_->decoding();
  const auto found = std::make_shared<SearchLattice>(
      search_lattice({}, take_boosts(), utterance_->pieces(), lattice, utterance_->first_frame(), decoding));
  found->comparison = comparison_of_search();  // the lattice, now copied, was valid until this
  post_endpoint();
  submit_result([this, found, decoding] { return lattice_result(std::move(*found), decoding); });
  end(Phase::kResult);
}

// The pool makes the lattice from the device's output, since the engine's thread has no time for that.
void Session::finish_later() {
  had_voice_ = has_voice();
  const auto channel = utterance_->channel();
  const auto pieces = utterance_->pieces();
  const uint64_t first_frame = utterance_->first_frame();
  const Decoding &decoding = utterance_->decoding();
  post_endpoint();
  submit_result([this, channel, pieces, first_frame, &device = model_->searcher(), decoding, compared = comparison_of_search(),
                 boosts = take_boosts()] {
    asr_backend_channel *const searched = channel.get();
    asr_raw_lattice raw{};
    device.check(device.api()->lattices(device.get(), &searched, 1, ASR_WANTS_FINAL, &raw));
    return lattice_result(search_lattice(compared, boosts, pieces, raw, first_frame, decoding), decoding);
  });
  end(Phase::kResult);
}

void Session::submit_pieces() {
  if (!model_->searcher().has(ASR_BACKEND_PIECES)) return;
  const auto channel = utterance_->channel();
  const auto pieces = utterance_->pieces();
  const float word_cost = utterance_->decoding().word_insertion_cost;
  const auto take = [&device = model_->searcher(), channel](asr_raw_lattice *piece) {
    asr_backend_channel *const searched = channel.get();
    device.check(device.api()->lattices(device.get(), &searched, 1, ASR_WANTS_PIECE, piece));
  };
  std::function<void()> add_pieces;
  if (model_->overlaps()) {
    add_pieces = [this, take, pieces, word_cost] {
      add_settled_pieces(take, word_cost, &pieces->determiniser, stream_.stop_token());
    };
  } else {
    const auto lattices = std::make_shared<std::vector<Lattice>>();
    for_settled_pieces(take, word_cost, [&](Lattice piece) { lattices->push_back(std::move(piece)); });
    if (lattices->empty()) return;
    add_pieces = [this, pieces, lattices] {
      for (Lattice &lattice : *lattices) pieces->determiniser.add(std::move(lattice), stream_.stop_token());
    };
  }
  ++n_piece_jobs_;
  work_->submit([self = shared_from_this(), pieces, first_frame = utterance_->first_frame(), add_pieces] {
    self->determinise(pieces.get(), first_frame, add_pieces);
    if (self->n_piece_jobs_-- == kMaxPieceJobs) self->notify();
  });
}

// The utterance may have been dropped meanwhile, so this reads nothing that the engine's thread writes.
void Session::determinise(LatticePieces *pieces, uint64_t first_frame, const std::function<void()> &add_pieces) {
  if (pieces->failure || stream_.is_stopped() || stream_.requests()->kept_frame() > first_frame) return;
  try {
    add_pieces();
  } catch (...) {
    pieces->failure = current_error();
  }
}

void Session::submit_result(std::function<EventPointer()> make) {
  work_->submit([self = shared_from_this(), inbox = inbox_.load(), make = std::move(make)] { self->make_result(inbox, make); });
}

EventPointer Session::lattice_result(SearchLattice found, const Decoding &decoding) {
  std::vector<uint32_t> states;
  EventPointer final = lattice_event(std::move(found), decoding, stream_.stop_token(), speaker_ ? &states : nullptr);
  learn(*final, states);
  return final;
}

void Session::learn(const asr_event &final, const std::vector<uint32_t> &states) {
  if (!speaker_ || is_utterance_cancelled()) return;
  speaker_->learn(final, utterance_frame_, states, stream_.stop_token());
}

void Session::make_result(Inbox *inbox, const std::function<EventPointer()> &make) {
  try {
    stream_.check_not_stopped();
    EventPointer final = make();
    stream_.check_not_stopped();
    post_result(std::move(final));
    if (goes_on_ && estimation_ && speaker_->is_due()) {
      estimation_->submit([self = shared_from_this()] { self->adapt(); });
      return;
    }
  } catch (...) {
    const Error reason = stream_.reason_of(current_error());
    const bool lost = reason.code() == ASR_DEVICE_LOST;
    if (lost && history_.is_kept()) {  // the engine's thread repeats the work, or posts the failure
      redo_ = true;
      inbox->lose(reason, shared_from_this());
      return;
    }
    if (lost) inbox->lose(reason, shared_from_this());
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
void Session::adapt() noexcept {
  try {
    speaker_->adapt_if_due(stream_.stop_token());
  } catch (...) {
    result_failure_ = current_error();
  }
  resume_ = true;
  notify();
}

}  // namespace asr
