// SPDX-License-Identifier: Apache-2.0
// Session: its phases, and the rows that it makes and gathers. Results are in session_results.cc.
#include "core/session/session.h"

#include <algorithm>
#include <cmath>

#include "core/session/inbox.h"

namespace asr {
namespace {

constexpr size_t kMarginFrames = 4;  // frames whose samples may reach into the next frame's

// Its results take longer: they must not hold up other streams' results.
bool searches_warps(const StreamOptions &options) {
  return options.speaker && options.learns && options.speaker->searches_warps();
}

float warp_of(const StreamOptions &options) { return options.speaker ? options.speaker->warp() : options.vtln_warp; }

}  // namespace

Session::Session(const StreamOptions &options, GraphName graph, const LoadedModel &model, Inbox *inbox, WorkerPool *results,
                 WorkerPool *estimations, std::shared_ptr<EventQueue> events, EngineMeter *meter)
    : stream_(
          options, std::move(graph), model, std::move(events), [this] { inbox_.load()->enqueue(shared_from_this()); }, meter),
      options_(stream_.options()),
      warp_(warp_of(options)),
      inbox_(inbox),
      model_(&model),
      work_(std::make_shared<SerialWork>(searches_warps(options) ? estimations : results)),
      estimation_(options.adapts ? std::make_shared<SerialWork>(estimations) : nullptr),
      events_(&stream_),
      history_(&stream_.intake(), stream_.frame_values(), !model.options().fallback.empty()) {
  if (!options.speaker) return;
  const uint32_t shift_samples = options.is_audio() ? model.bundle().front_end.shift_samples : 0;
  const bool normalises = options.cmn_of(model.bundle().front_end) != CmnKind::kNone;
  speaker_.emplace(options.speaker, warp_, options.learns, shift_samples, normalises);
}

void Session::notify() noexcept { inbox_.load()->enqueue(shared_from_this()); }

void Session::begin_step(const std::optional<Error> &loss) {
  if (redo_.exchange(false)) phase_.to(Phase::kBackground);
  if (resume_.exchange(false)) {
    phase_.to(Phase::kBackground);
    if (result_failure_) throw Error(*result_failure_);
    begin_next();
  }
  if (!is_live()) return;
  stream_.check_not_stopped();
  if (loss) throw Error(*loss);
  if (is_utterance_cancelled() || phase_.is(Phase::kRestarting)) {
    // After the loss of a device an utterance may be heard that has not begun again.
    if (utterance_ || (options_.endpoint && events_.is_heard())) return phase_.to(Phase::kDropping);
    begin_at(next_frame_);
  }
  if (options_.gives_rows()) {
    if (phase_.is(Phase::kBackground)) begin_giving();
  } else if (!utterance_) {
    begin_rows();
    if (!gate_) begin_utterance();
    begin_sound();
  }
  progressed_ = false;
  held_back_ = n_piece_jobs_ >= kMaxPieceJobs;
}

bool Session::next_extract(size_t front_end, asr_extract_job *job) {
  if (!makes_rows()) return false;
  if (std::unique_ptr<RowSource> instead = rows_->replacement()) rows_ = std::move(instead);
  return rows_->next_extract(front_end, job);
}

void Session::begin_rows() {
  if (options_.pre_roll_s && !gate_) {
    gate_.emplace(model_->tables().front_end(), model_->options().window_frames, *options_.pre_roll_s);
  }
  if (options_.fusion && !fusion_) fusion_ = std::make_shared<FusedModels>(*options_.fusion, *model_);
  if (!rows_) rows_ = make_row_source(*model_, options_, warp_, stream_.carried().start(), speaker_ ? &*speaker_ : nullptr);
}

// Begins the sound track if results are compared. In a stream with endpoints its options decide, since later utterances may
// have another graph.
void Session::begin_sound() {
  if (sound_ || !options_.is_audio()) return;
  const bool compares = options_.endpoint ? options_.compares() : utterance_->background() != nullptr;
  if (!compares) return;
  const FrontEnd &front_end = model_->tables().front_end();
  sound_.emplace(front_end.sample_rate_hz, front_end.shift_samples, history_.first_frame());
}

void Session::begin_utterance() {
  if (!graph_) {
    const Intake::Requests requests = stream_.requests();
    graph_ = requests->take_graph(gate_ ? gate_->sound_from(utterance_frame_) : utterance_frame_);
    if (options_.lattice_beam > 0) standing_boosts_ = requests->taken_graph()->all_boosts();
  }
  utterance_.emplace(*model_, graph_, options_, utterance_frame_, rows_->frame_map());
  n_left_ = 0;
  if (speaker_ && options_.learns && options_.lattice_beam == 0) utterance_->keep_states();  // else they come from the lattice
  phase_.to(Phase::kHearing);
  if (speaker_) speaker_->begin_utterance(*model_);
  rows_->begin_utterance();
  if (fusion_) fusion_->begin_utterance(*graph_);
  if (gate_) gate_->open();
  if (!options_.endpoint) events_.speech_start(0);
}

void Session::begin_giving() {
  begin_rows();
  if (speaker_) speaker_->begin_utterance(*model_);
  rows_->begin_utterance();
  if (options_.output == Output::kLoglikes) {
    const bool is_adapted = speaker_ && speaker_->model();
    scorer_ = fusion_      ? fusion_
              : is_adapted ? speaker_->model()
                           : std::make_shared<FusedModels>(on_device(nullptr, *model_).acoustic, *model_);
  }
  phase_.to(Phase::kGiving);
}

void Session::report_quiet(uint64_t frame) {
  if (!options_.no_input_s || !options_.endpoint || events_.is_heard()) return;
  const auto n_frames = static_cast<uint64_t>(std::llround(*options_.no_input_s / model_->frame_shift_s()));
  quiet_frame_ = std::max(quiet_frame_, stream_.requests()->kept_frame());
  for (; quiet_frame_ + n_frames <= frame; quiet_frame_ += n_frames) events_.no_input(frame_s(quiet_frame_ + n_frames));
}

void Session::note_searched() {
  const std::shared_ptr<const FrameMap> map = rows_ ? rows_->frame_map() : nullptr;
  stream_.meter().set_searched((map ? map->frame_of(next_frame_) : next_frame_) * stream_.frame_values());
}

// The events of the next utterance are allocated before it begins.
void Session::begin_next() {
  if (events_.is_heard()) quiet_frame_ = next_frame_;
  report_quiet(next_frame_);
  events_.begin_utterance();
  begins_at_mark_ = end_at_.has_value();
  end_at_.reset();
  goes_on_ = false;
  is_cut_ = false;
  cut_.reset();
  graph_.reset();
  begin_at(next_frame_);
}

void Session::begin_at(uint64_t frame) {
  frame = std::max(frame, stream_.requests()->kept_frame());
  utterance_frame_ = frame;
  stream_.requests()->pass_to(frame);
  forget_history();
  if (sound_) sound_->forget_before(frame);
  if (speaker_) speaker_->forget_before(frame);
  if (!gate_) return;
  gate_->forget_before(frame);
  gate_->close(frame);
}

void Session::forget_history() noexcept {
  history_.forget_before(utterance_frame_, model_->tables().view()->dynamics->lookahead + kMarginFrames);
}

// Drops a cancelled utterance. After SPEECH_START it ends with a FINAL without words; otherwise it has no events.
void Session::drop() {
  EventPointer final = new_event(ASR_EVENT_FINAL);
  final->alternatives.emplace_back();
  goes_on_ = true;
  const uint64_t next_frame = next_frame_;
  if (!utterance_) next_frame_ = std::max(next_frame, stream_.requests()->kept_frame());  // it comes again, from before
  post_result(std::move(final));
  next_frame_ = next_frame;
  utterance_.reset();
  phase_.to(Phase::kBackground);
  begin_next();
}

// Ends the utterance, and the stream unless another utterance follows.
void Session::end(Phase phase) noexcept {
  phase_.to(phase);
  utterance_.reset();
  if (!goes_on_) {
    rows_.reset();
    fusion_.reset();
    scorer_.reset();
    sound_.reset();
    gate_.reset();
  }
  if (resume_) notify();  // a visit before this would have found the utterance
}

bool Session::fail(const Error &reason) noexcept {
  if (!is_live()) return false;
  failure_ = reason;
  phase_.to(Phase::kFailed);
  return true;
}

void Session::end_with_failure() noexcept {
  post_failure(*failure_);
  goes_on_ = false;
  end(Phase::kEnded);
}

// Jobs of the pool for the previous utterance may still run; later jobs come after them. Features begin anew, too.
void Session::move_to(Inbox *inbox, const LoadedModel &model) noexcept {
  utterance_.reset();
  rows_.reset();
  fusion_.reset();
  scorer_.reset();
  sound_.reset();
  if (speaker_) speaker_->begin_again(history_.first_frame());
  failure_.reset();
  goes_on_ = false;
  phase_.to(Phase::kBackground);
  next_frame_ = history_.first_frame();
  note_searched();
  history_.begin_again();
  if (gate_) {
    gate_->begin_again(history_.first_frame());
    gate_->close(utterance_frame_);
  }
  events_.fall_back();
  model_ = &model;
  inbox_ = inbox;
  notify();
}

void Session::fill() {
  if (makes_rows()) progressed_ = options_.is_given_rows() ? fill_given() : gate_ ? fill_by_gate() : fill_directly();
}

bool Session::fill_directly() {
  std::vector<float> values(rows_->n_wanted());
  const size_t n = history_.take(values.data(), values.size());
  if (n > 0) add_to_rows(values.data(), n);
  if (history_.ended()) end_rows();
  return n > 0;
}

bool Session::fill_given() {
  std::vector<GivenSpan> spans;
  const size_t n = history_.take_given(rows_->n_wanted(), &spans);
  rows_->add_given(std::move(spans));
  if (history_.ended()) end_rows();
  return n > 0;
}

bool Session::fill_by_gate() {
  std::vector<float> values(gate_->n_wanted());
  const size_t n = history_.take(values.data(), values.size());
  gate_->add(values.data(), n);
  if (history_.at_mark()) gate_->settle();
  if (history_.ended()) gate_->finish();
  const size_t n_released = std::min(gate_->n_releasable(), rows_->n_wanted());
  if (n_released > 0) add_to_rows(gate_->samples(), n_released);
  gate_->release(n_released);
  if (history_.ended() && gate_->is_empty()) end_rows();
  return n > 0 || n_released > 0;
}

void Session::end_rows() {
  rows_->end();
  carry_state();
}

void Session::carry_state() {
  if (rows_->get_state(&mean_state_)) stream_.carried().update(mean_state_);
}

void Session::add_to_rows(const float *values, size_t n) {
  rows_->add(values, n);
  if (sound_) sound_->add(values, n);
  if (speaker_) speaker_->add_sound(values, n);
}

void Session::extracted(size_t front_end) {
  if (!makes_rows()) return;
  rows_->extracted(front_end);
  carry_state();
  progressed_ = true;
}

// A session that advanced, or whose end is near, is visited again. With a gate an utterance begins with speech; at the end of
// the stream one begins anyway, since it posts END.
bool Session::gather(uint32_t *n_lanes, WindowRows *window, std::optional<Share> *share) {
  if (!makes_rows() || !phase_.is_in(kTakingRows)) return false;
  if (phase_.is(Phase::kGiving)) return gather_given(window, share);
  const bool all_taken = rows_->all_taken();
  if (!utterance_ && (all_taken || speech_begins())) begin_utterance();
  const uint32_t n = utterance_ ? utterance_->n_lanes() : 0;
  if (n > *n_lanes) return true;
  *n_lanes -= n;
  if (drops_rows() && !all_taken) return gather_dropped(window, share);
  if (at_mark() && rows_->is_dry()) rows_->release_waiting();
  if (at_mark() && rows_->is_dry()) {
    end_at_ = next_frame_;
    stream_.intake().pass_mark();
  }
  if (is_closing()) {
    phase_.to(Phase::kDraining);
    goes_on_ = !rows_->all_taken();
    share->emplace().last = true;
    return false;
  }
  if (is_to_choose()) {
    phase_.to(Phase::kChoosing);
    share->emplace().check = true;
    return false;
  }
  return gather_rows(window, share);
}

// Drops rows outside utterances, or before the utterance. The window gets a share if they are scored nevertheless.
bool Session::gather_dropped(WindowRows *window, std::optional<Share> *share) {
  const size_t n_frames = rows_->next_frames();
  const uint64_t n_background =
      next_frame_ < utterance_frame_ ? utterance_frame_ - next_frame_ : gate_->n_background_from(next_frame_);
  const size_t n = std::min<uint64_t>(rows_->n_ready(), n_background);
  next_frame_ += n;
  note_searched();
  if (utterance_) {
    forget_history();
  } else {
    report_quiet(next_frame_);
    begin_at(std::max(next_frame_, utterance_frame_));
  }
  if (rows_->drop(n, window)) share->emplace();
  // Rows stay that only later audio can classify as background. Between utterances the mark has nothing to end, and need not
  // wait.
  const bool is_undecided = n == 0 && rows_->n_ready() > 0;
  if (at_mark() && rows_->is_dry()) rows_->release_waiting();
  const bool passes_mark = at_mark() && (rows_->is_dry() || is_undecided);
  if (passes_mark) {
    stream_.intake().pass_mark();
    begins_at_mark_ = true;
  }
  return n > 0 || n_frames > 0 || progressed_ || passes_mark || at_mark() || rows_->has_ended();
}

bool Session::gather_rows(WindowRows *window, std::optional<Share> *share) {
  const size_t n_frames = rows_->next_frames();
  if (n_frames > 0) progressed_ = true;
  const size_t n_room = model_->options().window_frames - n_left_;
  const size_t n_fair = fusion_ ? fusion_->n_rows_for(model_->options().window_frames) : SIZE_MAX;
  const size_t n = std::min({utterance_->room_for(rows_->n_ready()), n_frames_left(), n_frames_to_choice(), n_fair, n_room});
  // Only adding the rows may fail. From then on the window's shares agree with its rows.
  Share added;
  if (fusion_) {
    added.place = window->add_fused(fusion_, *rows_, n);
    rows_->drop(n, window);
  } else {
    if (utterance_->may_be_cut_here()) rows_->keep_taken();
    added.place = rows_->take(n, window);
  }
  added.n_rows = n;
  utterance_->take(n);
  next_frame_ += n;
  note_searched();
  added.partial = n > 0 && utterance_->at_partial();
  added.check = n > 0 && utterance_->at_check();
  added.last = rows_->all_taken() && !added.partial && !added.check;  // each window brings one result of a session
  added.has_left = n_left_ > 0;
  // A stream that fills its window has more audio waiting, so its search may fall behind that of others. Of a session in two
  // windows it is not known yet how many frames the first one leaves.
  added.may_leave = n == n_room && n_windows == 0 && !added.partial && !added.check && !added.last &&
                    model_->searcher().has(ASR_BACKEND_LEAVES);
  if (n > 0 || n_frames > 0 || added.last || added.has_left) *share = added;
  if (added.check) phase_.to(Phase::kChecking);
  if (added.last) phase_.to(Phase::kDraining);
  if (added.check || added.last) return false;
  return n > 0 || added.has_left || progressed_ || rows_->has_ended() || at_mark();
}

// Features are posted at once, log-likelihoods by give(). After the loss of a device rows come again that were posted before.
bool Session::gather_given(WindowRows *window, std::optional<Share> *share) {
  const size_t n_fair = fusion_ ? fusion_->n_rows_for(model_->options().window_frames) : SIZE_MAX;
  size_t n = std::min(rows_->n_ready(), n_fair);
  const bool come_again = next_frame_ < given_frame_;
  Share added;
  if (come_again) {
    n = std::min<uint64_t>(n, given_frame_ - next_frame_);
  } else if (scorer_) {
    if (n > 0) added.place = add_scored(window, n);
    added.n_rows = n;
  } else if (n > 0) {
    const float *const rows = rows_->rows(0);
    post_rows(speaker_ ? speaker_->take(rows, n) : rows, n, model_->n_dims());
  }
  rows_->drop(n, window);
  next_frame_ += n;
  note_searched();
  added.last = rows_->all_taken();
  if (added.n_rows > 0 || added.last) *share = added;
  if (added.last) phase_.to(Phase::kGivingLast);
  return !added.last && (n > 0 || progressed_ || rows_->has_ended());
}

WindowRows::Place Session::add_scored(WindowRows *window, size_t n) {
  if (!speaker_) return window->add_for_host(scorer_, *rows_, n);
  return window->add_for_host(scorer_, speaker_->take(rows_->rows(0), n), n);
}

size_t Session::n_frames_to_choice() {
  if (events_.is_heard()) return SIZE_MAX;
  const uint64_t frame = stream_.requests()->next_graph_frame();
  return frame > next_frame_ ? frame - next_frame_ : SIZE_MAX;
}

}  // namespace asr
