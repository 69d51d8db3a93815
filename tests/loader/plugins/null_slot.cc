// SPDX-License-Identifier: Apache-2.0
// Has one slot that is NULL.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("null_slot");
    table.advance = nullptr;
    return table;
  }();
  return &api;
}
