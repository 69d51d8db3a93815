// SPDX-License-Identifier: Apache-2.0
// Throws out of probe an object that is not a std::exception.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("probe_throws");
    table.probe = [](asr_backend_device_info *, size_t, size_t *) -> asr_status { throw 42; };
    return table;
  }();
  return &api;
}
