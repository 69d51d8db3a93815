// SPDX-License-Identifier: Apache-2.0
// Allocations that fail on purpose. Linking failing_new.cc replaces operator new in the whole process, including the library
// and its plugins.
#pragma once

#include <climits>

namespace asr::test {

// Marks the calling thread as the caller's; all other threads are the library's.
void mark_caller_thread();

// Also counts malloc calls of the C library and others. Not under AddressSanitizer and ThreadSanitizer.
void include_malloc();

enum class Threads { kCaller, kLibrary };

// Makes the nth allocation of such threads from now on fail (counted from 0), and n_more after it. disarm() returns how many
// failed.
void arm(Threads threads, long nth, long n_more = 0);
long disarm();

constexpr long kAllMore = LONG_MAX / 2;

// Makes the library's threads wait in their next call of operator new until release().
void hold();
void release();

}  // namespace asr::test
