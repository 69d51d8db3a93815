// SPDX-License-Identifier: Apache-2.0
// LastError keeps the sentence of a thread's last failed call, for borders that return it as a C string.
#pragma once

#include <cstring>

namespace asr {

// Made for a thread_local, so its type is trivial. For a non-trivial type the C library registers a destructor with malloc, and
// ends the process when memory is exhausted.
struct LastError {
  char text[4096];

  // Truncates longer sentences at a boundary between UTF-8 characters.
  void keep(const char *sentence) noexcept {
    size_t n = strnlen(sentence, sizeof(text) - 1);
    while (n > 0 && (sentence[n] & 0xc0) == 0x80) --n;
    memcpy(text, sentence, n);
    text[n] = '\0';
  }
};

}  // namespace asr
