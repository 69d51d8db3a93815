// SPDX-License-Identifier: Apache-2.0
// Has the extension "signals" without its slot `step`.
#include <cstring>

#include "core/backend/asr_backend_signals.h"
#include "tests/loader/plugins/stub.h"

static const void *extension(const char *name) {
  static const asr_backend_signals_api table = [] {
    asr_backend_signals_api signals{};
    signals.size = sizeof(signals);
    signals.prepare = stub::succeed;
    signals.signal_begin = stub::succeed;
    signals.signal_end = stub::ignore;
    return signals;
  }();
  return strcmp(name, ASR_BACKEND_SIGNALS) == 0 ? &table : nullptr;
}

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static asr_backend_api api = stub::table("null_extension");
  api.extension = extension;
  return &api;
}
