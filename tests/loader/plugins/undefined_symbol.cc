// SPDX-License-Identifier: Apache-2.0
// Needs an undefined function, like a plugin whose vendor library has another version.
#include "tests/loader/plugins/stub.h"

extern "C" asr_status stub_function_that_does_not_exist();

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = stub::table("undefined_symbol");
  return stub_function_that_does_not_exist() == ASR_OK ? &api : nullptr;
}
