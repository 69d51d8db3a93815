// SPDX-License-Identifier: Apache-2.0
// Exports the table as it was before `lattice` was added; memory behind it is not a slot.
#include <cstddef>

#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("first_table");
    table.size = offsetof(asr_backend_api, lattice);
    return table;
  }();
  return &api;
}
