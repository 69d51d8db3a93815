// SPDX-License-Identifier: Apache-2.0
// Keeps the contract: two devices, the second with the higher score. Says hello through the host's log.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *host) {
  static const asr_backend_api api = stub::table("good");
  host->log(ASR_LOG_INFO, "hello from the stub");
  return &api;
}
