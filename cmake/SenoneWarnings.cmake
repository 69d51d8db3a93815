# SPDX-License-Identifier: Apache-2.0
# senone_set_warnings(target) sets the warnings of every target; they are errors under SENONE_WERROR (as in CI).
function(senone_set_warnings target)
  if(SENONE_DEMO)
    return()  # to look for what they report takes a tenth of the time of compiling
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;$<$<BOOL:${SENONE_WERROR}>:-Werror>>)
  if(SENONE_UNITY)  # a private type of a file that is included is no fault
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()
