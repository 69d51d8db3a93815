// SPDX-License-Identifier: Apache-2.0
// Has a device whose name has control characters and no end.
#include <cstring>

#include "tests/loader/plugins/stub.h"

static asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  const asr_status status = stub::probe(infos, capacity, n_devices);
  *n_devices = 1;
  memset(infos[0].name, 'x', sizeof(infos[0].name));
  memcpy(infos[0].name, "a\nb\033", 4);
  return status;
}

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static asr_backend_api api = stub::table("odd_name");
  api.probe = probe;
  return &api;
}
