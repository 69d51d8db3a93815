// SPDX-License-Identifier: Apache-2.0
// Has one required slot that is NULL.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("null_slot");
    table.score = nullptr;
    return table;
  }();
  return &api;
}
