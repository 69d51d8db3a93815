// SPDX-License-Identifier: Apache-2.0
// Calls itself by the name of another back end.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("wrong_name");
    table.name = "cpu";
    return table;
  }();
  return &api;
}
