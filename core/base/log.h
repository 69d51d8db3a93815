// SPDX-License-Identifier: Apache-2.0
// The process-wide receiver of log messages (asr_set_log). Messages are discarded until a receiver is set.
#pragma once

#include <string>
#include <vector>

#include "asr.h"

namespace asr {

void set_log(asr_log_fn log, asr_log_level level, void *user_data);
bool in_log_function() noexcept;  // true on a thread inside the receiver
// Passes one line on (core/base/printable.h), cut after 1023 bytes.
void log(asr_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

// HeldLog delays its thread's log messages until the outermost HeldLog ends. Code that takes a lock creates one first. A log
// function may call the library, or wait for a thread that does.
class HeldLog {
 public:
  HeldLog() noexcept;
  ~HeldLog();
  HeldLog(const HeldLog &) = delete;
  HeldLog &operator=(const HeldLog &) = delete;

 private:
  friend void log(asr_log_level level, const char *format, ...);
  void keep(asr_log_level level, const char *text) noexcept;

  struct Message {
    asr_log_level level;
    std::string text;
  };
  std::vector<Message> messages_;
};

}  // namespace asr
