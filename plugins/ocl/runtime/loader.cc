// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/runtime/loader.h"

#include <dlfcn.h>

#include "core/base/error.h"

namespace asr::gpu {
namespace {

constexpr char kLibrary[] = "libOpenCL.so.1";

template <typename Function>
void find(void *library, const char *name, Function *function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) fail(ASR_NO_DEVICE, "%s has no %s; install a loader for OpenCL 1.2 or later", kLibrary, name);
}

Api load() {
  void *const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // stays open, as drivers do
  if (library == nullptr) fail(ASR_NO_DEVICE, "no OpenCL: %s is not installed; install the ICD loader and a driver", kLibrary);
  Api api{};
#define ASR_OCL_FIND(name) find(library, "cl" #name, &api.name);
  ASR_OCL_FUNCTIONS(ASR_OCL_FIND)
#undef ASR_OCL_FIND
  return api;
}

}  // namespace

Api &api() {
  static Api loaded = load();  // tried again at the next call if it throws
  return loaded;
}

}  // namespace asr::gpu
