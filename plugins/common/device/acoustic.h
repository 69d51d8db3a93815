// SPDX-License-Identifier: Apache-2.0
// DeviceAcoustic is an acoustic model on a device with its own memory, with its two score buffers. The slots
// load_acoustic, score, wait and advance work on it. Features go in through pinned memory; scores come out beside the
// next kernels. A back end's Acoustic is derived from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/common/score_checks.h"

namespace asr {

// Device is a back end's class with queues for computing and for copies; its Runtime names the classes below. Gmm::score() puts
// the kernels for several models into the compute queue.
template <typename Device, typename Gmm>
class DeviceAcoustic {
 public:
  using Runtime = typename Device::Runtime;
  using Array = typename Runtime::template DeviceArray<float>;

  DeviceAcoustic(const DeviceAcoustic &) = delete;
  DeviceAcoustic &operator=(const DeviceAcoustic &) = delete;

  uint32_t n_dims() const { return n_dims_; }
  uint32_t n_states() const { return n_states_; }

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
    score_uploaded(device, jobs);
    for (const Job &job : jobs) job.acoustic->fetch(job.buffer, job.loglikes);
  }
  // Scores rows that work in the compute queue has put where prepare() says.
  void score_prepared(uint32_t buffer) { score_uploaded(device_, {{this, nullptr, 0, buffer, nullptr}}); }

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

  static void score_uploaded(Device &device, const std::vector<Job> &jobs) {
    std::vector<typename Gmm::Job> list;
    for (const Job &job : jobs) {
      Buffer &b = job.acoustic->buffers_[job.buffer];
      device.compute().wait_for(b.fetched);
      if (b.n_rows > 0) list.push_back({&job.acoustic->gmm_, &b.features, b.n_rows, &b.scores});
    }
    if (!list.empty()) Gmm::score(device, list);
    for (const Job &job : jobs) device.compute().mark(&job.acoustic->buffers_[job.buffer].scored);
    // The scores before these, while the kernels run.
    for (const Job &job : jobs) job.acoustic->deliver(job.acoustic->buffers_[job.buffer]);
  }

  Device &device_;
  const uint32_t n_dims_, n_states_;
  Buffer buffers_[2];
  Gmm gmm_;
};

}  // namespace asr
