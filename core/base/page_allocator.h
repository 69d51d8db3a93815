// SPDX-License-Identifier: Apache-2.0
// PagedVector is a std::vector for arrays that may take megabytes. Then it has pages of its own, which go back to the system
// when it is freed. glibc's malloc keeps them: every large block that is freed raises its threshold for pages of their own, up
// to 32 MB, and the memory that each of its arenas, one a thread, may keep at its end, to twice that. So a process would grow
// by tens of megabytes a thread with models that come and go, and malloc_trim() does not return these.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace asr {

constexpr size_t kMinPagedBytes = size_t{1} << 20;  // smaller arrays are operator new's

// Throws std::bad_alloc. `n_bytes` is the same in both calls. Aligned as by operator new, large ones to a page.
void *allocate_array(size_t n_bytes);
void free_array(void *array, size_t n_bytes) noexcept;

template <typename T>
class PageAllocator {
 public:
  using value_type = T;
  PageAllocator() = default;
  template <typename Other>
  PageAllocator(const PageAllocator<Other> &) noexcept {}  // NOLINT(google-explicit-constructor): as std::allocator's

  T *allocate(size_t n) {
    if (n > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_alloc();
    return static_cast<T *>(allocate_array(n * sizeof(T)));
  }
  void deallocate(T *array, size_t n) noexcept { free_array(array, n * sizeof(T)); }

  friend bool operator==(const PageAllocator &, const PageAllocator &) { return true; }
  friend bool operator!=(const PageAllocator &, const PageAllocator &) { return false; }
};

template <typename T>
using PagedVector = std::vector<T, PageAllocator<T>>;

// Returns free memory of the C library to the system, where it can. Takes milliseconds, up to a hundred after large searches.
void return_free_memory() noexcept;

}  // namespace asr
