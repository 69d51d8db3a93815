// SPDX-License-Identifier: Apache-2.0
#include "core/step/scheduler.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/base/begun_thread.h"

namespace asr {
namespace {

// fewest sessions worth waking a team for; most threads that memory bandwidth serves
constexpr size_t kMinForTeam = 4;
constexpr uint32_t kMaxInTeam = 16;

}  // namespace

Scheduler::Scheduler(const LoadedModel &model, TakeOver take_over, EngineMeter *meter)
    : model_(model),
      take_over_(std::move(take_over)),
      meter_(meter),
      inbox_(take_over_ != nullptr),
      failed_(&inbox_),
      windows_{{model, 0, &failed_}, {model, 1, &failed_}},
      team_(std::min(kMaxInTeam, model.options().n_workers())) {
  const size_t n = model_.options().max_lanes;
  sessions_.reserve(n);
  extracting_.reserve(n);
  jobs_.reserve(n);
  failures_.reserve(n);
  model_.objects().set_wake([this] { inbox_.wake(); });
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

void Scheduler::stop() {
  if (!thread_.joinable()) return;
  inbox_.stop();
  thread_.join();
}

// If advances overlap, a step takes at most half of the sessions, so that the other half makes the next window.
void Scheduler::run() {
  for (size_t n = 0;; ++n) {
    Window &now = windows_[n % 2], &before = windows_[(n + 1) % 2];
    const auto wake_at = watched_.empty() ? std::nullopt : std::make_optional(watched_.begin()->first);
    const auto turns = model_.overlaps() ? std::make_optional(Inbox::Turns{live_.size(), before.size()}) : std::nullopt;
    inbox_.next_sessions(before.empty(), model_.options().max_lanes, turns, wake_at, &sessions_);
    if (sessions_.empty() && before.empty() && inbox_.is_stopping()) return;
    model_.objects().free_unused();
    inbox_.run_tasks();
    end_idle();
    if (sessions_.empty() && before.empty()) continue;
    keep_own();
    const auto begin = std::chrono::steady_clock::now();
    step(&now, &before);
    meter_->busy_ns += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    sessions_.clear();
  }
}

// Drops sessions that were passed on to another scheduler, whose thread alone may use them.
void Scheduler::keep_own() {
  const auto is_others = [this](const SessionPointer &session) {
    const bool others = !session->is_of(&inbox_);
    if (others) session->notify();
    return others;
  };
  sessions_.erase(std::remove_if(sessions_.begin(), sessions_.end(), is_others), sessions_.end());
}

void Scheduler::step(Window *now, Window *before) {
  visit();
  if (!inbox_.loss()) decode(now, before);
  drop_cancelled();
  if (inbox_.loss()) {
    give_up_device();
    now->clear();
    before->clear();
  }
  end_failed();
}

void Scheduler::visit() {
  for (const SessionPointer &session : sessions_) {
    try {
      session->begin_step(inbox_.loss());
      if (session->is_live()) live_.insert(session);
      watch(session);
    } catch (...) {
      failed_.add_current(session);
    }
  }
  for_each_apart(sessions_, [](Session &session) { session.fill(); });
}

// A stream with a limit of idle time is watched from when it has input. It is looked at when it may have been idle for so long,
// not with every feed.
void Scheduler::watch(const SessionPointer &session) {
  const auto &idle = session->stream().options().idle;
  if (!idle || session->is_watched || !session->is_live()) return;
  watched_.emplace(Intake::Clock::now() + *idle, session);
  session->is_watched = true;
}

void Scheduler::end_idle() {
  const Intake::Clock::time_point now = Intake::Clock::now();
  while (!watched_.empty() && watched_.begin()->first <= now) {
    auto node = watched_.extract(watched_.begin());
    const SessionPointer session = node.mapped().lock();
    if (!session) continue;
    session->is_watched = false;
    if (!session->is_of(&inbox_)) continue;  // another scheduler watches it
    const auto idle = *session->stream().options().idle;
    if (const auto fed = session->stream().intake().mark_if_idle_since(now - idle)) {
      node.key() = *fed + idle;
      watched_.insert(std::move(node));
      session->is_watched = true;
    }
  }
}

void Scheduler::decode(Window *now, Window *before) {
  extract();
  extract_fused();
  now->gather(sessions_);
  if (const size_t n_lanes = now->n_advanced(); n_lanes > 0) {
    ++meter_->n_steps;
    meter_->n_lanes += n_lanes;
  }
  now->score();
  if (model_.overlaps()) combine(now, before);
  (model_.overlaps() ? now : before)->advance();
  await(now, before);
  if (!model_.overlaps()) combine(now, before);
  if (inbox_.loss()) return;  // results of a lost device are not to be trusted
  before->collect();
  before->for_each_session([this](const SessionPointer &session) {
    if (!session->is_live()) live_.erase(session);
  });
  before->clear();
}

void Scheduler::extract() {
  jobs_.clear();
  for (const SessionPointer &session : sessions_) {
    if (session->fusion() != nullptr) continue;
    try {
      asr_extract_job job;
      if (!session->next_extract(0, &job)) continue;
      jobs_.push_back(job);
      extracting_.push_back(session);
    } catch (...) {
      failed_.add_current(session);
    }
  }
  if (jobs_.empty()) return;
  const Device &extractor = model_.extractor();
  const auto extract = [&](const asr_extract_job *jobs, size_t n) {
    return extractor.api()->extract(extractor.get(), model_.features(), jobs, n);
  };
  const asr_status status = extract(jobs_.data(), jobs_.size());
  const bool apart = jobs_.size() > 1 && may_be_one_session(status);
  for (size_t i = 0; i < extracting_.size(); ++i) {
    try {
      extractor.check(apart ? extract(&jobs_[i], 1) : status);
    } catch (...) {
      failed_.add_current(extracting_[i]);
    }
  }
  for_each_apart(extracting_, [](Session &session) { session.extracted(0); });
  extracting_.clear();
}

// Sessions that fuse models have cepstra of each model's front end.
void Scheduler::extract_fused() {
  const Device &extractor = model_.extractor();
  for (const SessionPointer &session : sessions_) {
    const FusedModels *const fusion = session->fusion();
    if (fusion == nullptr) continue;
    try {
      for (size_t i = 0; i < fusion->n_front_ends(); ++i) {
        asr_extract_job job;
        if (!session->next_extract(i, &job)) continue;
        extractor.check(extractor.api()->extract(extractor.get(), fusion->features(i), &job, 1));
        session->extracted(i);
      }
    } catch (...) {
      failed_.add_current(session);
    }
  }
}

// A device whose advances overlap searches this window next, so scores that the host fuses are awaited here.
void Scheduler::combine(Window *now, Window *before) {
  if (!now->is_fused_here() || inbox_.loss()) return;
  if (model_.overlaps()) {
    await(now, before);
    if (inbox_.loss()) return;
    try {
      model_.device().check(model_.api()->wait(model_.device().get(), 0));
    } catch (...) {
      now->fail_all(current_error());
    }
  }
  now->combine(&team_);
}

// Waits until the advance of window `before` is done. A failure that is no channel's, in it or in the scoring of `now`, is that
// of both windows.
void Scheduler::await(Window *now, Window *before) {
  try {
    model_.wait(model_.overlaps() && now->is_searched() ? 1 : 0);
  } catch (...) {
    const Error failure = current_error();
    now->fail_all(failure);
    before->fail_all(failure);
  }
  before->take_outcomes();
}

// Drops cancelled utterances; the device is done with the last windows of these sessions.
void Scheduler::drop_cancelled() {
  for (const SessionPointer &session : sessions_) {
    if (session->phase() != Phase::kDropping || inbox_.loss()) continue;
    try {
      session->drop();
    } catch (...) {
      failed_.add_current(session);
    }
    session->notify();
  }
}

template <typename Action>
void Scheduler::for_each_apart(const Sessions &sessions, Action action) {
  failures_.assign(sessions.size(), std::nullopt);
  const auto try_action = [&](size_t i) {
    try {
      action(*sessions[i]);
    } catch (...) {
      failures_[i] = current_error();
    }
  };
  if (sessions.size() < kMinForTeam) {
    for (size_t i = 0; i < sessions.size(); ++i) try_action(i);
  } else {
    team_.run(sessions.size(), std::ref(try_action));  // std::ref, since a std::function that holds a copy would need memory
  }
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (failures_[i]) failed_.add(sessions[i], *failures_[i]);
  }
}

// After a loss: fails all sessions of the device that have not failed yet.
void Scheduler::give_up_device() {
  const Error reason = *inbox_.loss();
  for (const SessionPointer &session : live_) failed_.add(session, reason);
  if (given_up_) return;
  given_up_ = true;
  try {
    model_.wait(0);          // so that no running work reads the windows
  } catch (const Error &) {  // the loss is known
  }
  if (take_over_) fallback_ = take_over_(reason);
  inbox_.set_can_fall_back(fallback_ != nullptr);
}

void Scheduler::end_failed() noexcept {
  while (const SessionPointer session = failed_.pop()) {
    live_.erase(session);
    if (fallback_ != nullptr && session->failure().code() == ASR_DEVICE_LOST) {
      session->move_to(&fallback_->inbox(), fallback_->model_);
    } else {
      session->end_with_failure();
    }
  }
}

}  // namespace asr
