# SPDX-License-Identifier: Apache-2.0
# Senone::build (libsenone_build.so): grammars compiled in the process, api/asr_build.h. A library of its own, as it needs
# OpenFst and is larger than libsenone. The target senone_build is the part of the core that it wraps.
set(SENONE_BUILD_ABI 0)  # the N of libsenone_build.so.N; ASR_BUILD_ABI in api/asr_build.h
set(SENONE_BUILD_MAP ${PROJECT_SOURCE_DIR}/api/build/senone_build.map)
senone_add_part(build_api api/build LINKS build)
add_library(senone_build_library SHARED $<TARGET_OBJECTS:senone_build_api>)
target_link_libraries(senone_build_library PRIVATE senone_build)
target_link_options(senone_build_library PRIVATE -Wl,--version-script=${SENONE_BUILD_MAP} -Wl,--no-undefined
                                                 -Wl,--exclude-libs,ALL)
set_target_properties(senone_build_library PROPERTIES
                      OUTPUT_NAME senone_build EXPORT_NAME build LINK_DEPENDS ${SENONE_BUILD_MAP}
                      VERSION ${SENONE_BUILD_ABI}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH} SOVERSION ${SENONE_BUILD_ABI})
target_include_directories(senone_build_library PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/api>
                                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/senone>)
add_library(Senone::build ALIAS senone_build_library)
