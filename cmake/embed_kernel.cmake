# SPDX-License-Identifier: Apache-2.0
# senone_embed_kernels runs this. It writes INPUT into the C++ file OUTPUT, with each #include "path" replaced by the content of
# the file, which is below ROOT. A file that is included again adds nothing. Includes whose line ends with "// host only" are for
# the host's compiler and are dropped; a file that does not exist is an error.
cmake_minimum_required(VERSION 3.25)
file(READ ${INPUT} text)
set(seen "")
while(text MATCHES "#include \"([^\"\n]+)\"([^\n]*)\n")
  set(line "${CMAKE_MATCH_0}")
  set(path "${CMAKE_MATCH_1}")
  set(comment "${CMAKE_MATCH_2}")
  set(included "")
  if(NOT comment MATCHES "// host only$" AND NOT path IN_LIST seen)
    if(NOT EXISTS ${ROOT}/${path})
      message(FATAL_ERROR "${INPUT} includes \"${path}\", which is not in ${ROOT}; "
                          "mark an include for the host's compiler with \"// host only\"")
    endif()
    file(READ ${ROOT}/${path} included)
    list(APPEND seen ${path})
  endif()
  string(FIND "${text}" "${line}" at)
  string(LENGTH "${line}" length)
  math(EXPR after "${at} + ${length}")
  string(SUBSTRING "${text}" 0 ${at} before)
  string(SUBSTRING "${text}" ${after} -1 rest)
  set(text "${before}${included}${rest}")
endwhile()
if(text MATCHES "#[ \t]*include[ \t]*\"[^\n]*")  # an include of another form would reach the user's compiler
  message(FATAL_ERROR "${INPUT}: write ${CMAKE_MATCH_0} as a line #include \"path\"")
endif()
get_filename_component(file ${INPUT} NAME)
get_filename_component(name ${INPUT} NAME_WE)
file(WRITE ${OUTPUT} "// Made from ${file} by cmake/embed_kernel.cmake.
#include \"plugins/ocl/runtime/program.h\"

namespace asr::gpu {
extern const KernelSource kernel_${name};
const KernelSource kernel_${name} = {\"${file}\", R\"SENONE_CL(${text})SENONE_CL\"};
}  // namespace asr::gpu
")
