// SPDX-License-Identifier: Apache-2.0
#include "tests/alloc/failing_new.h"

#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <thread>

namespace asr::test {
namespace {

thread_local bool t_is_caller = false;
std::atomic<bool> g_armed{false};
std::atomic<Threads> g_threads{Threads::kLibrary};
std::atomic<bool> g_with_malloc{false}, g_holds{false};
std::atomic<long> g_until_first{0}, g_until_end{0}, g_n_failed{0};

bool is_concerned() { return g_armed.load(std::memory_order_relaxed) && t_is_caller == (g_threads == Threads::kCaller); }

bool fails_now() {
  if (!is_concerned()) return false;
  if (g_until_first.fetch_sub(1) > 0 || g_until_end.fetch_sub(1) <= 0) return false;
  ++g_n_failed;
  return true;
}

thread_local bool t_in_new = false;  // operator new itself is calling malloc

// The dynamic loader allocates a thread's data of plugins with malloc at their first use, and ends the process if it cannot. So
// its calls are no points of their own: they fail while all allocations do.
uintptr_t g_loader_begin = 0, g_loader_end = 0;

int note_loader(dl_phdr_info *object, size_t, void *) {
  if (object->dlpi_addr != getauxval(AT_BASE)) return 0;
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = object->dlpi_phdr[i];
    if (part.p_type == PT_LOAD)
      g_loader_end = std::max<uintptr_t>(g_loader_end, object->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  g_loader_begin = object->dlpi_addr;
  return 1;
}

// Sets errno as malloc does: pthread_create asserts it.
[[maybe_unused]] bool malloc_fails(const void *caller) {
  if (!g_with_malloc || t_in_new) return false;
  const auto address = reinterpret_cast<uintptr_t>(caller);
  const bool is_loader = address >= g_loader_begin && address < g_loader_end;
  const bool fails = is_loader ? is_concerned() && g_until_first < 0 && g_until_end > 0 : fails_now();
  if (fails) errno = ENOMEM;
  return fails;
}

void *from_malloc(size_t n) {
  t_in_new = true;
  void *const memory = malloc(n > 0 ? n : 1);
  t_in_new = false;
  return memory;
}

void wait_while_held() {
  while (g_holds && !t_is_caller) std::this_thread::yield();
}

void *allocate(size_t n) {
  wait_while_held();
  if (fails_now()) throw std::bad_alloc();
  void *const memory = from_malloc(n);
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

void include_malloc() {
  dl_iterate_phdr(note_loader, nullptr);
  g_with_malloc = true;
}

void arm(Threads threads, long nth, long n_more) {
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

void hold() { g_holds = true; }

void release() { g_holds = false; }

}  // namespace asr::test

using asr::test::allocate;
using asr::test::allocate_aligned;

void *operator new(size_t n) { return allocate(n); }
void *operator new[](size_t n) { return allocate(n); }
void *operator new(size_t n, std::align_val_t alignment) { return allocate_aligned(n, alignment); }
void *operator new[](size_t n, std::align_val_t alignment) { return allocate_aligned(n, alignment); }
void *operator new(size_t n, const std::nothrow_t &) noexcept {
  return asr::test::fails_now() ? nullptr : asr::test::from_malloc(n);
}
void *operator new[](size_t n, const std::nothrow_t &) noexcept {
  return asr::test::fails_now() ? nullptr : asr::test::from_malloc(n);
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
using asr::test::malloc_fails;

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): names of glibc
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t n);
// NOLINTEND(bugprone-reserved-identifier)

void *malloc(size_t n) { return malloc_fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return malloc_fails(nullptr) ? nullptr : __libc_calloc(n, size); }
void *realloc(void *memory, size_t n) { return malloc_fails(nullptr) ? nullptr : __libc_realloc(memory, n); }
}
#endif
