# SPDX-License-Identifier: Apache-2.0
# The library for compiling grammars and for alignment in the process, api/asr_build.h: Senone::build (libsenone_build.so) and
# Senone::build_static (libsenone_build.a). It is separate from libsenone because it needs OpenFst and is larger. The target
# senone_build is the part of builder/ that it wraps.
set(SENONE_BUILD_ABI 0)  # the N of libsenone_build.so.N; ASR_BUILD_ABI in api/asr_build.h
set(SENONE_BUILD_MAP ${PROJECT_SOURCE_DIR}/api/build/senone_build.map)
senone_add_part(build_api api/build LINKS build align ctc import)
add_library(senone_build_library SHARED $<TARGET_OBJECTS:senone_build_api>)
target_link_libraries(senone_build_library PRIVATE senone_build senone_align senone_ctc senone_import)
target_link_options(senone_build_library PRIVATE -Wl,--version-script=${SENONE_BUILD_MAP} -Wl,--no-undefined
                                                 -Wl,--exclude-libs,ALL)
set_target_properties(senone_build_library PROPERTIES
                      OUTPUT_NAME senone_build EXPORT_NAME build LINK_DEPENDS ${SENONE_BUILD_MAP}
                      VERSION ${SENONE_BUILD_ABI}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH} SOVERSION ${SENONE_BUILD_ABI})

# The archive contains only the parts missing in libsenone.a and takes the others from there, so that one program may link both.
foreach(part IN ITEMS build_api align ctc import train build g2p text)
  list(APPEND SENONE_BUILD_OBJECTS $<TARGET_OBJECTS:senone_${part}>)
endforeach()
add_library(senone_build_static STATIC ${SENONE_BUILD_OBJECTS})
target_link_libraries(senone_build_static INTERFACE senone_static fstscript fst utf8proc lzma bz2 z)
set_target_properties(senone_build_static PROPERTIES OUTPUT_NAME senone_build EXPORT_NAME build_static LINKER_LANGUAGE CXX
                      ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
if(NOT SENONE_INSTALL)
  set_target_properties(senone_build_static PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

foreach(library senone_build_library senone_build_static)
  target_include_directories(${library} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/api>
                                                  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bindings/cpp>  # senone_build.hpp
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/senone>)
endforeach()
add_library(Senone::build ALIAS senone_build_library)
add_library(Senone::build_static ALIAS senone_build_static)
