// SPDX-License-Identifier: Apache-2.0
// DeviceAcoustic is an acoustic model on a device with its own memory, with its two score buffers. The slots
// load_acoustic, score, wait and advance work on it. Features go in through pinned memory; scores come out beside the
// next kernels. Rows that only searches read are scored for the states of their graphs, if these are few (docs/cuda.md,
// "Scores of the graphs' states"). A back end's Acoustic is derived from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/error.h"
#include "plugins/common/score_checks.h"
#include "plugins/gpu/runtime/memory_account.h"
#include "plugins/gpu/scores/acoustic_copy.h"
#include "plugins/gpu/scores/graph_states.h"

namespace asr {

// Device is a back end's class with queues for computing and for copies; its Runtime names the classes below. Gmm::score() puts
// the kernels for several models into the compute queue. Gmm(whole, view, states) is a part of a whole model.
template <typename Device, typename Gmm>
class DeviceAcoustic {
 public:
  using Runtime = typename Device::Runtime;
  using Array = typename Runtime::template DeviceArray<float>;

  DeviceAcoustic(const DeviceAcoustic &) = delete;
  DeviceAcoustic &operator=(const DeviceAcoustic &) = delete;

  uint32_t n_dims() const { return n_dims_; }
  uint32_t n_states() const { return n_states_; }
  uint64_t part_bytes() const { return part_bytes_; }  // of the part that is packed for graphs

  // Returns the array in which work in the compute queue puts rows of features [n_rows][n_dims] to score into a buffer.
  Array &prepare(uint32_t n_rows, uint32_t buffer) {
    check_score(n_rows, device_.max_rows(), buffer);
    Buffer &b = buffers_[buffer];
    b.n_rows = n_rows;
    b.features.reserve(size_t{n_rows} * n_dims_);
    b.scores.reserve(size_t{n_rows} * n_states_);
    return b.features;
  }

  // Starts scoring n_rows into a buffer; `loglikes`, if not NULL, is complete after finish().
  struct Job {
    DeviceAcoustic *acoustic;
    const float *features;
    uint32_t n_rows, buffer;
    float *loglikes;
  };
  static void score(Device &device, const std::vector<Job> &jobs) {
    for (const Job &job : jobs) job.acoustic->upload(job.features, job.n_rows, job.buffer);
    for (const Job &job : jobs) job.acoustic->choose_states(job.buffer, job.loglikes != nullptr);
    score_uploaded(device, jobs);
    for (const Job &job : jobs) job.acoustic->fetch(job.buffer, job.loglikes);
  }
  // Scores rows that work in the compute queue has put where prepare() says.
  void score_prepared(uint32_t buffer) {
    choose_states(buffer, false);
    score_uploaded(device_, {{this, nullptr, 0, buffer, nullptr}});
  }

  // Notes that channels of a graph with these pdfs are about to read a buffer. Returns true if its rows lack scores of them.
  bool lacks_scores(uint32_t buffer, const StateSet &pdfs) {
    graph_states_.add(pdfs);
    const auto &scored = buffers_[buffer].states;
    return scored != nullptr && !scored->contains(pdfs);
  }
  bool is_scored_whole(uint32_t buffer) const { return buffers_[buffer].states == nullptr; }
  // Scores a buffer's rows again, for all states. Nothing may read the buffer.
  void score_whole(uint32_t buffer) {
    auto before = std::exchange(buffers_[buffer].states, nullptr);
    try {
      score_uploaded(device_, {{this, nullptr, 0, buffer, nullptr}});
    } catch (...) {
      buffers_[buffer].states = std::move(before);
      throw;
    }
  }
  // Has rows scored for all states from now on.
  void stay_whole() noexcept {
    graph_states_.give_up();
    drop_part();
  }

  // Returns a buffer [n_rows][n_states] on the device, row 0 first, after checking that it holds these rows. A queue that
  // waits for its scores may read it.
  const Array &device_rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows) const {
    check_rows("advance", buffer, first_row, n_rows);
    return buffers_[buffer].scores;
  }
  void wait_for_scores(uint32_t buffer, typename Runtime::Queue *queue) const { queue->wait_for(buffers_[buffer].scored); }

  // Checks that a buffer has these rows.
  void check_rows(const char *slot, uint32_t buffer, uint32_t first_row, uint32_t n_rows) const {
    check_buffer(slot, buffer);
    check_scored_rows(slot, first_row, n_rows, buffers_[buffer].n_rows);
  }

  // Calls launch(), whose work in the compute queue changes rows that were scored into a buffer. `loglikes`, if not NULL, gets
  // all rows afterwards; it is complete after finish().
  template <typename Launch>
  void rewrite(uint32_t buffer, float *loglikes, const Launch &launch) {
    Buffer &b = buffers_[buffer];
    if (loglikes != nullptr) deliver(b);
    device_.compute().wait_for(b.fetched);
    launch();
    device_.compute().mark(&b.scored);
    fetch(buffer, loglikes);
  }
  // A buffer on the device, for work that is put into the compute queue.
  Array &scores(uint32_t buffer) { return buffers_[buffer].scores; }

