// SPDX-License-Identifier: Apache-2.0
// Copies between many pieces of pageable host memory and one array of the device, through two pinned buffers in turn: one is
// filled or emptied while the other is on its way.
#pragma once

#include <cstddef>
#include <vector>

#include "plugins/common/ocl/runtime.h"
#include "plugins/common/thread_pool.h"

namespace asr::ocl {

template <typename T>
struct Piece {
  T *data;
  size_t n;
};

class Staging {
 public:
  Staging(const Context &context, ThreadPool &pool) : pool_(pool), buffers_{Buffer(context), Buffer(context)} {}

  // One piece after the other to `device`, from its element `first_float` on; the pieces may change after return, the copies
  // are in the queue.
  void upload(const std::vector<Piece<const float>> &pieces, const DeviceArray<float> &device, Queue &queue,
              size_t first_float = 0);
  // The other way; complete on return.
  void download(const DeviceArray<float> &device, const std::vector<Piece<float>> &pieces, Queue &queue);

 private:
  static constexpr size_t kBufferFloats = size_t{1} << 20;
  struct Buffer {
    explicit Buffer(const Context &context) : memory(context) {}
    PinnedArray<float> memory;
    Event free;
  };
  Buffer &next();

  ThreadPool &pool_;
  Buffer buffers_[2];
  size_t turn_ = 0;
};

}  // namespace asr::ocl
