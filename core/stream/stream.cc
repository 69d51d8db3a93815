// SPDX-License-Identifier: Apache-2.0
#include "core/stream/stream.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "core/backend/asr_backend_given.h"

namespace asr {

namespace {

constexpr size_t kMinFrames = 8;  // fewer are not worth a step, unless the audio has ended

// Created when the library is loaded, so that stopping a stream needs no memory; never freed, as threads may outlive exit.
const Error *const g_reset = new Error(ASR_CANCELLED, "the stream was reset by asr_reset; what was not finished is dropped");
const Error *const g_closed = new Error(ASR_INVALID_STATE, "the stream was closed");
const Error *const g_cancelled = new Error(ASR_CANCELLED, "the stream was cancelled by asr_cancel");

size_t backlog_frames(const StreamOptions &options, const LoadedModel &model) {
  if (options.max_backlog_ms == 0) return 0;
  return static_cast<size_t>(std::max<double>(kMinFrames, options.max_backlog_ms / (1000 * model.frame_shift_s())));
}

// The input of a stream with endpoints has no end.
uint64_t max_values(const StreamOptions &options, const LoadedModel &model) {
  if (options.endpoint) return UINT64_MAX;
  const uint64_t n_frames = static_cast<uint64_t>(options.max_utterance_s / model.frame_shift_s());
  return n_frames * options.values_per_frame(model);
}

// Returns the kind of normalisation if it has a state.
std::optional<CmnKind> kind_of_state(const StreamOptions &options, const FrontEnd &front_end) {
  if (!options.is_audio() || (options.fusion && !options.fusion->has_own_rows_only())) return std::nullopt;
  const CmnKind kind = options.cmn_of(front_end);
  const bool is_running = kind == CmnKind::kLive && front_end.cmn_lookahead_frames == 0;
  return kind == CmnKind::kNone || is_running ? std::nullopt : std::optional(kind);
}

}  // namespace

Stream::Stream(const StreamOptions &options, GraphName graph, const LoadedModel &model, std::shared_ptr<EventQueue> events,
               std::function<void()> notify, EngineMeter *meter)
    : options_(options),
      model_(model),
      is_batch_(options.is_batch(model.bundle().front_end)),
      frame_values_(options.values_per_frame(model)),
      max_untaken_rows_(options.gives_rows() ? backlog_frames(options, model) : 0),
      value_s_(model.frame_shift_s() / static_cast<double>(frame_values_)),
      events_(std::move(events)),
      notify_(std::move(notify)),
      first_graph_(std::move(graph)),
      ready_(new_event(ASR_EVENT_READY)),
      meter_(meter, value_s_),
      intake_(options_, options.is_audio() ? 1 : frame_values_, backlog_frames(options, model) * frame_values_,
              max_values(options, model), kMinFrames * frame_values_, Timeline(frame_values_, first_graph_, !options.endpoint),
              notify_, &meter_),
      carried_(model.bundle().front_end, kind_of_state(options, model.bundle().front_end)) {}

void Stream::start() { post(std::move(ready_)); }

void Stream::replace(Stream *before) noexcept {
  generation_ = events_->begin_again();
  before->meter_.close();
  before->stop(*g_reset);
}

// A call without enough memory may have taken a part of its input, so the stream cannot go on.
void Stream::starve() noexcept {
  starved_ = true;
  intake_.close(out_of_memory());
  notify_();
}

// A thread that polls may be the one that feeds, so that waiting for it to take rows might have no end.
void Stream::require_room_for_rows(bool may_wait) {
  if (max_untaken_rows_ == 0 || in_callback() || stopped_) return;
  if (may_wait && options_.callback) return events_->wait_for_rows(max_untaken_rows_, [this] { return stopped_.load(); });
  if (events_->n_rows() <= max_untaken_rows_) return;
  fail(ASR_BUSY,
       "%s: rows of more than max_backlog_ms have not been taken by %s; nothing was taken, take them and feed the same again",
       may_wait ? "asr_feed" : "asr_try_feed", options_.callback ? "the callback" : "asr_result");
}

// Rows of a stream are all in one kind of memory.
void Stream::check_rows_memory(const char *call, asr_memory memory) const {
  if (memory == options_.rows_memory) return;
  if (options_.is_given_rows()) {
    fail(ASR_INVALID_ARGUMENT,
         "%s: the stream takes rows in memory of the engine's device; feed others to another stream, or "
         "leave asr_stream_config.rows_memory as it is by default",
         call);
  }
  fail(ASR_INVALID_ARGUMENT, "%s: the stream takes rows on the host; set asr_stream_config.rows_memory to that of these rows",
       call);
}

// Looks often at first, since most producers are done or nearly so.
void Stream::await_producer(const asr_device_rows &rows) {
  constexpr std::chrono::microseconds kFirst(20), kLongest(500);
  std::chrono::microseconds pause = kFirst;
  for (;;) {
    uint32_t is_ready = 0;
    model_.device().check(model_.given()->is_ready(model_.device().get(), &rows, &is_ready));
    if (is_ready != 0) return;
    intake_.requests("asr_feed_device");  // throws if the stream was closed meanwhile
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 3 / 2, kLongest);
  }
}

