// SPDX-License-Identifier: Apache-2.0
// Implements contract 1, and refuses every other as such a plugin does.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("old_abi");
    table.abi = 1;
    return table;
  }();
  return host_abi == 1 ? &api : nullptr;
}
