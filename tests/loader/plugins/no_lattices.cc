// SPDX-License-Identifier: Apache-2.0
// Has a device that claims lattices, and no slot for them.
#include "tests/loader/plugins/stub.h"

static asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  const asr_status status = stub::probe(infos, capacity, n_devices);
  if (capacity > 0) infos[0].capabilities = ASR_BACKEND_LATTICES;
  return status;
}

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static asr_backend_api api = stub::table("no_lattices");
  api.probe = probe;
  return &api;
}
