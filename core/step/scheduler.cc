// SPDX-License-Identifier: Apache-2.0
#include "core/step/scheduler.h"

#include <algorithm>
#include <functional>
#include <system_error>

#include "core/base/begun_thread.h"

namespace asr {
namespace {

// fewest streams worth waking a team for; most threads that memory bandwidth serves
constexpr size_t kLeastForTeam = 4;
constexpr uint32_t kMostInTeam = 16;

}  // namespace

Scheduler::Scheduler(const LoadedModel &model, TakeOver take_over)
    : model_(model),
      take_over_(std::move(take_over)),
      can_fall_back_(take_over_ != nullptr),
      windows_{{model, 0}, {model, 1}},
      team_(std::min(kMostInTeam, model.options().n_workers())) {
  reserve_lanes();
  model_.objects().set_wake([this] { wake(); });
  try {
    thread_ = begun_thread([this] { model_.begin_thread(); }, [this] { run(); });
  } catch (const std::system_error &) {
    fail_without_thread("asr_engine_load");
  }
}

Scheduler::~Scheduler() {
  stop();
  model_.objects().set_wake(nullptr);
}

void Scheduler::reserve_lanes() {
  const size_t n = model_.options().max_lanes;
  for (Window &window : windows_) {
    window.parts.reserve(n);
    window.jobs.reserve(model_.n_lanes());
  }
  for (Streams *streams : {&streams_, &extracting_, &partial_, &checked_, &last_, &last_with_lattice_}) streams->reserve(n);
  jobs_.reserve(n);
  channels_.reserve(n);
  paths_.reserve(n);
  lattices_.reserve(n);
  failures_.reserve(n);
}

void Scheduler::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  thread_.join();
}

void Scheduler::enqueue(std::shared_ptr<Stream> stream) noexcept {
  if (stream->queued_.exchange(true)) return;
  {
    std::lock_guard lock(mutex_);
    queue_.push(std::move(stream));
  }
  work_.notify_one();
}

void Scheduler::lose(const Error &reason, std::shared_ptr<Stream> stream) noexcept {
  note_loss(reason);
  enqueue(std::move(stream));  // so that the thread sees it
}

void Scheduler::run_between_steps(const std::function<void()> &action) {
  Errand errand;
  errand.action = &action;
  std::unique_lock lock(mutex_);
  errand.next = std::exchange(first_errand_, &errand);
  work_.notify_one();
  errand_done_.wait(lock, [&] { return errand.is_done; });
  if (errand.failure) throw Error(*errand.failure);
}

void Scheduler::wake() noexcept {
  std::lock_guard lock(mutex_);
  woken_ = true;
  work_.notify_one();
}

void Scheduler::note_loss(const Error &reason) noexcept {
  std::lock_guard lock(mutex_);
  if (!loss_) loss_ = reason;
}

std::optional<Error> Scheduler::loss() const noexcept {
  std::lock_guard lock(mutex_);
  return loss_;
}

void Scheduler::check_usable() const {
  std::lock_guard lock(mutex_);
  if (loss_ && !can_fall_back_) throw Error(*loss_);
}

void Scheduler::run() {
  for (size_t n = 0;; ++n) {
    Window &now = windows_[n % 2], &before = windows_[(n + 1) % 2];
    next_streams(before.parts.empty());
    if (streams_.empty() && before.parts.empty()) {
      if (is_stopping()) return;
      tidy();
      continue;
    }
    keep_own();
    step(&now, &before);
    streams_.clear();
  }
}

// Does work that only this thread may do, as it alone calls the device.
void Scheduler::tidy() noexcept {
  model_.objects().free_unused();
  std::unique_lock lock(mutex_);
  while (Errand *const errand = first_errand_) {
    first_errand_ = errand->next;
    lock.unlock();
    run_errand(errand);
    lock.lock();
    errand->is_done = true;  // may be destroyed from here on
    errand_done_.notify_all();
  }
}

void Scheduler::run_errand(Errand *errand) noexcept {
  try {
    if (const std::optional<Error> reason = loss()) throw Error(*reason);
    (*errand->action)();
  } catch (...) {
    errand->failure = current_error();
    if (errand->failure->code() == ASR_DEVICE_LOST) note_loss(*errand->failure);
  }
}

bool Scheduler::is_stopping() const noexcept {
  std::lock_guard lock(mutex_);
  return stopping_;
}

// Drops streams that were passed on to another scheduler. No other member of these may be touched here.
void Scheduler::keep_own() {
  const auto is_others = [this](const StreamPointer &stream) {
    const bool others = stream->scheduler_ != this;
    if (others) stream->notify();
    return others;
  };
  streams_.erase(std::remove_if(streams_.begin(), streams_.end(), is_others), streams_.end());
}

