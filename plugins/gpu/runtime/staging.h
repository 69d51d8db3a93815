// SPDX-License-Identifier: Apache-2.0
// Staging copies between many pieces of pageable host memory and one array of a device, through two pinned buffers in
// turn. One is filled or emptied while the other is transferred. It is for back ends whose device has its own memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/thread_pool.h"
#include "plugins/gpu/runtime/piece.h"
#include "runtime/runtime.h"

namespace asr::gpu {

template <typename T = float>
class Staging {
 public:
  Staging(ThreadPool &pool, const Context &context) : pool_(pool), buffers_{Buffer(context), Buffer(context)} {}

  // Copies one piece after the other to `device`, from its element `at` on. On return the copies are in the queue, and the
  // pieces may change.
  void upload(const std::vector<Piece<const T>> &pieces, Array<T> &device, Queue &queue, size_t at = 0) {
    const std::vector<size_t> starts = starts_of(pieces);
    for (size_t first = 0; first < starts.back(); first += kBufferValues) {
      const size_t n_values = std::min(kBufferValues, starts.back() - first);
      Buffer &buffer = next();
      for_each_part(starts, first, n_values, [&](size_t piece, size_t begin, size_t to, size_t n) {
        std::copy_n(pieces[piece].data + begin, n, buffer.memory.data() + to);
      });
      queue.write(device, at + first, buffer.memory.data(), n_values);
      queue.mark(&buffer.copied);
    }
  }

  // Copies from the first element of `device` on to one piece after the other; complete on return.
  void download(const Array<T> &device, const std::vector<Piece<T>> &pieces, Queue &queue) {
    const std::vector<size_t> starts = starts_of(pieces);
    Buffer *arriving = nullptr;
    size_t arriving_first = 0, arriving_values = 0;
    const auto empty = [&] {
      if (arriving == nullptr) return;
      arriving->copied.wait();
      for_each_part(starts, arriving_first, arriving_values, [&](size_t piece, size_t begin, size_t from, size_t n) {
        std::copy_n(arriving->memory.data() + from, n, pieces[piece].data + begin);
      });
    };
    for (size_t first = 0; first < starts.back(); first += kBufferValues) {
      const size_t n_values = std::min(kBufferValues, starts.back() - first);
      Buffer &buffer = next();
      queue.read(device, first, buffer.memory.data(), n_values);
      queue.mark(&buffer.copied);
      empty();
      arriving = &buffer, arriving_first = first, arriving_values = n_values;
    }
    empty();
  }

 private:
  static constexpr size_t kBufferValues = size_t{1} << 20, kTaskValues = size_t{1} << 16;

  struct Buffer {
    explicit Buffer(const Context &context) : memory(context) {}
    Pinned<T> memory;
    Event copied;
  };
  // Returns a buffer whose last copy is done.
  Buffer &next() {
    Buffer &buffer = buffers_[turn_++ % 2];
    buffer.memory.reserve(kBufferValues);
    buffer.copied.wait();
    return buffer;
  }

  // Returns the offset of each piece, and the end.
  template <typename Value>
  static std::vector<size_t> starts_of(const std::vector<Piece<Value>> &pieces) {
    std::vector<size_t> starts = {0};
    for (const Piece<Value> &piece : pieces) starts.push_back(starts.back() + piece.n);
    return starts;
  }

  // Calls copy(piece, begin, at, n) in the pool's threads, for the parts of all pieces in first ... first + n_values - 1 of
  // their sequence; `at` counts from `first`.
  template <typename Copy>
  void for_each_part(const std::vector<size_t> &starts, size_t first, size_t n_values, const Copy &copy) {
    pool_.run((n_values + kTaskValues - 1) / kTaskValues, [&](size_t task) {
      size_t at = first + task * kTaskValues;
      const size_t end = std::min(at + kTaskValues, first + n_values);
      size_t piece = static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), at) - starts.begin()) - 1;
      for (; at < end; ++piece) {
        const size_t n = std::min(end, starts[piece + 1]) - at;
        if (n > 0) copy(piece, at - starts[piece], at - first, n);
        at += n;
      }
    });
  }

  ThreadPool &pool_;
  Buffer buffers_[2];
  size_t turn_ = 0;
};

}  // namespace asr::gpu
