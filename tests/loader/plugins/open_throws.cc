// SPDX-License-Identifier: Apache-2.0
// Throws out of open.
#include <stdexcept>

#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  static const asr_backend_api api = [] {
    asr_backend_api table = stub::table("open_throws");
    table.open = [](uint32_t, const asr_backend_options *, asr_backend_device **) -> asr_status {
      throw std::runtime_error("stub open");
    };
    return table;
  }();
  return &api;
}
