// SPDX-License-Identifier: Apache-2.0
#include "core/base/page_allocator.h"

#include <malloc.h>
#include <sys/mman.h>

namespace asr {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPages = false;  // AddressSanitizer sees the ends of its own blocks alone
#else
constexpr bool kPages = true;
#endif

}  // namespace

void *allocate_array(size_t n_bytes) {
  if (!kPages || n_bytes < kMinPagedBytes) return ::operator new(n_bytes);
  void *const pages = mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return pages;
}

void free_array(void *array, size_t n_bytes) noexcept {
  if (!kPages || n_bytes < kMinPagedBytes) {
    ::operator delete(array);
  } else {
    munmap(array, n_bytes);
  }
}

void return_free_memory() noexcept {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace asr
