// SPDX-License-Identifier: Apache-2.0
// Has a device that cannot be opened.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("open_fails");
    table.open = [](uint32_t, const asr_backend_options *, asr_backend_device **) { return stub::fail("the stub is busy"); };
    return table;
  }();
  return &api;
}
