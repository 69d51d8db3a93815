// SPDX-License-Identifier: Apache-2.0
// Leaves the front end and the search to the CPU. Its first device claims a capability of the search, the second none.
#include "tests/loader/plugins/stub.h"

static asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  const asr_status status = stub::probe(infos, capacity, n_devices);
  if (capacity > 0) infos[0].capabilities = ASR_BACKEND_OVERLAPS;
  return status;
}

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::without_search(stub::table("only_scores"));
    table.load_features = nullptr;
    table.free_features = nullptr;
    table.extract = nullptr;
    table.probe = probe;
    return table;
  }();
  return &api;
}
