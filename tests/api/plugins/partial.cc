// SPDX-License-Identifier: Apache-2.0
// The CPU back end without its front end, its search, or both, for the tests of partial back ends (search_device.cc). The build
// makes a plugin for each, and defines PARTIAL_NAME, PARTIAL_FEATURES and PARTIAL_SEARCH.
#define asr_backend_entry cpu_backend_entry  // name of the CPU back end's entry in this plugin
#include "plugins/cpu/entry.cc"              // NOLINT(bugprone-suspicious-include): built in
#undef asr_backend_entry

namespace {

const asr_backend_api *g_cpu = nullptr;

asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  *n_devices = 1;
  if (capacity == 0) return ASR_OK;
  snprintf(infos[0].name, sizeof(infos[0].name), "a part of the CPU back end");
  infos[0].score = 1;
  infos[0].capabilities = ASR_BACKEND_SELECTION | ASR_BACKEND_CLUSTERS;
  if (PARTIAL_FEATURES) infos[0].capabilities |= ASR_BACKEND_PLP;
  if (PARTIAL_SEARCH) infos[0].capabilities |= ASR_BACKEND_LATTICES | ASR_BACKEND_PACKED_GRAPH | ASR_BACKEND_COMMON_PATH;
  return ASR_OK;
}

}  // namespace

extern "C" ASR_API const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host);

const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host) {
  static asr_backend_api api;
  g_cpu = cpu_backend_entry(host_abi, host);
  if (g_cpu == nullptr) return nullptr;
  api = *g_cpu;
  api.name = PARTIAL_NAME;
  api.probe = probe;
  if (!PARTIAL_FEATURES) {
    api.load_features = nullptr;
    api.free_features = nullptr;
    api.extract = nullptr;
  }
  if (!PARTIAL_SEARCH) {
    api.load_graph = nullptr;
    api.free_graph = nullptr;
    api.channel_begin = nullptr;
    api.channel_end = nullptr;
    api.advance = nullptr;
    api.best_paths = nullptr;
    api.lattices = nullptr;
    api.outcome = nullptr;
  }
  return &api;
}
