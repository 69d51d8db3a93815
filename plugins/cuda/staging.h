// SPDX-License-Identifier: Apache-2.0
// Copies between many pieces of pageable host memory and one array of the device, through two pinned buffers in turn: one is
// filled or emptied while the other is on its way.
#pragma once

#include <cstddef>
#include <vector>

#include "plugins/common/thread_pool.h"
#include "plugins/cuda/runtime.h"

namespace asr::cuda {

template <typename T>
struct Piece {
  T *data;
  size_t n;
};

class Staging {
 public:
  explicit Staging(ThreadPool &pool) : pool_(pool) {}

  // One piece after the other to `device`; the pieces may change after return, the copies are in the stream.
  void upload(const std::vector<Piece<const float>> &pieces, float *device, cudaStream_t stream);
  // The other way; complete on return.
  void download(const float *device, const std::vector<Piece<float>> &pieces, cudaStream_t stream);

 private:
  static constexpr size_t kBufferFloats = size_t{1} << 20;
  struct Buffer {
    PinnedArray<float> memory;
    Event free;
  };
  Buffer &next();

  ThreadPool &pool_;
  Buffer buffers_[2];
  size_t turn_ = 0;
};

}  // namespace asr::cuda
