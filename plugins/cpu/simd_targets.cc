// SPDX-License-Identifier: Apache-2.0
// The functions that HWY_EXPORT and HWY_DYNAMIC_DISPATCH of google/highway call at run time to find this processor's
// instruction sets. Debian's libhwy is a shared library only. With these few functions of hwy/targets.h the kernels need just
// its headers, and libsenone does not need libhwy.so at run time. Kernels use the macros as in Highway's manual.
#include <cstdarg>
#include <cstdio>

#include "core/base/error.h"
#include "hwy/highway.h"

namespace hwy {
namespace {

int64_t targets_for_test = 0;  // 0 = the processor's targets

#if HWY_ARCH_X86
// GCC's checks include that the operating system saves the wider registers. F16C and LZCNT are not checked, as every processor
// with AVX2 and FMA has them.
int64_t detect_targets() {
  __builtin_cpu_init();
  int64_t targets = HWY_STATIC_TARGET | HWY_EMU128 | HWY_SCALAR;
  if (!__builtin_cpu_supports("ssse3")) return targets;
  targets |= HWY_SSSE3;
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("aes")) return targets;
  targets |= HWY_SSE4;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2")) return targets;
  targets |= HWY_AVX2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512cd")) {
    return targets;
  }
  return targets | HWY_AVX3;
}
#else
int64_t detect_targets() { return HWY_STATIC_TARGET | HWY_EMU128 | HWY_SCALAR; }
#endif

// Made while the library is loaded. As a variable of the function it would have a lock, which a child of fork could find taken.
const int64_t kDetected = detect_targets();

}  // namespace

int64_t SupportedTargets() { return targets_for_test != 0 ? targets_for_test : kDetected; }

// Restricts dispatch to `targets`, so that tests reach every version of a kernel; 0 ends the restriction.
void SetSupportedTargetsForTest(int64_t targets) {
  targets_for_test = targets;
  GetChosenTarget().DeInit();
}

ChosenTarget &GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

// Highway's own checks of arguments call it.
void Abort(const char *file, int line, const char *format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  asr::fail(ASR_INTERNAL, "%s:%d: %s", file, line, text);
}

}  // namespace hwy
