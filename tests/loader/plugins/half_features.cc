// SPDX-License-Identifier: Apache-2.0
// Makes features, but has no slot that frees what it loads for them.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("half_features");
    table.free_features = nullptr;
    return table;
  }();
  return &api;
}
