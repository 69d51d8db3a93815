// SPDX-License-Identifier: Apache-2.0
// A back end without hardware, from which every file here makes a plugin; most break it in one place.
#pragma once

#include <cstdio>

#include "core/backend/asr_backend.h"

extern "C" ASR_API const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host);

namespace stub {

inline const char *&last_error() {
  static const char *text = "";
  return text;
}

inline asr_status fail(const char *text) {
  last_error() = text;
  return ASR_INTERNAL;
}

inline asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  for (size_t i = 0; i < capacity && i < 2; ++i) {
    snprintf(infos[i].name, sizeof(infos[i].name), "stub device %zu", i);
    infos[i].score = i == 0 ? 150 : 200;
    infos[i].n_cores = 1;
  }
  *n_devices = 2;
  return ASR_OK;
}

template <typename... Args>
asr_status succeed(Args...) {
  return ASR_OK;
}

template <typename... Args>
void ignore(Args...) {}

inline asr_status open(uint32_t index, const asr_backend_options *, asr_backend_device **device) {
  static char devices[2];
  *device = reinterpret_cast<asr_backend_device *>(&devices[index]);
  return ASR_OK;
}

// Returns a table that passes every check.
inline asr_backend_api table(const char *name) {
  asr_backend_api api{};
  api.abi = ASR_BACKEND_ABI;
  api.size = sizeof(api);
  api.name = name;
  api.probe = probe;
  api.open = open;
  api.close = ignore;
  api.last_error = [] { return last_error(); };
  api.load_features = succeed;
  api.free_features = ignore;
  api.load_acoustic = succeed;
  api.free_acoustic = ignore;
  api.load_graph = succeed;
  api.free_graph = ignore;
  api.extract = succeed;
  api.score = succeed;
  api.channel_begin = succeed;
  api.channel_end = ignore;
  api.advance = succeed;
  api.best_paths = succeed;
  api.outcome = succeed;
  api.wait = succeed;
  api.extension = [](const char *) -> const void * { return nullptr; };
  return api;
}

inline asr_backend_api without_search(asr_backend_api api) {
  api.load_graph = nullptr;
  api.free_graph = nullptr;
  api.channel_begin = nullptr;
  api.channel_end = nullptr;
  api.advance = nullptr;
  api.best_paths = nullptr;
  api.outcome = nullptr;
  return api;
}

}  // namespace stub
