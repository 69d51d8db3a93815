// SPDX-License-Identifier: Apache-2.0
// Makes lattices, but does not search.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::without_search(stub::table("only_lattices"));
    table.lattices = stub::succeed;
    return table;
  }();
  return &api;
}
