// SPDX-License-Identifier: Apache-2.0
// Implements a newer contract, and ignores the host's version.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("new_abi");
    table.abi = ASR_BACKEND_ABI + 1;
    return table;
  }();
  return &api;
}
