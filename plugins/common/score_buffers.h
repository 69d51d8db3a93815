// SPDX-License-Identifier: Apache-2.0
// ScoreBuffers has the two score buffers of an acoustic model on a device with its own memory. Features go in through pinned
// memory. Scores stay on the device; if the host needs them, the copy overlaps with the next work. The Acoustic of such a back
// end is derived from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/backend/asr_backend.h"
#include "plugins/common/score_checks.h"

namespace asr {

// Device is a back end's class with queues for computing and for copies; its Runtime names the classes below.
template <typename Device>
class ScoreBuffers {
 public:
  using Runtime = typename Device::Runtime;
  using Array = typename Runtime::template DeviceArray<float>;

  ScoreBuffers(const ScoreBuffers &) = delete;
  ScoreBuffers &operator=(const ScoreBuffers &) = delete;

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

  // Waits until all requested scores are in the host's memory.
  void finish() {
    for (Buffer &b : buffers_) deliver(b);
  }

 protected:
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

  // `context`: arguments of the Runtime's arrays.
  template <typename... Context>
  ScoreBuffers(Device &device, const asr_acoustic_view &view, const Context &...context)
      : device_(device), n_dims_(view.n_dims), n_states_(view.n_states), buffers_{Buffer(context...), Buffer(context...)} {}
  ~ScoreBuffers() = default;

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

  // Returns a buffer after checking that it holds these rows.
  const Buffer &scored(uint32_t buffer, uint32_t first_row, uint32_t n_rows) const {
    check_buffer("advance", buffer);
    check_scored_rows(first_row, n_rows, buffers_[buffer].n_rows);
    return buffers_[buffer];
  }

  Device &device_;
  const uint32_t n_dims_, n_states_;
  Buffer buffers_[2];
};

}  // namespace asr
