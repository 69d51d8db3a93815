// SPDX-License-Identifier: Apache-2.0
#include "tests/alloc/failing_new.h"

#include <link.h>

#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace asr::test {
namespace {

thread_local bool t_is_caller = false;
std::atomic<bool> g_armed{false};
std::atomic<Threads> g_threads{Threads::kLibrary};
std::atomic<long> g_until_first{0}, g_until_end{0}, g_n_failed{0};

bool fails_now() {
  if (!g_armed.load(std::memory_order_relaxed)) return false;
  if (t_is_caller != (g_threads == Threads::kCaller)) return false;
  if (g_until_first.fetch_sub(1) > 0 || g_until_end.fetch_sub(1) <= 0) return false;
  ++g_n_failed;
  return true;
}

void *allocate(size_t n) {
  if (fails_now()) throw std::bad_alloc();
  void *const memory = malloc(n > 0 ? n : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void *allocate_aligned(size_t n, std::align_val_t alignment) {
  if (fails_now()) throw std::bad_alloc();
  void *memory = nullptr;
  if (posix_memalign(&memory, static_cast<size_t>(alignment), n > 0 ? n : 1) != 0) throw std::bad_alloc();
  return memory;
}

}  // namespace

void mark_caller_thread() { t_is_caller = true; }

// Where libsoxr lies, for its calls of malloc.
std::atomic<uintptr_t> g_soxr_begin{0}, g_soxr_end{0};
bool g_with_soxr = false;

int note_soxr(dl_phdr_info *info, size_t, void *) {
  if (strstr(info->dlpi_name, "libsoxr.so") == nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    g_soxr_begin = info->dlpi_addr + part.p_vaddr;
    g_soxr_end = g_soxr_begin + part.p_memsz;
  }
  return 1;
}

bool fails_in_soxr(void *return_address) {
  const auto address = reinterpret_cast<uintptr_t>(return_address);
  return address >= g_soxr_begin && address < g_soxr_end && fails_now();
}

void include_soxr() { g_with_soxr = true; }

void arm(Threads threads, long nth, long n_more) {
  if (g_with_soxr && g_soxr_begin == 0) dl_iterate_phdr(note_soxr, nullptr);
  g_threads = threads;
  g_until_first = nth;
  g_until_end = 1 + n_more;
  g_n_failed = 0;
  g_armed = true;
}

long disarm() {
  g_armed = false;
  return g_n_failed;
}

}  // namespace asr::test

using asr::test::allocate;
using asr::test::allocate_aligned;

void *operator new(size_t n) { return allocate(n); }
void *operator new[](size_t n) { return allocate(n); }
void *operator new(size_t n, std::align_val_t alignment) { return allocate_aligned(n, alignment); }
void *operator new[](size_t n, std::align_val_t alignment) { return allocate_aligned(n, alignment); }
void *operator new(size_t n, const std::nothrow_t &) noexcept {
  return asr::test::fails_now() ? nullptr : malloc(n > 0 ? n : 1);
}
void *operator new[](size_t n, const std::nothrow_t &) noexcept {
  return asr::test::fails_now() ? nullptr : malloc(n > 0 ? n : 1);
}
void operator delete(void *memory) noexcept { free(memory); }
void operator delete[](void *memory) noexcept { free(memory); }
void operator delete(void *memory, size_t) noexcept { free(memory); }
void operator delete[](void *memory, size_t) noexcept { free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { free(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { free(memory); }
void operator delete[](void *memory, size_t, std::align_val_t) noexcept { free(memory); }

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t n);

void *malloc(size_t n) { return asr::test::fails_in_soxr(__builtin_return_address(0)) ? nullptr : __libc_malloc(n); }
void *calloc(size_t n, size_t size) {
  return asr::test::fails_in_soxr(__builtin_return_address(0)) ? nullptr : __libc_calloc(n, size);
}
void *realloc(void *memory, size_t n) {
  return asr::test::fails_in_soxr(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, n);
}
}
#endif
