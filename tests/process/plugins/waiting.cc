// SPDX-License-Identifier: Apache-2.0
// Stops in its entry function or its probe, as SENONE_WAITING says: writes a byte to one descriptor and waits for one from
// another. Ends a child of fork that calls it after its parent has.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/loader/plugins/stub.h"

namespace {

int descriptor(const char *variable) {
  const char *const text = getenv(variable);
  return text != nullptr ? atoi(text) : -1;
}

void pass(const char *place) {
  static const pid_t first = getpid();
  if (getpid() != first) _exit(99);
  const char *const stop = getenv("SENONE_WAITING");
  if (stop == nullptr || strcmp(stop, place) != 0) return;
  unsetenv("SENONE_WAITING");
  char byte = 0;
  if (write(descriptor("SENONE_WAITING_ARRIVAL"), &byte, 1) != 1) _exit(98);
  if (read(descriptor("SENONE_WAITING_DEPARTURE"), &byte, 1) != 1) _exit(97);
}

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  pass("probe");
  const asr_status status = stub::probe(infos, capacity, n_devices);
  *n_devices = 1;
  return status;
}

}  // namespace

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) {
  pass("entry");
  static asr_backend_api api = stub::table("waiting");
  api.probe = probe;
  return &api;
}
