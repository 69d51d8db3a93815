// SPDX-License-Identifier: Apache-2.0
#include "core/step/window.h"

#include <algorithm>
#include <functional>

namespace asr {
namespace {

// Returns how many frames the device has left of a session's channels.
uint32_t n_left(const Device &device, asr_backend_channel *channel, asr_backend_channel *background) {
  if (!device.has(ASR_BACKEND_LEAVES)) return 0;
  const uint32_t n = device.api()->left(device.get(), channel);
  return background == nullptr ? n : std::max(n, device.api()->left(device.get(), background));
}

}  // namespace

void FailedSessions::add(const SessionPointer &session, const Error &reason) noexcept {
  note(reason);
  if (session->fail(reason)) queue_.push(session);
}

void FailedSessions::note(const Error &reason) noexcept {
  if (reason.code() == ASR_DEVICE_LOST) inbox_->note_loss(reason);
}

Window::Window(const LoadedModel &model, uint32_t buffer, FailedSessions *failed)
    : model_(model), failed_(failed), rows_(model, buffer) {
  const size_t n = model.options().max_lanes;
  parts_.reserve(n);
  jobs_.reserve(model.n_lanes());
  for (Sessions *sessions : {&partial_, &checked_, &last_, &last_with_lattice_}) sessions->reserve(n);
  channels_.reserve(n);
  paths_.reserve(n);
  lattices_.reserve(n);
}

void Window::gather(const Sessions &sessions) {
  uint32_t n_lanes = model_.n_lanes();
  for (const SessionPointer &session : sessions) {
    std::optional<Session::Share> share;
    bool again = false;
    try {
      again = session->gather(&n_lanes, &rows_, &share);
    } catch (...) {
      failed_->add_current(session);
    }
    if (share) {
      parts_.push_back({session, *share});
      ++session->n_windows;
    }
    if (again) session->notify();
  }
}

size_t Window::n_advanced() const {
  const auto has_rows = [](const Part &part) { return part.share.n_rows > 0; };
  return static_cast<size_t>(std::count_if(parts_.begin(), parts_.end(), has_rows));
}

void Window::score() {
  try {
    rows_.score();
  } catch (...) {
    fail_all(current_error());
  }
}

void Window::combine(ThreadPool *team) {
  const auto combine = [&](size_t part) { rows_.combine(part); };
  team->run(rows_.n_fused_parts(), std::ref(combine));  // a function of its own would need memory
}

void Window::advance() {
  bool reads_buffer = false;
  jobs_.clear();
  for (const auto &[session, share] : parts_) {
    if (!session->is_decoding()) continue;
    asr_advance_job job{};
    job.channel = session->utterance().channel().get();
    job.n_frames = static_cast<uint32_t>(share.n_rows);
    const bool with_lattice = session->stream().options().lattice_beam > 0;
    if (share.partial || share.check) job.wants = ASR_WANTS_PATH;
    if (share.partial) job.wants |= wants_common(model_);
    if (share.last) job.wants = ASR_WANTS_FINAL | (with_lattice ? ASR_WANTS_LATTICE : ASR_WANTS_PATH);
    if (share.last && session->utterance().background()) job.wants |= ASR_WANTS_PATH;
    if (share.may_leave) job.wants = ASR_MAY_LEAVE;
    if (job.n_frames == 0 && !share.has_left && (job.wants == 0 || !model_.overlaps())) continue;
    rows_.locate(share.place, &job);
    reads_buffer = reads_buffer || (job.n_frames > 0 && job.loglikes == nullptr);
    jobs_.push_back(job);
    if (const auto &background = session->utterance().background()) {
      job.channel = background.get();
      if (job.wants != 0 && !share.may_leave) job.wants = ASR_WANTS_PATH;
      if (job.n_frames > 0 || share.has_left || job.wants != 0) jobs_.push_back(job);
    }
  }
  if (jobs_.empty()) return;
  const Device &device = model_.searcher();
  try {
    device.check(device.api()->advance(device.get(), reads_buffer ? model_.acoustic() : nullptr, jobs_.data(), jobs_.size()));
  } catch (...) {
    fail_all(current_error());
  }
}

void Window::take_outcomes() {
  const Device &device = model_.searcher();
  for (const auto &[session, share] : parts_) {
    if (!session->is_decoding()) continue;
    asr_backend_channel *const channel = session->utterance().channel().get();
    asr_backend_channel *const background = session->utterance().background().get();
    try {
      rows_.check_given(share.place, share.n_rows);
      device.check(device.api()->outcome(device.get(), channel));
      if (background != nullptr) device.check(device.api()->outcome(device.get(), background));
      session->set_left(n_left(device, channel, background));
    } catch (...) {
      failed_->add_current(session);
    }
  }
}

void Window::fail_all(const Error &reason) noexcept {
  failed_->note(reason);  // also if the window is empty
  for (const Part &part : parts_) failed_->add(part.session, reason);
}

void Window::collect() {
  for (const auto &[session, share] : parts_) {
    if (session->is_giving()) give(session, share);
    if (!session->is_decoding()) continue;
    if (share.partial) partial_.push_back(session);
    if (share.check) checked_.push_back(session);
    if (share.last) (session->stream().options().lattice_beam > 0 ? last_with_lattice_ : last_).push_back(session);
    try {
      session->advanced(share, rows_.returned_rows(share.place));
    } catch (...) {
      failed_->add_current(session);
    }
  }
  collect_paths(partial_, wants_common(model_), &Session::partial);
  collect_paths(checked_, 0, &Session::check);
  collect_paths(last_, ASR_WANTS_FINAL, &Session::finish);
  collect_lattices(last_with_lattice_);
  for (Sessions *sessions : {&partial_, &checked_, &last_, &last_with_lattice_}) sessions->clear();
}

void Window::give(const SessionPointer &session, const Session::Share &share) {
  try {
    session->give(share, share.n_rows > 0 ? rows_.loglikes(share.place) : nullptr);
  } catch (...) {
    failed_->add_current(session);
  }
}

void Window::list_channels(const Sessions &sessions) {
  channels_.clear();
  for (const SessionPointer &session : sessions) channels_.push_back(session->utterance().channel().get());
}

// Reads the best paths of all sessions together and, if that fails, of each one.
void Window::collect_paths(const Sessions &sessions, uint32_t wants, Results results) {
  if (sessions.empty()) return;
  list_channels(sessions);
  paths_.assign(sessions.size(), {});
  const Device &device = model_.searcher();
  const asr_status status = device.api()->best_paths(device.get(), channels_.data(), sessions.size(), wants, paths_.data());
  const bool apart = sessions.size() > 1 && may_be_one_session(status);
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (!sessions[i]->is_decoding()) continue;
    try {
      device.check(apart ? device.api()->best_paths(device.get(), &channels_[i], 1, wants, &paths_[i]) : status);
      (*sessions[i].*results)(paths_[i]);
    } catch (...) {
      failed_->add_current(sessions[i]);
    }
  }
}

// The same for lattices. A device that is searching the next window meanwhile gives them to the pool later.
void Window::collect_lattices(const Sessions &sessions) {
  if (sessions.empty()) return;
  const Device &device = model_.searcher();
  asr_status status = ASR_OK;
  if (!model_.overlaps()) {
    list_channels(sessions);
    lattices_.assign(sessions.size(), {});
    status = device.api()->lattices(device.get(), channels_.data(), sessions.size(), ASR_WANTS_FINAL, lattices_.data());
  }
  const bool apart = sessions.size() > 1 && may_be_one_session(status);
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (!sessions[i]->is_decoding()) continue;
    try {
      device.check(apart ? device.api()->lattices(device.get(), &channels_[i], 1, ASR_WANTS_FINAL, &lattices_[i]) : status);
      if (model_.overlaps()) {
        sessions[i]->finish_later();
      } else {
        sessions[i]->finish(lattices_[i]);
      }
    } catch (...) {
      failed_->add_current(sessions[i]);
    }
  }
}

void Window::clear() {
  for (const Part &part : parts_) --part.session->n_windows;
  parts_.clear();
  rows_.clear();
  jobs_.clear();
}

}  // namespace asr