// Takes streams with work, in order of arrival. Sleeps until there is one, or other work. If advances overlap it takes at most
// half of the streams, so that the other half makes the next window.
void Scheduler::next_streams(bool may_sleep) {
  std::unique_lock lock(mutex_);
  if (may_sleep) work_.wait(lock, [&] { return !queue_.empty() || first_errand_ != nullptr || woken_ || stopping_; });
  woken_ = false;
  size_t most = model_.options().max_lanes;
  if (model_.overlaps()) most = std::min(most, (std::max(live_.size(), queue_.size()) + 1) / 2);
  while (!queue_.empty() && streams_.size() < most) {
    streams_.push_back(queue_.pop());
    streams_.back()->queued_ = false;  // may be queued again from now on
  }
}

void Scheduler::step(Window *now, Window *before) {
  tidy();
  for (const StreamPointer &stream : streams_) for_stream(stream, [&] { prepare(stream); });
  fill_rows();
  if (!loss()) decode(now, before);
  drop_cancelled();
  if (loss()) {
    give_up_device();
    clear(now), clear(before);
  }
  end_failed();
}

// Drops cancelled utterances; the device is done with the last windows of these streams.
void Scheduler::drop_cancelled() {
  for (const StreamPointer &stream : streams_) {
    if (!stream->dropping_ || stream->failure_ || loss()) continue;
    for_stream(stream, [&] { stream->drop_utterance(model_); });
    enqueue(stream);
  }
}

void Scheduler::decode(Window *now, Window *before) {
  extract();
  extract_fused();
  for (const StreamPointer &stream : streams_) for_stream(stream, [&] { gather(stream, now); });
  for_window(*now, [&] { now->rows.score(); });
  if (model_.overlaps()) combine(now, *before);
  Window *const advancing = model_.overlaps() ? now : before;
  for_window(*advancing, [&] { advance(advancing); });
  await(*now, *before);
  if (!model_.overlaps()) combine(now, *before);
  if (loss()) return;  // results of a lost device are not to be trusted
  complete(before);
  clear(before);
}

void Scheduler::clear(Window *window) {
  window->parts.clear();
  window->rows.clear();
  window->jobs.clear();
  window->n_lanes = 0;
}

// Waits until the advance of window `before` is done. A failure in it, or in the scoring of `now`, belongs to the channels that
// report one, else to both windows.
void Scheduler::await(const Window &now, const Window &before) {
  std::optional<Error> failure;
  try {
    model_.wait(model_.overlaps() && !now.jobs.empty() ? 1 : 0);
  } catch (...) {
    failure = current_error();
  }
  const bool is_told = take_outcomes(before);
  if (!failure || (is_told && failure->code() != ASR_DEVICE_LOST)) return;
  for (const Window *window : {&now, &before}) fail_window(*window, *failure);
}

// Fails the streams whose channels failed; returns true if there are any.
bool Scheduler::take_outcomes(const Window &window) {
  const size_t n_before = failed_.size();
  const Device &device = model_.searcher();
  for (const Part &part : window.parts) {
    if (!part.stream->is_decoding()) continue;
    asr_backend_channel *const channel = part.stream->utterance_->channel().get();
    asr_backend_channel *const background = part.stream->utterance_->background().get();
    for_stream(part.stream, [&] {
      device.check(device.api()->outcome(device.get(), channel));
      if (background != nullptr) device.check(device.api()->outcome(device.get(), background));
    });
  }
  return failed_.size() > n_before;
}

void Scheduler::prepare(const StreamPointer &stream) {
  Stream &s = *stream;
  if (s.redo_.exchange(false)) s.ended_ = false;
  if (s.resume_.exchange(false)) {
    s.ended_ = false;
    s.go_on(model_);
  }
  if (s.ended_ || s.failure_) return;
  s.check_not_stopped();
  if (const std::optional<Error> reason = loss()) throw Error(*reason);
  if (s.is_utterance_cancelled() || s.restarting_) {
    s.dropping_ = s.utterance_.has_value();
    if (s.dropping_) return;
    s.begin_at(s.next_frame_, model_);
  }
  if (!s.utterance_) {
    s.begin_rows(model_);
    if (!s.gate_) s.begin_utterance(model_);
    s.begin_sound(model_);
    live_.insert(stream);
  }
  s.progressed_ = false;
  s.held_back_ = s.n_piece_jobs_ >= Stream::kMostPieceJobs;
}

// Takes fed input, as far as a window needs it.
void Scheduler::fill_rows() {
  for_each_apart(streams_, [](Stream &stream) {
    if (stream.makes_rows()) stream.progressed_ = stream.fill_rows();
  });
}

