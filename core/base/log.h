// SPDX-License-Identifier: Apache-2.0
// The process-wide receiver of log messages (asr_set_log). Discards everything until one is set.
#pragma once

#include "asr.h"

namespace asr {

void set_log(asr_log_fn log, asr_log_level level, void *user_data);
void log(asr_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace asr
