// SPDX-License-Identifier: Apache-2.0
// ReturnedRows brings rows that steps make to the host's memory. The copies to pinned memory are part of the compute queue;
// `wait` moves the rows on to their destinations. One for a device; used by slots.h and signals.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "plugins/gpu/runtime/piece.h"

namespace asr {

// Device is the back end's class, or that of a test, which delays copies.
template <typename Device>
class ReturnedRows {
 public:
  explicit ReturnedRows(Device &device) : device_(device) {}
  ReturnedRows(const ReturnedRows &) = delete;
  ReturnedRows &operator=(const ReturnedRows &) = delete;
  ~ReturnedRows() {
    try {
      device_.compute().finish();  // no copy may write to memory that is freed
    } catch (...) {                // a lost device can be closed
    }
  }

  void note_advance() { ++n_advances_; }

  // Puts the copy of the first n_floats of an array into the compute queue. `pieces`: their destinations, in order.
  template <typename Rows>
  void start(const Rows &rows, const std::vector<Piece<float>> &pieces, size_t n_floats) {
    if (n_floats == 0) return;
    if (idle_.empty()) idle_.push_back(std::make_unique<Copy>(device_));
    pending_.reserve(pending_.size() + 1);
    idle_.reserve(idle_.size() + pending_.size() + 1);  // so that give_back() needs no memory
    Copy &copy = *idle_.back();
    copy.memory->reserve(n_floats);
    copy.pieces = pieces;
    copy.n_advances = n_advances_;
    device_.compute().read(rows, 0, copy.memory->data(), n_floats);
    device_.compute().mark(&copy.copied);
    pending_.push_back(std::move(idle_.back()));
    idle_.pop_back();
  }

  // Moves rows to their destinations: all steps' if n_left is 0. Otherwise it moves rows of steps before an advance
  // that is none of the last n_left. After a failure the rows of earlier steps are never moved.
  void deliver(uint32_t n_left) {
    size_t n = 0;
    while (n < pending_.size() && (n_left == 0 || pending_[n]->n_advances + n_left < n_advances_)) ++n;
    try {
      for (size_t i = 0; i < n; ++i) deliver(*pending_[i]);
    } catch (...) {
      give_back(pending_.size());
      throw;
    }
    give_back(n);
  }

 private:
  struct Copy {
    explicit Copy(Device &device) : memory(device.new_pinned()) {}
    decltype(std::declval<Device &>().new_pinned()) memory;
    typename Device::Event copied;
    std::vector<Piece<float>> pieces;
    uint64_t n_advances = 0;  // issued before the step
  };

  void deliver(Copy &copy) {
    copy.copied.wait();
    const float *from = copy.memory->data();
    for (const Piece<float> &piece : copy.pieces) {
      std::copy_n(from, piece.n, piece.data);
      from += piece.n;
    }
  }

  // Makes the first n copies idle.
  void give_back(size_t n) noexcept {
    const auto end = pending_.begin() + static_cast<ptrdiff_t>(n);
    std::move(pending_.begin(), end, std::back_inserter(idle_));
    pending_.erase(pending_.begin(), end);
  }

  Device &device_;
  std::vector<std::unique_ptr<Copy>> pending_, idle_;  // in the order of their steps
  uint64_t n_advances_ = 0;
};

}  // namespace asr
