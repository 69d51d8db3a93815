// SPDX-License-Identifier: Apache-2.0
// Allocations that fail on purpose. Linking failing_new.cc replaces operator new in the whole process, the library and its
// plugins included.
#pragma once

#include <climits>

namespace asr::test {

// Threads are either the caller's, which called this, or the library's.
void mark_caller_thread();

// Counts what the C library and others allocate by malloc, too. Not under AddressSanitizer and ThreadSanitizer.
void include_malloc();

enum class Threads { kCaller, kLibrary };

// From now on the nth allocation of such threads fails, from 0 on, and after it n_more. disarm() says how many did fail.
void arm(Threads threads, long nth, long n_more = 0);
long disarm();

constexpr long kAllMore = LONG_MAX / 2;

}  // namespace asr::test
