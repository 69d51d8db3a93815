// SPDX-License-Identifier: Apache-2.0
// PinnedTable has a table on a device, and the pinned memory through which the host copies it there. The tables of fuser.h
// and statistics.h are such.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace asr {

// Runtime names a back end's classes.
template <typename Runtime, typename T>
class PinnedTable {
 public:
  using Array = typename Runtime::template DeviceArray<T>;

  // `context`: arguments of the Runtime's arrays.
  template <typename... Context>
  explicit PinnedTable(const Context &...context) : host_(context...), array_(context...) {}

  // Puts the copy of from[n], each entry converted, into a queue. The table's preceding copy must be done.
  template <typename From, typename Convert>
  void upload(const From *from, size_t n, const Convert &convert, typename Runtime::Queue &queue) {
    if (n == 0) return;
    host_.reserve(n);
    array_.reserve(n);
    std::transform(from, from + n, host_.data(), convert);
    queue.write(array_, 0, host_.data(), n);
  }
  void upload(const std::vector<T> &from, typename Runtime::Queue &queue) {
    upload(
        from.data(), from.size(), [](const T &entry) { return entry; }, queue);
  }

  Array &array() { return array_; }
  void release() noexcept { array_.release(); }  // frees the device's memory

 private:
  typename Runtime::template PinnedArray<T> host_;
  Array array_;
};

}  // namespace asr
