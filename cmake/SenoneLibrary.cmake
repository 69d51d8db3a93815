# SPDX-License-Identifier: Apache-2.0
# Defines both forms of the library, with the CPU back end inside: Senone::senone (libsenone.so) and Senone::static
# (libsenone.a).

set(SENONE_MAP ${PROJECT_SOURCE_DIR}/api/senone.map)
add_library(senone SHARED $<TARGET_OBJECTS:senone_api>)
target_link_libraries(senone PRIVATE senone_engine)
target_link_options(senone PRIVATE -Wl,--version-script=${SENONE_MAP} -Wl,--no-undefined)  # the map hides archives' symbols, too
# Plugins call back into the library and stay loaded, so dlclose must not unload it.
target_link_options(senone PRIVATE -Wl,-z,nodelete)
set_target_properties(senone PROPERTIES VERSION ${SENONE_ABI}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH}
                                        SOVERSION ${SENONE_ABI} LINK_DEPENDS ${SENONE_MAP})

# Makes one archive of all parts. It links libraries, not targets: targets of find_package are unknown outside this folder.
foreach(part IN ITEMS api base audio feature model packed graph lattice decode adapt common cpu backend engine)
  list(APPEND SENONE_STATIC_OBJECTS $<TARGET_OBJECTS:senone_${part}>)
endforeach()
add_library(senone_static STATIC ${SENONE_STATIC_OBJECTS})
target_link_libraries(senone_static INTERFACE pthread ${CMAKE_DL_LIBS} m)
target_link_options(senone_static INTERFACE -Wl,--build-id)  # core/base/build_id.h
set_target_properties(senone_static PROPERTIES OUTPUT_NAME senone EXPORT_NAME static LINKER_LANGUAGE CXX
                      ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
if(NOT SENONE_INSTALL)
  set_target_properties(senone_static PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${SENONE_PLUGIN_DIR})  # exists even without plugins

foreach(library senone senone_static)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/api>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/senone>)
endforeach()
target_include_directories(senone_static INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bindings/cpp>)  # senone.hpp
add_library(Senone::senone ALIAS senone)
add_library(Senone::static ALIAS senone_static)
