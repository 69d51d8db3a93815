// SPDX-License-Identifier: Apache-2.0
// Acoustic is an acoustic model on a device, with its two score buffers. The slots load_acoustic, score, wait and advance
// work on it. Features go in through pinned memory; scores come out beside the
// next kernels. Rows that only searches read are scored for the states of their graphs, if these are few (docs/cuda.md,
// "Scores of the graphs' states"). Gmm, of each runtime, has the kernels: Gmm::score() puts those for several models into the
// compute queue, and Gmm(whole, view, states) is a part of a whole model. Compiled once for each plugin.
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
#include "runtime/device.h"
#include "scores/gmm.h"

namespace asr::gpu {

class Acoustic {
 public:
  Acoustic(Device &device, const asr_acoustic_view &view);
  ~Acoustic();
  Acoustic(const Acoustic &) = delete;
  Acoustic &operator=(const Acoustic &) = delete;

  uint32_t n_dims() const { return n_dims_; }
  uint32_t n_states() const { return n_states_; }
  uint64_t part_bytes() const { return part_bytes_; }  // of the part that is packed for graphs

  // Returns the array in which work in the compute queue puts rows of features [n_rows][n_dims] to score into a buffer.
  Array<float> &prepare(uint32_t n_rows, uint32_t buffer);

  // Starts scoring n_rows into a buffer; `loglikes`, if not NULL, is complete after finish().
  struct Job {
    Acoustic *acoustic;
    const float *features;
    uint32_t n_rows, buffer;
    float *loglikes;
  };
  static void score(Device &device, const std::vector<Job> &jobs);
  // Scores rows that work in the compute queue has put where prepare() says.
  void score_prepared(uint32_t buffer);

  // Notes that channels of a graph with these pdfs are about to read a buffer. Returns true if its rows lack scores of them.
  bool lacks_scores(uint32_t buffer, const StateSet &pdfs);
  bool is_scored_whole(uint32_t buffer) const { return buffers_[buffer].states == nullptr; }
  // Scores a buffer's rows again, for all states. Nothing may read the buffer.
  void score_whole(uint32_t buffer);
  // Has rows scored for all states from now on.
  void stay_whole() noexcept;

  // Returns a buffer [n_rows][n_states] on the device, row 0 first, after checking that it holds these rows. A queue that
  // waits for its scores may read it.
  const Array<float> &device_rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows) const;
  void wait_for_scores(uint32_t buffer, Queue *queue) const { queue->wait_for(buffers_[buffer].scored); }

  // Checks that a buffer has these rows.
  void check_rows(const char *slot, uint32_t buffer, uint32_t first_row, uint32_t n_rows) const;

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
  Array<float> &scores(uint32_t buffer) { return buffers_[buffer].scores; }

  // Waits until all requested scores are in the host's memory.
  void finish() {
    for (Buffer &b : buffers_) deliver(b);
  }

 private:
  struct Buffer {
    explicit Buffer(const Context &context)
        : features(context), scores(context), host_features(context), host_scores(context) {}
    uint32_t n_rows = 0;
    std::shared_ptr<const StateSet> states;  // states that the rows are scored for; nullptr: all
    Array<float> features, scores;
    Pinned<float> host_features, host_scores;
    Event scored, fetched;
    float *loglikes = nullptr;  // destination of n_loglikes of host_scores after `fetched`; nullptr: none pending
    size_t n_loglikes = 0;
  };

  // Copies rows of the host into the array of prepare().
  void upload(const float *features, uint32_t n_rows, uint32_t buffer);

  // Starts the copy of a buffer's scores, which deliver() ends.
  void fetch(uint32_t buffer, float *loglikes);

  // Copies a buffer's scores to their destination.
  void deliver(Buffer &b);

  // Chooses the states for which a buffer's rows are scored.
  void choose_states(uint32_t buffer, bool all);

  // Packs the states of graphs that have come since the last call, if they are few. Without memory for them the model stays
  // whole.
  void update_part();

  // The device frees the part when the kernels that use it are done.
  void drop_part() noexcept;

  static void launch(Device &device, const std::vector<Job> &jobs);

  static void score_uploaded(Device &device, const std::vector<Job> &jobs);

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

}  // namespace asr::gpu
