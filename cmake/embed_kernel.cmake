# SPDX-License-Identifier: Apache-2.0
# Run by senone_embed_kernels: writes INPUT, with its includes in place (found beside it or from ROOT), into the C++ file OUTPUT.
cmake_minimum_required(VERSION 3.25)
file(READ ${INPUT} text)
set(seen "")
while(text MATCHES "#include \"([^\"]+)\"\n")
  set(path ${CMAKE_MATCH_1})
  set(line "#include \"${path}\"\n")
  set(included "")
  if(NOT path IN_LIST seen)
    get_filename_component(folder ${INPUT} DIRECTORY)
    find_file(found ${path} PATHS ${folder} ${ROOT} NO_DEFAULT_PATH NO_CACHE REQUIRED)
    file(READ ${found} included)
    unset(found)
    list(APPEND seen ${path})
  endif()
  string(FIND "${text}" "${line}" at)
  string(LENGTH "${line}" length)
  math(EXPR after "${at} + ${length}")
  string(SUBSTRING "${text}" 0 ${at} before)
  string(SUBSTRING "${text}" ${after} -1 rest)
  set(text "${before}${included}${rest}")
endwhile()
get_filename_component(file ${INPUT} NAME)
get_filename_component(name ${INPUT} NAME_WE)
file(WRITE ${OUTPUT} "// Made from ${file} by cmake/embed_kernel.cmake.
#include \"plugins/common/ocl/program.h\"

namespace asr::ocl {
extern const KernelSource kernel_${name};
const KernelSource kernel_${name} = {\"${file}\", R\"SENONE_CL(${text})SENONE_CL\"};
}  // namespace asr::ocl
")
