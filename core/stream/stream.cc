// SPDX-License-Identifier: Apache-2.0
#include "core/stream/stream.h"

#include <algorithm>
#include <new>

#include "core/step/scheduler.h"

namespace asr {

namespace {

constexpr size_t kMarginFrames = 4;  // frames whose samples may reach into the next frame's
constexpr size_t kMinFrames = 8;     // fewer are not worth a step, unless the audio has ended

// Created when the library is loaded, so that stopping a stream needs no memory; never freed, as threads may outlive exit.
const Error *const g_reset = new Error(ASR_CANCELLED, "the stream was reset by asr_reset; what was not finished is dropped");
const Error *const g_closed = new Error(ASR_INVALID_STATE, "the stream was closed");

// Its results take longer: they must not hold up other streams' results.
bool searches_warps(const StreamOptions &options) {
  return options.speaker && options.learns && options.speaker->searches_warps();
}

float warp_of(const StreamOptions &options) { return options.speaker ? options.speaker->warp() : options.vtln_warp; }

size_t backlog_limit(const StreamOptions &options, const LoadedModel &model) {
  if (options.max_backlog_ms == 0) return 0;
  const double frames = std::max<double>(kMinFrames, options.max_backlog_ms / (1000 * model.frame_shift_s()));
  return static_cast<size_t>(frames) * values_per_frame(options, model);
}

// The input of a stream with endpoints has no end.
uint64_t most_values(const StreamOptions &options, const LoadedModel &model) {
  if (options.endpoint) return UINT64_MAX;
  const uint64_t n_frames = static_cast<uint64_t>(options.max_utterance_s / model.frame_shift_s());
  return n_frames * values_per_frame(options, model);
}

bool keeps_state(const StreamOptions &options, const FrontEnd &front_end) {
  if (!options.is_audio() || (options.fusion && !options.fusion->has_own_rows_only())) return false;
  return options.cmn_of(front_end) == CmnKind::kLive && front_end.cmn_lookahead_frames > 0;
}

}  // namespace

const Error *const Stream::kCancelled = new Error(ASR_CANCELLED, "the stream was cancelled by asr_cancel");

Stream::Stream(const StreamOptions &options, GraphName graph, const LoadedModel &model, Scheduler *scheduler,
               WorkerPool *results, WorkerPool *estimations, std::shared_ptr<EventQueue> events)
    : options_(options),
      warp_(warp_of(options)),
      is_batch_(options.is_batch(model.bundle().front_end)),
      scheduler_(scheduler),
      frame_values_(values_per_frame(options, model)),
      value_s_(model.frame_shift_s() / static_cast<double>(frame_values_)),
      events_(std::move(events)),
      intake_(options_, options.is_audio() ? 1 : values_per_frame(options, model), backlog_limit(options, model),
              most_values(options, model), kMinFrames * values_per_frame(options, model), [this] { notify(); }),
      carried_(model.bundle().front_end, keeps_state(options, model.bundle().front_end)),
      choices_(std::move(graph)),
      boosts_(!options.endpoint),
      work_(std::make_shared<SerialWork>(searches_warps(options) ? estimations : results)),
      estimation_(options.adapts ? std::make_shared<SerialWork>(estimations) : nullptr),
      keeps_history_(!model.options().fallback.empty()) {
  if (options.speaker) {
    const uint32_t shift_samples = options.is_audio() ? model.bundle().front_end.shift_samples : 0;
    const bool normalises = options.cmn_of(model.bundle().front_end) != CmnKind::kNone;
    speaker_.emplace(options.speaker, warp_, options.learns, shift_samples, normalises);
  }
  for (const asr_event_kind kind :
       {ASR_EVENT_READY, ASR_EVENT_SPEECH_START, ASR_EVENT_ENDPOINT, ASR_EVENT_ERROR, ASR_EVENT_END}) {
    reserve_[kind] = new_event(kind);
  }
}

void Stream::start() { post_once(ASR_EVENT_READY, 0); }

void Stream::replace(Stream *before) noexcept {
  generation_ = events_->begin_again();
  before->closed_ = true;
  before->stop(*g_reset);
}

void Stream::feed(const void *samples, size_t n) {
  if (n > 0) carried_.note_fed();
  while_fed([&] { intake_.feed(samples, n, !in_callback()); });
}

void Stream::try_feed(const void *samples, size_t n) {
  if (n > 0) carried_.note_fed();
  while_fed([&] { intake_.try_feed(samples, n); });
}

void Stream::require_endpoints(const char *call) const {
  if (options_.endpoint) return;
  fail(ASR_INVALID_STATE, "%s: the stream is one utterance; set asr_stream_config.endpoint for several", call);
}

void Stream::end_utterance() {
  require_endpoints("asr_end_utterance");
  carried_.note_fed();
  while_fed([&] { intake_.mark(); });
}

void Stream::cancel_utterance() {
  require_endpoints("asr_cancel_utterance");
  const uint64_t n_values = intake_.n_values("asr_cancel_utterance");
  uint64_t before = cancelled_values_;
  while (before < n_values && !cancelled_values_.compare_exchange_weak(before, n_values)) continue;
  notify();
}

void Stream::set_graph(GraphName graph) {
  if (!options_.endpoint && carried_.is_fed()) {
    fail(ASR_INVALID_STATE,
         "asr_set_graph: the stream is one utterance and was fed already; call it before asr_feed or after asr_reset, or set "
         "asr_stream_config.endpoint");
  }
  choices_.choose(std::move(graph), [this] { return fed_frame("asr_set_graph"); });
}

uint64_t Stream::fed_frame(const char *call) const { return (intake_.n_values(call) + frame_values_ - 1) / frame_values_; }

void Stream::require_lattices() const {
  if (options_.lattice_beam > 0) return;
  fail(ASR_INVALID_STATE, "asr_boost: the stream makes no lattices; set asr_stream_config.lattice_beam, such as to 8");
}

void Stream::boost(const std::string &phrases, float bonus) {
  require_lattices();
  boosts_.choose({boosted_phrases(phrases), static_cast<double>(bonus)}, phrases.size(),
                 [this] { return fed_frame("asr_boost"); });
}

void Stream::forget_boosts() {
  require_lattices();
  boosts_.forget([this] { return fed_frame("asr_boost"); });
}

Boosts Stream::take_boosts() { return boosts_.take(options_.endpoint ? utterance_->end_frame() : UINT64_MAX); }

void Stream::finish() {
  carried_.note_fed();
  while_fed([&] { intake_.finish(); });
}

// A call without enough memory may have taken a part of its input, so the stream cannot go on.
template <typename Action>
void Stream::while_fed(Action action) {
  try {
    action();
  } catch (const std::bad_alloc &) {
    starved_ = true;
    intake_.close(out_of_memory());
    notify();
    throw;
  }
}

// The first reason wins if two threads stop the stream.
void Stream::stop(const Error &reason) noexcept {
  stopped_ = true;
  intake_.close(reason);
  notify();
}

void Stream::cancel() noexcept {
  cancelled_ = true;
  stop(*kCancelled);
}

void Stream::close(EventQueue::Keepsake *kept) noexcept {
  events_->close(kept);
  closed_ = true;
  stop(*g_closed);
}

void Stream::check_not_stopped() const {
  if (starved_) throw Error(out_of_memory());
  if (cancelled_ || closed_) throw Error(*kCancelled);
}

void Stream::notify() noexcept { scheduler_.load()->enqueue(shared_from_this()); }

void Stream::begin_rows(const LoadedModel &model) {
  if (options_.pre_roll_s && !gate_) {
    gate_.emplace(model.tables().front_end(), model.options().window_frames, *options_.pre_roll_s);
  }
  if (options_.fusion && !fusion_) fusion_ = std::make_shared<FusedModels>(*options_.fusion, model);
  if (!rows_) rows_ = make_row_source(model, options_, warp_, carried_.start(), speaker_ ? &*speaker_ : nullptr);
}

// Begins the sound track if results are compared. In a stream with endpoints its options decide, since later utterances may
// have another graph.
void Stream::begin_sound(const LoadedModel &model) {
  if (sound_ || !options_.is_audio()) return;
  const bool compares = options_.endpoint ? options_.compares() : utterance_->background() != nullptr;
  if (!compares) return;
  const FrontEnd &front_end = model.tables().front_end();
  sound_.emplace(front_end.sample_rate_hz, front_end.shift_samples, history_frame_);
}

void Stream::begin_utterance(const LoadedModel &model) {
  if (!graph_) graph_ = choices_.take(gate_ ? gate_->sound_from(utterance_frame_) : utterance_frame_);
  utterance_.emplace(model, graph_, options_, utterance_frame_);
  if (speaker_) speaker_->begin_utterance(model);
  rows_->begin_utterance();
  if (fusion_) fusion_->begin_utterance(*graph_);
  if (gate_) gate_->open();
  if (!options_.endpoint) post_once(ASR_EVENT_SPEECH_START, 0);
}

// Goes on to the next utterance, whose events are also allocated before it begins.
void Stream::go_on(const LoadedModel &model) {
  if (result_failure_) throw Error(*result_failure_);
  begin_next(model);
}

void Stream::begin_next(const LoadedModel &model) {
  for (const asr_event_kind kind : {ASR_EVENT_SPEECH_START, ASR_EVENT_ENDPOINT}) {
    if (!reserve_[kind]) reserve_[kind] = new_event(kind);
  }
  n_partial_frames_ = n_pause_frames_ = 0;
  is_pause_ = false;
  begins_at_mark_ = end_at_.has_value();
  end_at_.reset();
  last_taken_ = closing_ = goes_on_ = ended_ = awaits_check_ = choosing_ = restarting_ = false;
  graph_.reset();
  begin_at(next_frame_, model);
}

void Stream::begin_at(uint64_t frame, const LoadedModel &model) {
  frame = std::max(frame, kept_frame());
  utterance_frame_ = frame;
  choices_.pass(frame);
  boosts_.pass_to(frame);
  forget_history(model.tables().view()->dynamics->lookahead + kMarginFrames);
  if (sound_) sound_->forget_before(frame);
  if (speaker_) speaker_->forget_before(frame);
  if (!gate_) return;
  gate_->forget_before(frame);
  gate_->close(frame);
}

PathTail Stream::tail(const asr_path &path) const {
  PathTail tail = utterance_->tail(path);
  const uint64_t n = gate_ ? gate_->n_background_before(utterance_->end_frame()) : 0;
  if (n < tail.n_frames) tail.n_background = static_cast<uint32_t>(n);  // else the gate's speech is still to come
  return tail;
}

// Drops a cancelled utterance. After SPEECH_START it ends with a FINAL without words; otherwise it has no events.
void Stream::drop_utterance(const LoadedModel &model) {
  EventPointer final = new_event(ASR_EVENT_FINAL);
  final->alternatives.emplace_back();
  goes_on_ = true;
  post_result(std::move(final));
  utterance_.reset();
  dropping_ = false;
  begin_next(model);
}

size_t Stream::take(float *values, size_t n) {
  if (n == 0) return 0;
  if (n_read_ < history_.size()) {
    const size_t n_again = std::min(n, history_.size() - n_read_);
    std::copy_n(history_.begin() + static_cast<ptrdiff_t>(n_read_), n_again, values);
    n_read_ += n_again;
    return n_again;
  }
  const size_t n_taken = intake_.take(values, n);
  if (keeps_history_) {
    history_.insert(history_.end(), values, values + n_taken);
    n_read_ += n_taken;
  }
  return n_taken;
}

void Stream::add_to_rows(const float *values, size_t n) {
  rows_->add(values, n);
  if (sound_) sound_->add(values, n);
  if (speaker_) speaker_->add_sound(values, n);
}

bool Stream::fill_rows() {
  if (gate_) return fill_rows_by_gate();
  std::vector<float> values(rows_->n_wanted());
  const size_t n = take(values.data(), values.size());
  if (n > 0) add_to_rows(values.data(), n);
  if (all_taken()) rows_->end();
  return n > 0;
}

bool Stream::fill_rows_by_gate() {
  std::vector<float> values(gate_->n_wanted());
  const size_t n = take(values.data(), values.size());
  gate_->add(values.data(), n);
  if (all_taken_to_mark()) gate_->settle();
  if (all_taken()) gate_->finish();
  const size_t n_released = std::min(gate_->n_releasable(), rows_->n_wanted());
  if (n_released > 0) add_to_rows(gate_->samples(), n_released);
  gate_->release(n_released);
  if (all_taken() && gate_->is_empty()) rows_->end();
  return n > 0 || n_released > 0;
}

// Jobs of the pool for the previous utterance may still run; later jobs come after them. Features begin anew, too.
void Stream::begin_again() noexcept {
  utterance_.reset();
  rows_.reset();
  fusion_.reset();
  sound_.reset();
  if (speaker_) speaker_->begin_again(history_frame_);
  failure_.reset();
  progressed_ = last_taken_ = ended_ = awaits_check_ = choosing_ = closing_ = restarting_ = goes_on_ = dropping_ = false;
  next_frame_ = history_frame_;
  n_read_ = 0;
  if (gate_) {
    gate_->begin_again(history_frame_);
    gate_->close(utterance_frame_);
  }
  fell_back_ = true;
}

// Drops history except the frames before the utterance, from which its first rows are made, too.
void Stream::forget_history(size_t n_margin_frames) noexcept {
  const uint64_t last =
      std::min(utterance_frame_, history_frame_ + n_read_ / frame_values_);  // the utterance may begin in later audio
  const uint64_t begin = std::max(history_frame_, last - std::min<uint64_t>(last, n_margin_frames));
  const auto n = static_cast<size_t>((begin - history_frame_) * frame_values_);
  history_frame_ = begin;
  if (!keeps_history_) return;
  history_.erase(history_.begin(), history_.begin() + static_cast<ptrdiff_t>(n));
  n_read_ -= n;
}

size_t Stream::n_frames_to_choice() const {
  if (is_heard()) return SIZE_MAX;
  const uint64_t frame = choices_.next_frame();
  return frame > next_frame_ ? frame - next_frame_ : SIZE_MAX;
}

size_t Stream::n_rows_to_drop() const {
  const uint64_t n = next_frame_ < utterance_frame_ ? utterance_frame_ - next_frame_ : gate_->n_background_from(next_frame_);
  return std::min<uint64_t>(rows_->n_ready(), n);
}

void Stream::drop_rows(size_t n, const LoadedModel &model) {
  next_frame_ += n;
  if (utterance_) {
    forget_history(model.tables().view()->dynamics->lookahead + kMarginFrames);
  } else {
    begin_at(std::max(next_frame_, utterance_frame_), model);
  }
}

// Passes a mark of asr_end_utterance between utterances.
void Stream::pass_mark() {
  intake_.pass_mark();
  begins_at_mark_ = true;
}

}  // namespace asr
