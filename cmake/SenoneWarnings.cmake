# SPDX-License-Identifier: Apache-2.0
# senone_set_warnings(target): the warnings every target is built with; errors under SENONE_WERROR (as CI builds).
function(senone_set_warnings target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;$<$<BOOL:${SENONE_WERROR}>:-Werror>>)
endfunction()
