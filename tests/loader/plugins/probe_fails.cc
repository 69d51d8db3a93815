// SPDX-License-Identifier: Apache-2.0
// Fails in probe.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("probe_fails");
    table.probe = [](asr_backend_device_info *, size_t, size_t *) { return stub::fail("the stub driver is broken"); };
    return table;
  }();
  return &api;
}
