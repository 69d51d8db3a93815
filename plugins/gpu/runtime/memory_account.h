// SPDX-License-Identifier: Apache-2.0
// MemoryAccount counts the memory of an opened device, and makes room for allocations that fail: its owner frees memory that
// no running work needs, and the allocation is tried again. All device memory of the runtimes of CUDA and OpenCL is taken from
// one. When the device is closed everything must have come back, pinned memory of the host too.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

#include "core/base/error.h"

namespace asr {

class MemoryAccount {
 public:
  // max_bytes: allocations that would exceed it fail as if the device were full (asr_backend_options); 0: none do.
  explicit MemoryAccount(uint64_t max_bytes = 0) : max_bytes_(max_bytes > 0 ? max_bytes : UINT64_MAX) {}
  ~MemoryAccount() { assert(n_bytes_ == 0 && n_pinned_bytes_ == 0); }
  MemoryAccount(const MemoryAccount &) = delete;
  MemoryAccount &operator=(const MemoryAccount &) = delete;

  // make_room() frees some memory and returns true, or returns false if there is none to free. It is called on the thread
  // that allocates, which is in a slot of this device.
  void set_make_room(std::function<bool()> make_room) { make_room_ = std::move(make_room); }

  // Calls allocate(), which throws ASR_OUT_OF_MEMORY if the device has no n_bytes left, until it succeeds or there is no
  // more room to be made.
  template <typename Allocate>
  void take(uint64_t n_bytes, const Allocate &allocate) {
    for (;;) {
      try {
        check_left(n_bytes);
        allocate();
        n_bytes_ += n_bytes;
        return;
      } catch (const Error &error) {
        if (error.code() != ASR_OUT_OF_MEMORY || !may_make_room()) throw;
        const std::exception_ptr failure = std::current_exception();
        if (!make_room_()) std::rethrow_exception(failure);
      }
    }
  }
  // Frees some memory for an allocation that the caller repeats; returns false if there is none to free.
  bool make_room() { return may_make_room() && make_room_(); }
  void give_back(uint64_t n_bytes) noexcept { n_bytes_ -= n_bytes; }

  void note_pinned(uint64_t n_bytes) noexcept { n_pinned_bytes_ += n_bytes; }
  void forget_pinned(uint64_t n_bytes) noexcept { n_pinned_bytes_ -= n_bytes; }

  uint64_t n_bytes() const { return n_bytes_; }
  uint64_t n_left() const { return max_bytes_ - std::min<uint64_t>(max_bytes_, n_bytes_); }

  // While a Modest lives, allocations of this thread's slot fail without making room: their caller can do without.
  class Modest {
   public:
    explicit Modest(MemoryAccount &account) : account_(account) { ++account_.n_modest_; }
    ~Modest() { --account_.n_modest_; }
    Modest(const Modest &) = delete;
    Modest &operator=(const Modest &) = delete;

   private:
    MemoryAccount &account_;
  };

 private:
  bool may_make_room() const { return make_room_ != nullptr && n_modest_ == 0; }
  void check_left(uint64_t n_bytes) const {
    if (n_bytes <= n_left()) return;
    fail(ASR_OUT_OF_MEMORY, "allocating memory: %llu bytes are more than the %llu that are left of the limit set for tests",
         static_cast<unsigned long long>(n_bytes), static_cast<unsigned long long>(n_left()));
  }

  const uint64_t max_bytes_;
  std::atomic<uint64_t> n_bytes_{0}, n_pinned_bytes_{0};
  std::function<bool()> make_room_;
  uint32_t n_modest_ = 0;
};

}  // namespace asr