void Scheduler::extract() {
  jobs_.clear();
  for (const StreamPointer &stream : streams_) {
    if (!stream->makes_rows() || stream->fusion_) continue;
    for_stream(stream, [&] {
      asr_extract_job job;
      if (!stream->rows_->next_extract(0, &job)) return;
      jobs_.push_back(job);
      extracting_.push_back(stream);
    });
  }
  if (jobs_.empty()) return;
  const auto extract = [&](const asr_extract_job *jobs, size_t n) {
    return model_.api()->extract(model_.device().get(), model_.features(), jobs, n);
  };
  const asr_status status = extract(jobs_.data(), jobs_.size());
  const bool apart = jobs_.size() > 1 && may_be_one_stream(status);
  for (size_t i = 0; i < extracting_.size(); ++i) {
    for_stream(extracting_[i], [&] { model_.device().check(apart ? extract(&jobs_[i], 1) : status); });
  }
  for_each_apart(extracting_, [](Stream &stream) {
    if (!stream.makes_rows()) return;
    if (const LiveMeanState *state = stream.rows_->extracted(0)) stream.carried_.update(*state);
    stream.progressed_ = true;
  });
  extracting_.clear();
}

void Scheduler::advance(Window *window) {
  bool reads_buffer = false;
  window->jobs.clear();
  for (const Part &part : window->parts) {
    if (!part.stream->is_decoding()) continue;
    asr_advance_job job{};
    job.channel = part.stream->utterance_->channel().get();
    job.n_frames = static_cast<uint32_t>(part.n_rows);
    const bool with_lattice = part.stream->options_.lattice_beam > 0;
    if (part.partial || part.check) job.wants = ASR_WANTS_PATH;
    if (part.partial) job.wants |= wants_common();
    if (part.last) job.wants = ASR_WANTS_FINAL | (with_lattice ? ASR_WANTS_LATTICE : ASR_WANTS_PATH);
    if (job.n_frames == 0 && (job.wants == 0 || !model_.overlaps())) continue;
    window->rows.locate(part.place, &job);
    reads_buffer = reads_buffer || (job.n_frames > 0 && job.loglikes == nullptr);
    window->jobs.push_back(job);
    if (const auto &background = part.stream->utterance_->background()) {
      job.channel = background.get();
      if (job.wants != 0) job.wants = part.last ? ASR_WANTS_PATH : 0;
      if (job.n_frames > 0 || job.wants != 0) window->jobs.push_back(job);
    }
  }
  if (window->jobs.empty()) return;
  const Device &device = model_.searcher();
  device.check(device.api()->advance(device.get(), reads_buffer ? model_.acoustic() : nullptr, window->jobs.data(),
                                     window->jobs.size()));
}

template <typename Action>
void Scheduler::for_each_apart(const Streams &streams, Action action) {
  if (streams.size() < kLeastForTeam) {
    for (const StreamPointer &stream : streams) for_stream(stream, [&] { action(*stream); });
    return;
  }
  failures_.assign(streams.size(), std::nullopt);
  const auto try_action = [&](size_t i) {
    try {
      action(*streams[i]);
    } catch (...) {
      failures_[i] = current_error();
    }
  };
  team_.run(streams.size(), std::ref(try_action));  // std::ref, since a std::function that holds a copy would need memory
  for (size_t i = 0; i < streams.size(); ++i) {
    if (failures_[i]) fail_stream(streams[i], *failures_[i]);
  }
}

void Scheduler::fail_window(const Window &window, const Error &error) noexcept {
  if (error.code() == ASR_DEVICE_LOST) note_loss(error);  // also if no stream is affected
  for (const Part &part : window.parts) fail_stream(part.stream, error);
}

void Scheduler::fail_stream(const StreamPointer &stream, const Error &error) noexcept {
  if (error.code() == ASR_DEVICE_LOST) note_loss(error);
  if (stream->ended_ || stream->failure_) return;
  stream->failure_ = error;
  failed_.push(stream);
}

// After a loss: fails all streams of the device that have not failed yet.
void Scheduler::give_up_device() {
  const Error reason = *loss();
  for (const StreamPointer &stream : live_) fail_stream(stream, reason);
  if (given_up_) return;
  given_up_ = true;
  try {
    model_.wait(0);          // so that no running work reads the windows
  } catch (const Error &) {  // the loss is known
  }
  if (take_over_) spare_ = take_over_(reason);
  std::lock_guard lock(mutex_);
  can_fall_back_ = spare_ != nullptr;
}

void Scheduler::hand_over(const StreamPointer &stream) noexcept {
  live_.erase(stream);
  stream->begin_again();
  stream->scheduler_ = spare_;
  spare_->enqueue(stream);
}

void Scheduler::end_failed() noexcept {
  while (const StreamPointer stream = failed_.pop()) {
    if (spare_ != nullptr && stream->failure_->code() == ASR_DEVICE_LOST) {
      hand_over(stream);
    } else {
      stream->post_failure(*stream->failure_);
      stream->goes_on_ = false;
      end(stream);
    }
  }
}

// Ends the utterance, and the stream unless another utterance follows.
void Scheduler::end(const StreamPointer &stream) noexcept {
  stream->ended_ = true;
  stream->utterance_.reset();
  if (!stream->goes_on_) {
    stream->rows_.reset();
    stream->fusion_.reset();
    stream->sound_.reset();
    stream->gate_.reset();
  }
  live_.erase(stream);
  if (stream->resume_) enqueue(stream);
}

}  // namespace asr
