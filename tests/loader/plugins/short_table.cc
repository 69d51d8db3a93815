// SPDX-License-Identifier: Apache-2.0
// The table lacks a slot that every back end has.
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
