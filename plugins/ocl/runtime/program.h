// SPDX-License-Identifier: Apache-2.0
// A program of kernels, compiled by the driver when it is first wanted and kept as a binary in the user's cache from then on.
// Made by device.cc, which keeps the programs of a device.
#pragma once

#include <string>

#include "plugins/ocl/runtime/runtime.h"

namespace asr::gpu {

// KernelSource is a .cl file with its includes, or what nvcc made of a .cu file, embedded at build
// (cmake/SenoneKernels.cmake).
struct KernelSource {
  const char *name;  // "gmm_score.cl"
  const char *text;
  bool is_ptx = false;  // the text is PTX, a program's binary for NVIDIA's driver
};

class Program {
 public:
  // `driver`: device, driver and platform with their versions: a binary made for others is not used.
  Program(const Context &context, const std::string &driver, const KernelSource &source, const std::string &options);
  // Returns the key under which a binary is kept.
  static std::string cache_key(const std::string &driver, const KernelSource &source, const std::string &options);

  Kernel kernel(const char *name) const { return Kernel(program_.get(), name); }

 private:
  bool load_binary(const Context &context, const std::string &binary);
  void compile(const Context &context, const KernelSource &source, const std::string &options);
  std::string binary() const;

  Handle<cl_program, &Api::ReleaseProgram> program_;
};

}  // namespace asr::gpu
