# SPDX-License-Identifier: Apache-2.0
# Hardens every binary: checks of buffers and of the stack in host code, no lazy binding, no executable stack, PIE. The test
# `hardening` checks the built binaries. Included before the first target. The compile options need an optimised build;
# sanitizers have their own checks.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C CXX)  # without it CMake compiles PIE and leaves the link to the compiler's default

add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)

set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
set(host_language $<COMPILE_LANGUAGE:C,CXX>)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()

# The last two flags check the targets of indirect jumps, one on x86, one on ARM.
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER SENONE_HAS${flag} known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    add_compile_options($<$<AND:${optimised},${host_language}>:${flag}>
                        $<$<AND:${optimised},$<COMPILE_LANGUAGE:CUDA>>:-Xcompiler=${flag}>)
  endif()
endforeach()

# Packagers may set another level. CUDA is excluded: the checked functions of the C library are not device functions.
if(NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "_FORTIFY_SOURCE")
  add_compile_options("$<$<AND:${optimised},${host_language}>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>")
endif()
