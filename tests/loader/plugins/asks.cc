// SPDX-License-Identifier: Apache-2.0
// Its device's name says whether the core probed it because it was named.
#include "tests/loader/plugins/stub.h"

static const asr_host_api *g_host = nullptr;

static asr_status say(asr_backend_device_info *infos, size_t, size_t *n_devices) {
  snprintf(infos[0].name, sizeof(infos[0].name), "%s", g_host->is_named() != 0 ? "named" : "looked for");
  infos[0].score = 1;
  *n_devices = 1;
  return ASR_OK;
}

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *host) {
  static asr_backend_api api = stub::table("asks");
  g_host = host;
  api.probe = say;
  return &api;
}
