// SPDX-License-Identifier: Apache-2.0
// MappedArray is a zeroed array of fixed size for large tables with random reads. It has its own mapping, in huge pages if the
// system has them, so that a lookup does not also miss the address translation.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace asr {

template <typename T>
class MappedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  MappedArray() = default;
  explicit MappedArray(size_t n) : n_(n) {
    if (n == 0) return;
    if (n > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    void *const memory = mmap(nullptr, n * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T *>(memory);
    madvise(memory, n * sizeof(T), MADV_HUGEPAGE);  // a hint; the array works without huge pages
  }
  MappedArray(MappedArray &&other) noexcept : data_(std::exchange(other.data_, nullptr)), n_(std::exchange(other.n_, 0)) {}
  MappedArray &operator=(MappedArray &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(n_, other.n_);
    return *this;
  }
  ~MappedArray() {
    if (data_ != nullptr) munmap(data_, n_ * sizeof(T));
  }

  T *data() { return data_; }
  const T *data() const { return data_; }
  size_t size() const { return n_; }
  T &operator[](size_t i) { return data_[i]; }
  const T &operator[](size_t i) const { return data_[i]; }

 private:
  T *data_ = nullptr;
  size_t n_ = 0;
};

}  // namespace asr
