// SPDX-License-Identifier: Apache-2.0
// GrowingArray is the array of graphs under construction. It resembles a vector of plain values, but growing moves pages
// instead of copying values, so it never takes twice its size.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

namespace asr {

template <typename T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowingArray() = default;
  GrowingArray(std::initializer_list<T> values) { append(values.begin(), values.size()); }
  GrowingArray(const GrowingArray &other) { append(other.data_, other.size_); }
  GrowingArray(GrowingArray &&other) noexcept { swap(other); }
  GrowingArray &operator=(GrowingArray other) noexcept {
    swap(other);
    return *this;
  }
  ~GrowingArray() { std::free(data_); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T *data() { return data_; }
  const T *data() const { return data_; }
  T &operator[](size_t i) { return data_[i]; }
  const T &operator[](size_t i) const { return data_[i]; }
  T &back() { return data_[size_ - 1]; }
  T *begin() { return data_; }
  T *end() { return data_ + size_; }
  const T *begin() const { return data_; }
  const T *end() const { return data_ + size_; }

  void reserve(size_t n) {
    if (n > capacity_) set_capacity(n);
  }
  void resize(size_t n) {  // new values are zero
    reserve(n);
    if (n > size_) memset(static_cast<void *>(data_ + size_), 0, (n - size_) * sizeof(T));
    size_ = n;
  }
  void push_back(const T &value) {
    const T copy = value;
    if (size_ == capacity_) set_capacity(size_ + size_ / 2 + 16);
    data_[size_++] = copy;
  }
  void append(const T *values, size_t n) {
    if (n == 0) return;
    if (size_ + n > capacity_) set_capacity(size_ + n + size_ / 2);
    memcpy(static_cast<void *>(data_ + size_), values, n * sizeof(T));
    size_ += n;
  }

  // Replaces every value by call(value) in the same memory.
  template <typename U, typename Call>
  GrowingArray<U> turned_into(Call call) && {
    static_assert(sizeof(U) == sizeof(T) && std::is_trivially_copyable_v<U>);
    for (size_t i = 0; i < size_; ++i) {
      const U turned = call(data_[i]);
      memcpy(static_cast<void *>(data_ + i), &turned, sizeof(U));
    }
    GrowingArray<U> result;
    result.data_ = reinterpret_cast<U *>(std::exchange(data_, nullptr));
    result.size_ = std::exchange(size_, 0);
    result.capacity_ = std::exchange(capacity_, 0);
    return result;
  }

 private:
  template <typename U>
  friend class GrowingArray;
  T *data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;

  void swap(GrowingArray &other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  void set_capacity(size_t n) {
    if (n > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    void *const grown = std::realloc(static_cast<void *>(data_), n * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T *>(grown);
    capacity_ = n;
  }
};

}  // namespace asr
