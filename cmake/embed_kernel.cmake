# SPDX-License-Identifier: Apache-2.0
# senone_embed_kernels runs this. It writes INPUT into the C++ file OUTPUT, with includes from a folder `kernels` replaced by
# the files' content. Other includes are only for the host's compiler and are dropped.
cmake_minimum_required(VERSION 3.25)
file(READ ${INPUT} text)
get_filename_component(folder ${INPUT} DIRECTORY)
set(seen "")
while(text MATCHES "#include \"([^\"]+)\"\n")
  set(path ${CMAKE_MATCH_1})
  set(line "#include \"${path}\"\n")
  set(included "")
  if(path MATCHES "/kernels/")
    set(file ${ROOT}/${path})
  else()
    set(file ${folder}/${path})
  endif()
  if(EXISTS ${file} AND NOT file IN_LIST seen)
    file(READ ${file} included)
    list(APPEND seen ${file})
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
