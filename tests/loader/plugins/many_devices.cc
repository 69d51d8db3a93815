// SPDX-License-Identifier: Apache-2.0
// Has more devices than fit the core's list.
#include "tests/loader/plugins/stub.h"

static asr_status many(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  for (size_t i = 0; i < capacity; ++i) infos[i].score = 1;
  *n_devices = 1000;
  return ASR_OK;
}

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static asr_backend_api api = stub::table("many_devices");
  api.probe = many;
  return &api;
}