  // Waits until all requested scores are in the host's memory.
  void finish() {
    for (Buffer &b : buffers_) deliver(b);
  }

 protected:
  // make_gmm() returns the Gmm. `context`: arguments of the Runtime's arrays.
  template <typename MakeGmm, typename... Context>
  DeviceAcoustic(Device &device, const asr_acoustic_view &view, const MakeGmm &make_gmm, const Context &...context)
      : device_(device),
        n_dims_(view.n_dims),
        n_states_(view.n_states),
        copy_(view),
        graph_states_(view.n_states),
        buffers_{Buffer(context...), Buffer(context...)},
        gmm_(make_gmm()) {}
  ~DeviceAcoustic() {
    try {
      device_.finish();
    } catch (...) {  // a lost device can be closed
    }
  }

 private:
  using PinnedArray = typename Runtime::template PinnedArray<float>;
  struct Buffer {
    template <typename... Context>
    explicit Buffer(const Context &...context)
        : features(context...), scores(context...), host_features(context...), host_scores(context...) {}
    uint32_t n_rows = 0;
    std::shared_ptr<const StateSet> states;  // states that the rows are scored for; nullptr: all
    Array features, scores;
    PinnedArray host_features, host_scores;
    typename Runtime::Event scored, fetched;
    float *loglikes = nullptr;  // destination of n_loglikes of host_scores after `fetched`; nullptr: none pending
    size_t n_loglikes = 0;
  };

  // Copies rows of the host into the array of prepare().
  void upload(const float *features, uint32_t n_rows, uint32_t buffer) {
    Array &rows = prepare(n_rows, buffer);
    Buffer &b = buffers_[buffer];
    b.scored.wait();  // host_features may be written after this event
    const size_t n = size_t{n_rows} * n_dims_;
    if (n == 0) return;
    b.host_features.reserve(n);
    std::copy_n(features, n, b.host_features.data());
    device_.compute().write(rows, 0, b.host_features.data(), n);
  }

  // Starts the copy of a buffer's scores, which deliver() ends.
  void fetch(uint32_t buffer, float *loglikes) {
    Buffer &b = buffers_[buffer];
    const size_t n = size_t{b.n_rows} * n_states_;
    if (loglikes == nullptr || n == 0) return;
    b.host_scores.reserve(n);
    device_.copies().wait_for(b.scored);
    device_.copies().read(b.scores, 0, b.host_scores.data(), n);
    device_.copies().mark(&b.fetched);
    b.loglikes = loglikes, b.n_loglikes = n;
  }

  // Copies a buffer's scores to their destination.
  void deliver(Buffer &b) {
    float *const loglikes = std::exchange(b.loglikes, nullptr);
    if (loglikes == nullptr) return;
    b.fetched.wait();
    constexpr size_t kTaskFloats = size_t{1} << 18;
    device_.pool().run((b.n_loglikes + kTaskFloats - 1) / kTaskFloats, [&](size_t task) {
      const size_t begin = task * kTaskFloats;
      std::copy_n(b.host_scores.data() + begin, std::min(kTaskFloats, b.n_loglikes - begin), loglikes + begin);
    });
  }

  // Chooses the states for which a buffer's rows are scored.
  void choose_states(uint32_t buffer, bool all) {
    if (!all) update_part();
    buffers_[buffer].states = all ? nullptr : part_states_;
  }

  // Packs the states of graphs that have come since the last call, if they are few. Without memory for them the model stays
  // whole.
  void update_part() {
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

  // The device frees the part when the kernels that use it are done.
  void drop_part() noexcept {
    part_.reset();
    part_states_.reset();
    part_bytes_ = 0;
  }

  static void launch(Device &device, const std::vector<Job> &jobs) {
    std::vector<typename Gmm::Job> list;
    for (const Job &job : jobs) {
      DeviceAcoustic &acoustic = *job.acoustic;
      Buffer &b = acoustic.buffers_[job.buffer];
      device.compute().wait_for(b.fetched);
      Gmm *const gmm = b.states != nullptr ? acoustic.part_.get() : &acoustic.gmm_;
      if (b.n_rows > 0) list.push_back({gmm, &b.features, b.n_rows, &b.scores});
    }
    if (!list.empty()) Gmm::score(device, list);
  }

  static void score_uploaded(Device &device, const std::vector<Job> &jobs) {
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

  Device &device_;
  const uint32_t n_dims_, n_states_;
  const AcousticCopy copy_;  // to pack parts from
  GraphStates graph_states_;
  Buffer buffers_[2];
  Gmm gmm_;
  std::unique_ptr<Gmm> part_;                    // of the states of graphs; nullptr: none
  std::shared_ptr<const StateSet> part_states_;  // its states
  uint64_t part_bytes_ = 0;
};

}  // namespace asr
