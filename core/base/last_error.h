// SPDX-License-Identifier: Apache-2.0
// LastError keeps the message of a thread's last failed call, for borders that return it as a C string.
#pragma once

#include <cstring>

namespace asr {

// Made for a thread_local, so its type is trivial. For a non-trivial type the C library registers a destructor with malloc, and
// ends the process when memory is exhausted.
struct LastError {
  char text[4096];

  // Truncates longer messages at a boundary between UTF-8 characters.
  void keep(const char *message) noexcept {
    size_t n = strnlen(message, sizeof(text) - 1);
    while (n > 0 && (message[n] & 0xc0) == 0x80) --n;
    memcpy(text, message, n);
    text[n] = '\0';
  }
};

}  // namespace asr
