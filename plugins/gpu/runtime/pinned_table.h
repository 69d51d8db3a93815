// SPDX-License-Identifier: Apache-2.0
// PinnedTable has a table on a device, and the pinned memory through which the host copies it there. The tables of fuser.h
// and statistics.h are such.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/runtime.h"

namespace asr::gpu {

template <typename T>
class PinnedTable {
 public:
  explicit PinnedTable(const Context &context) : host_(context), array_(context) {}

  // Puts the copy of from[n], each entry converted, into a queue. The table's preceding copy must be done.
  template <typename From, typename Convert>
  void upload(const From *from, size_t n, const Convert &convert, Queue &queue) {
    if (n == 0) return;
    host_.reserve(n);
    array_.reserve(n);
    std::transform(from, from + n, host_.data(), convert);
    queue.write(array_, 0, host_.data(), n);
  }
  void upload(const std::vector<T> &from, Queue &queue) {
    upload(
        from.data(), from.size(), [](const T &entry) { return entry; }, queue);
  }

  Array<T> &array() { return array_; }
  void release() noexcept { array_.release(); }  // frees the device's memory

 private:
  Pinned<T> host_;
  Array<T> array_;
};

}  // namespace asr::gpu