void Stream::feed_device(std::shared_ptr<GivenPiece> piece, size_t n) {
  const asr_device_rows &rows = piece->rows;
  check_rows_memory("asr_feed_device", rows.memory);
  if (rows.memory == ASR_MEMORY_HOST) {
    const std::vector<float> packed = packed_host_rows(rows, n, frame_values_);
    return feed(packed.empty() ? first_value(rows) : packed.data(), n);
  }
  if (n > 0) {
    carried_.note_fed();
    model_.device().check(model_.given()->check(model_.device().get(), &rows, n, model_.n_columns()));
    await_producer(rows);
  }
  try {
    intake_.feed_given(std::move(piece), n, in_callback() ? Intake::WhenFull::kTake : Intake::WhenFull::kWait);
  } catch (const std::bad_alloc &) {
    starve();
    throw;
  }
}

void Stream::feed(const void *samples, size_t n) {
  check_rows_memory("asr_feed", ASR_MEMORY_HOST);
  if (n > 0) carried_.note_fed();
  require_room_for_rows(true);
  try {
    intake_.feed(samples, n, in_callback() ? Intake::WhenFull::kTake : Intake::WhenFull::kWait);
  } catch (const std::bad_alloc &) {
    starve();
    throw;
  }
}

void Stream::try_feed(const void *samples, size_t n) {
  check_rows_memory("asr_try_feed", ASR_MEMORY_HOST);
  if (n > 0) carried_.note_fed();
  require_room_for_rows(false);
  try {
    intake_.feed(samples, n, Intake::WhenFull::kRefuse);
  } catch (const std::bad_alloc &) {
    starve();
    throw;
  }
}

void Stream::require_endpoints(const char *call) const {
  if (options_.endpoint) return;
  fail(ASR_INVALID_STATE, "%s: the stream is one utterance; set asr_stream_config.endpoint for several", call);
}

void Stream::end_utterance() {
  require_endpoints("asr_end_utterance");
  carried_.note_fed();
  try {
    intake_.mark();
  } catch (const std::bad_alloc &) {
    starve();
    throw;
  }
}

void Stream::cancel_utterance() {
  require_endpoints("asr_cancel_utterance");
  intake_.requests("asr_cancel_utterance")->cancel();
  notify_();
}

void Stream::set_graph(GraphName graph) {
  if (options_.endpoint && intake_.is_finished()) return;  // no utterance will begin that it could concern
  if (!options_.endpoint && carried_.is_fed()) {
    fail(ASR_INVALID_STATE,
         "asr_set_graph: the stream is one utterance and was fed already; call it before asr_feed or after asr_reset, or set "
         "asr_stream_config.endpoint");
  }
  intake_.requests("asr_set_graph")->choose_graph(std::move(graph));
}

void Stream::require_lattices() const {
  if (options_.lattice_beam > 0) return;
  fail(ASR_INVALID_STATE, "asr_boost: the stream makes no lattices; set asr_stream_config.lattice_beam, such as to 8");
}

void Stream::boost(const std::string &phrases, float bonus) {
  require_lattices();
  auto boost = std::make_shared<GivenBoost>(Boost{boosted_phrases(phrases), static_cast<double>(bonus)});
  const std::shared_ptr<LoadedGraph> graph = intake_.requests("asr_boost")->last_graph()->get();
  const UnheardPhrases &unheard = boost->of(graph)->unheard;
  if (!unheard.phrases.empty() && !options_.boosts_unknown_words) {
    fail(ASR_NOT_FOUND,
         "asr_boost: %s; a line of the text is a phrase, of words alone. Nothing is boosted by this call; "
         "asr_stream_config.allow_unknown_boosts leaves such phrases out",
         unheard.what().c_str());
  }
  intake_.requests("asr_boost")->boost(std::move(boost), phrases.size());
}

void Stream::forget_boosts() {
  require_lattices();
  intake_.requests("asr_boost")->forget_boosts();
}

void Stream::finish() {
  carried_.note_fed();
  try {
    intake_.finish();
  } catch (const std::bad_alloc &) {
    starve();
    throw;
  }
}

// The first reason wins if two threads stop the stream.
void Stream::stop(const Error &reason) noexcept {
  stopped_ = true;
  intake_.close(reason);
  events_->wake();
  notify_();
}

void Stream::cancel() noexcept {
  cancelled_ = true;
  stop(*g_cancelled);
}

void Stream::close(EventQueue::Handle *handle) noexcept {
  meter_.close();
  events_->close(handle);
  stop(*g_closed);
}

void Stream::check_not_stopped() const {
  if (starved_) throw Error(out_of_memory());
  if (stopped_) throw Error(*g_cancelled);
}

Error Stream::reason_of(const Error &failure) const {
  return failure.code() == ASR_CANCELLED && cancelled_ ? *g_cancelled : failure;
}

}  // namespace asr
