// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/runtime/program.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/ocl/runtime/program_cache.h"

namespace asr::gpu {
namespace {

constexpr size_t kLogLines = 3;

// Returns the first of the compiler's messages, in one line.
std::string first_lines(const std::string &log) {
  std::string lines;
  size_t n = 0;
  for (size_t begin = 0; begin < log.size() && n < kLogLines;) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos || line[0] == '\0') continue;
    lines += (n++ > 0 ? " | " : "") + line;
  }
  return lines.empty() ? "the driver gives no reason" : lines;
}

}  // namespace

Program::Program(const Context &context, const std::string &driver, const KernelSource &source, const std::string &options) {
  if (source.is_ptx) {  // the driver keeps its own compilations of PTX
    if (load_binary(context, source.text)) return;
    fail(ASR_UNSUPPORTED, "OpenCL: the driver does not take the PTX of %s; update the driver", source.name);
  }
  const ProgramCache cache;
  const std::string key = cache_key(driver, source, options);
  if (load_binary(context, cache.load(key))) return;
  compile(context, source, options);
  cache.store(key, binary());
}

std::string Program::cache_key(const std::string &driver, const KernelSource &source, const std::string &options) {
  return driver + '\0' + options + '\0' + source.text;
}

// Returns false if the driver rejects the binary.
bool Program::load_binary(const Context &context, const std::string &binary) {
  if (binary.empty()) return false;
  const cl_device_id device = context.device();
  const auto *bytes = reinterpret_cast<const unsigned char *>(binary.data());
  const size_t n_bytes = binary.size();
  cl_int taken = CL_SUCCESS, status = CL_SUCCESS;
  program_ = decltype(program_)(api().CreateProgramWithBinary(context.get(), 1, &device, &n_bytes, &bytes, &taken, &status));
  return status == CL_SUCCESS && taken == CL_SUCCESS &&
         api().BuildProgram(program_.get(), 1, &device, "", nullptr, nullptr) == CL_SUCCESS;
}

void Program::compile(const Context &context, const KernelSource &source, const std::string &options) {
  const cl_device_id device = context.device();
  cl_int status = CL_SUCCESS;
  program_ = decltype(program_)(
      api().CreateProgramWithSource(context.get(), 1, const_cast<const char **>(&source.text), nullptr, &status));
  check(status, source.name);
  status = api().BuildProgram(program_.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS) return;
  size_t n_bytes = 0;
  api().GetProgramBuildInfo(program_.get(), device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &n_bytes);
  std::string log(n_bytes, '\0');
  api().GetProgramBuildInfo(program_.get(), device, CL_PROGRAM_BUILD_LOG, n_bytes, log.data(), nullptr);
  fail(ASR_UNSUPPORTED, "OpenCL: the driver does not compile %s (%s): %s; update the driver or use another device", source.name,
       error_name(status), first_lines(log).c_str());
}

std::string Program::binary() const {
  size_t n_bytes = 0;
  check(api().GetProgramInfo(program_.get(), CL_PROGRAM_BINARY_SIZES, sizeof n_bytes, &n_bytes, nullptr),
        "asking for a binary");
  std::string binary(n_bytes, '\0');
  auto *bytes = reinterpret_cast<unsigned char *>(binary.data());
  check(api().GetProgramInfo(program_.get(), CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr), "asking for a binary");
  return binary;
}

}  // namespace asr::gpu
