# SPDX-License-Identifier: Apache-2.0
# senone_embed_ptx runs this. It writes the PTX of INPUT, which nvcc made, into the C++ file OUTPUT as kernel_NAME. OpenCL needs
# to know which parameters are arrays: those of 64 bits. The version is that of the first driver with capability 9.0a.
cmake_minimum_required(VERSION 3.25)
file(READ ${INPUT} text)
string(PREPEND text "\n")
string(REGEX REPLACE "\n[ \t]*//[^\n]*" "" text "${text}")
string(REGEX REPLACE "\n\\.version [0-9.]+" "\n.version 8.0" text "${text}")
string(REGEX REPLACE "\\.param \\.u64( \\.ptr)?( \\.global)?( \\.align [0-9]+)? ([A-Za-z0-9_]+_param_)"
       ".param .u64 .ptr .global .align 16 \\4" text "${text}")
string(REGEX REPLACE "\\.ptr \\.global [^\n]*" "" rest "${text}")
if(NOT text MATCHES "\\.ptr \\.global" OR rest MATCHES "\\.param \\.[a-z]64 ([A-Za-z0-9_]+_param_[0-9]+)[,\n]")
  message(FATAL_ERROR "${INPUT}: parameter \"${CMAKE_MATCH_1}\" is of a form that OpenCL does not take for an array; "
                      "embed_ptx.cmake must learn how this nvcc writes parameters")
endif()
file(WRITE ${OUTPUT} "// Made from ${INPUT} by cmake/embed_ptx.cmake.
#include \"plugins/ocl/runtime/program.h\"

namespace asr::gpu {
extern const KernelSource kernel_${NAME};
const KernelSource kernel_${NAME} = {\"${NAME}\", R\"SENONE_PTX(${text})SENONE_PTX\", true};
}  // namespace asr::gpu
")
