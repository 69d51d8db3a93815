// SPDX-License-Identifier: Apache-2.0
// The sentence of a thread's last failed call, for borders that give it out as a C string.
#pragma once

#include <cstring>

namespace asr {

// For a thread_local. Of trivial type: the C library registers destructors of such objects with memory from malloc, and ends
// the process where there is none.
struct LastError {
  char text[4096];

  // Cuts what is longer, between characters of UTF-8.
  void keep(const char *sentence) noexcept {
    size_t n = strnlen(sentence, sizeof(text) - 1);
    while (n > 0 && (sentence[n] & 0xc0) == 0x80) --n;
    memcpy(text, sentence, n);
    text[n] = '\0';
  }
};

}  // namespace asr
