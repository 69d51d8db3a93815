// SPDX-License-Identifier: Apache-2.0
// Says whether a test runs under AddressSanitizer or ThreadSanitizer. There everything takes several times as long, memory in
// use says nothing, and no device but the CPU is there.
#pragma once

namespace asr::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace asr::test
