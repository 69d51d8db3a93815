// SPDX-License-Identifier: Apache-2.0
// Exports a table that lacks a slot of every back end.
#include <cstddef>

#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("short_table");
    table.size = offsetof(asr_backend_api, wait);
    return table;
  }();
  return &api;
}
