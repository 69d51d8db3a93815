// SPDX-License-Identifier: Apache-2.0
// Fails without a message.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("silent");
    table.probe = [](asr_backend_device_info *, size_t, size_t *) { return ASR_INTERNAL; };
    table.last_error = []() -> const char * { return nullptr; };
    return table;
  }();
  return &api;
}
