// SPDX-License-Identifier: Apache-2.0
// The CPU back end with an extension "statistics" that fails in the slot of a given name.
#pragma once

#include <cstring>

#include "core/backend/asr_backend_statistics.h"
#include "core/backend/registry.h"

namespace asr::test {

class FailingSums {
 public:
  static inline const char *fails_in = "";
  static inline int n_begun = 0;  // calls of sums_begin

  static DeviceEntry entry() {
    static asr_backend_api api;
    DeviceEntry entry = choose_device("cpu");
    api = *entry.api;
    api.extension = extension;
    entry.api = &api;
    return entry;
  }

 private:
  static asr_status status_of(const char *slot) { return strcmp(fails_in, slot) == 0 ? ASR_OUT_OF_MEMORY : ASR_OK; }
  static asr_status prepare(asr_backend_device *, uint32_t *serves) {
    *serves = 1;
    return ASR_OK;
  }
  static asr_status load_rows(asr_backend_device *, const float *, uint32_t, uint32_t, asr_backend_rows **) {
    return status_of("load_rows");
  }
  static void free_rows(asr_backend_rows *) {}
  static asr_status sums_begin(asr_backend_device *, const asr_sums_view *, asr_backend_sums **) {
    ++n_begun;
    return status_of("sums_begin");
  }
  static void sums_end(asr_backend_sums *) {}
  static asr_status add(asr_backend_device *, asr_backend_sums *, const asr_backend_rows *, const asr_row_share *,
                        const uint64_t *) {
    return status_of("add");
  }
  static asr_status read(asr_backend_device *, asr_backend_sums *, double *) { return status_of("read"); }
  static const void *extension(const char *name) {
    static constexpr asr_backend_statistics_api kFailing = {sizeof kFailing, prepare,  load_rows, free_rows,
                                                            sums_begin,      sums_end, add,       read};
    return strcmp(name, ASR_BACKEND_STATISTICS) == 0 ? &kFailing : nullptr;
  }
};

}  // namespace asr::test
