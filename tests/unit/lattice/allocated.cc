// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/lattice/allocated.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<size_t> g_held{0}, g_peak{0};

}  // namespace

void *operator new(size_t size, const std::nothrow_t &) noexcept {
  void *const memory = malloc(size);
  if (memory == nullptr) return nullptr;
  const size_t held = g_held += malloc_usable_size(memory);
  for (size_t peak = g_peak; held > peak && !g_peak.compare_exchange_weak(peak, held);) {
  }
  return memory;
}

void *operator new(size_t size) {
  void *const memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void *memory) noexcept {
  g_held -= malloc_usable_size(memory);
  free(memory);
}

void operator delete(void *memory, size_t) noexcept { operator delete(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { operator delete(memory); }

namespace asr::test {

PeakMemory::PeakMemory() : before_(g_held) { g_peak = before_; }

size_t PeakMemory::bytes() const { return g_peak - before_; }

}  // namespace asr::test
