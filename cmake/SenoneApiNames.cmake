# SPDX-License-Identifier: Apache-2.0
# Makes api_names.h, the names of the C ABI, by which tools/command_terms.cc tells them from names of files and other text of
# users: functions as "asr_open(", structures as "asr_fusion.", constants and enumerations as they are.

set(SENONE_API_NAMES_DIR ${PROJECT_BINARY_DIR}/api_names)
set(names)
foreach(header asr.h asr_build.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/api/${header})
  file(READ ${PROJECT_SOURCE_DIR}/api/${header} text)
  string(REGEX MATCHALL "ASR_[A-Z0-9_]+|asr_[a-z0-9_]+\\(" found "${text}")
  list(APPEND names ${found})
  string(REGEX MATCHALL "(struct|enum) asr_[a-z0-9_]+ {" found "${text}")
  list(TRANSFORM found REPLACE "struct (.*) {" "\\1.")
  list(TRANSFORM found REPLACE "enum (.*) {" "\\1")
  list(APPEND names ${found})
endforeach()
list(REMOVE_DUPLICATES names)
list(SORT names)
list(JOIN names "\",\n    \"" names)
file(CONFIGURE OUTPUT ${SENONE_API_NAMES_DIR}/api_names.h @ONLY CONTENT
"// Made of api/asr.h and api/asr_build.h by cmake/SenoneApiNames.cmake.
#pragma once

namespace asr::tool {

inline constexpr const char *kApiNames[] = {
    \"@names@\"};

}  // namespace asr::tool
")
