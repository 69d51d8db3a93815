// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/scores/acoustic.h"

namespace asr::gpu {

Acoustic::Acoustic(Device &device, const asr_acoustic_view &view)
    : device_(device),
      n_dims_(view.n_dims),
      n_states_(view.n_states),
      copy_(view),
      graph_states_(view.n_states),
      buffers_{Buffer(device.context()), Buffer(device.context())},
      gmm_(device, view) {}

Acoustic::~Acoustic() {
  try {
    device_.finish();
  } catch (...) {  // a lost device can be closed
  }
}

Array<float> &Acoustic::prepare(uint32_t n_rows, uint32_t buffer) {
  check_score(n_rows, device_.max_rows(), buffer);
  Buffer &b = buffers_[buffer];
  b.n_rows = n_rows;
  b.features.reserve(size_t{n_rows} * n_dims_);
  b.scores.reserve(size_t{n_rows} * n_states_);
  return b.features;
}

void Acoustic::score(Device &device, const std::vector<Job> &jobs) {
  for (const Job &job : jobs) job.acoustic->upload(job.features, job.n_rows, job.buffer);
  for (const Job &job : jobs) job.acoustic->choose_states(job.buffer, job.loglikes != nullptr);
  score_uploaded(device, jobs);
  for (const Job &job : jobs) job.acoustic->fetch(job.buffer, job.loglikes);
}

void Acoustic::score_prepared(uint32_t buffer) {
  choose_states(buffer, false);
  score_uploaded(device_, {{this, nullptr, 0, buffer, nullptr}});
}

bool Acoustic::lacks_scores(uint32_t buffer, const StateSet &pdfs) {
  graph_states_.add(pdfs);
  const auto &scored = buffers_[buffer].states;
  return scored != nullptr && !scored->contains(pdfs);
}

void Acoustic::score_whole(uint32_t buffer) {
  auto before = std::exchange(buffers_[buffer].states, nullptr);
  try {
    score_uploaded(device_, {{this, nullptr, 0, buffer, nullptr}});
  } catch (...) {
    buffers_[buffer].states = std::move(before);
    throw;
  }
}

void Acoustic::stay_whole() noexcept {
  graph_states_.give_up();
  drop_part();
}

const Array<float> &Acoustic::device_rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows) const {
  check_rows("advance", buffer, first_row, n_rows);
  return buffers_[buffer].scores;
}

void Acoustic::check_rows(const char *slot, uint32_t buffer, uint32_t first_row, uint32_t n_rows) const {
  check_buffer(slot, buffer);
  check_scored_rows(slot, first_row, n_rows, buffers_[buffer].n_rows);
}

void Acoustic::upload(const float *features, uint32_t n_rows, uint32_t buffer) {
  Array<float> &rows = prepare(n_rows, buffer);
  Buffer &b = buffers_[buffer];
  b.scored.wait();  // host_features may be written after this event
  const size_t n = size_t{n_rows} * n_dims_;
  if (n == 0) return;
  b.host_features.reserve(n);
  std::copy_n(features, n, b.host_features.data());
  device_.compute().write(rows, 0, b.host_features.data(), n);
}

void Acoustic::fetch(uint32_t buffer, float *loglikes) {
  Buffer &b = buffers_[buffer];
  const size_t n = size_t{b.n_rows} * n_states_;
  if (loglikes == nullptr || n == 0) return;
  b.host_scores.reserve(n);
  device_.copies().wait_for(b.scored);
  device_.copies().read(b.scores, 0, b.host_scores.data(), n);
  device_.copies().mark(&b.fetched);
  b.loglikes = loglikes, b.n_loglikes = n;
}

void Acoustic::deliver(Buffer &b) {
  float *const loglikes = std::exchange(b.loglikes, nullptr);
  if (loglikes == nullptr) return;
  b.fetched.wait();
  constexpr size_t kTaskFloats = size_t{1} << 18;
  device_.pool().run((b.n_loglikes + kTaskFloats - 1) / kTaskFloats, [&](size_t task) {
    const size_t begin = task * kTaskFloats;
    std::copy_n(b.host_scores.data() + begin, std::min(kTaskFloats, b.n_loglikes - begin), loglikes + begin);
  });
}

void Acoustic::choose_states(uint32_t buffer, bool all) {
  if (!all) update_part();
  buffers_[buffer].states = all ? nullptr : part_states_;
}

void Acoustic::update_part() {
  try {
    auto states = graph_states_.next_part();
    if (!graph_states_.has_part()) return drop_part();
    if (states == nullptr) return;
    const uint64_t before = device_.n_bytes();
    const MemoryAccount::Modest modest(device_.account());  // else the model stays whole
    auto part = std::make_unique<Gmm>(gmm_, copy_.view(), *states);
    part_bytes_ = device_.n_bytes() - before;
    part_ = std::move(part), part_states_ = std::move(states);
  } catch (...) {
    stay_whole();
    if (current_error().code() != ASR_OUT_OF_MEMORY) throw;
  }
}

void Acoustic::drop_part() noexcept {
  part_.reset();
  part_states_.reset();
  part_bytes_ = 0;
}

void Acoustic::launch(Device &device, const std::vector<Job> &jobs) {
  std::vector<Gmm::Job> list;
  for (const Job &job : jobs) {
    Acoustic &acoustic = *job.acoustic;
    Buffer &b = acoustic.buffers_[job.buffer];
    device.compute().wait_for(b.fetched);
    Gmm *const gmm = b.states != nullptr ? acoustic.part_.get() : &acoustic.gmm_;
    if (b.n_rows > 0) list.push_back({gmm, &b.features, b.n_rows, &b.scores});
  }
  if (!list.empty()) Gmm::score(device, list);
}

void Acoustic::score_uploaded(Device &device, const std::vector<Job> &jobs) {
  try {
    launch(device, jobs);
  } catch (const Error &error) {  // a part has scratch memory of its own
    const auto is_part = [](const Job &job) { return !job.acoustic->is_scored_whole(job.buffer); };
    if (error.code() != ASR_OUT_OF_MEMORY || std::none_of(jobs.begin(), jobs.end(), is_part)) throw;
    for (const Job &job : jobs) {
      if (!is_part(job)) continue;
      job.acoustic->stay_whole();
      job.acoustic->buffers_[job.buffer].states = nullptr;
    }
    launch(device, jobs);
  }
  for (const Job &job : jobs) device.compute().mark(&job.acoustic->buffers_[job.buffer].scored);
  // The scores before these, while the kernels run.
  for (const Job &job : jobs) job.acoustic->deliver(job.acoustic->buffers_[job.buffer]);
}

}  // namespace asr::gpu
