// SPDX-License-Identifier: Apache-2.0
// MemoryShare measures the device memory of each object that a back end loads, for asr_backend_bench_api::memory: the
// difference of the bytes allocated before and after loading.
#pragma once

#include <cstdint>

namespace asr {

// Adds the device memory allocated between constructor and close() to a sum, until its own destruction.
class MemoryShare {
 public:
  MemoryShare(uint64_t *sum, uint64_t n_allocated) : sum_(sum), n_before_(n_allocated) {}
  ~MemoryShare() { *sum_ -= n_bytes_; }
  MemoryShare(const MemoryShare &) = delete;
  MemoryShare &operator=(const MemoryShare &) = delete;
  void close(uint64_t n_allocated) { *sum_ += n_bytes_ = n_allocated - n_before_; }

 private:
  uint64_t *const sum_;
  const uint64_t n_before_;
  uint64_t n_bytes_ = 0;
};

}  // namespace asr
