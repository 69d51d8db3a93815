// SPDX-License-Identifier: Apache-2.0
// Finds no device, and says why.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("no_device");
    table.probe = [](asr_backend_device_info *, size_t, size_t *n_devices) {
      *n_devices = 0;
      stub::last_error() = "no stub driver";
      return ASR_OK;
    };
    return table;
  }();
  return &api;
}
