# SPDX-License-Identifier: Apache-2.0
# Rules of `cmake --install`. The installed tree is relocatable: everything in it finds the rest by relative paths.
#   bin/senone, include/senone/{asr.h,asr_backend.h,asr_backend_EXTENSION.h,senone.hpp},
#   <libdir>/libsenone.so.N, <libdir>/libsenone.a,
#   <libdir>/senone/plugins/, <libdir>/pkgconfig/senone{,-static}.pc, <libdir>/cmake/Senone/, share/doc/senone/
# libsenone_build adds include/senone/{asr_build.h,senone_build.hpp}, <libdir>/libsenone_build.so.N,
#   <libdir>/libsenone_build.a and <libdir>/pkgconfig/senone_build{,-static}.pc.
# libvosk adds <libdir>/libvosk.so and include/senone/vosk_api.h (bindings/vosk/CMakeLists.txt).
# Programs include <asr.h>: pkg-config and the CMake package give the directory. Each component becomes a package
# (SenonePackages): library, development, command, vosk, one per plugin, and build and build_development of libsenone_build.
include(CMakePackageConfigHelpers)

set(SENONE_DOC_DIR ${CMAKE_INSTALL_DATAROOTDIR}/doc/senone)  # CMAKE_INSTALL_DOCDIR would be the parent's in a subproject
set(SENONE_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/senone)
file(GLOB backend_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/backend/asr_backend*.h)
install(FILES api/asr.h ${backend_headers} bindings/cpp/senone.hpp
        DESTINATION ${SENONE_INCLUDE_DIR} COMPONENT development)
install(TARGETS senone senone_static senone_cpp EXPORT SenoneTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(FILES LICENSE NOTICE DESTINATION ${SENONE_DOC_DIR} COMPONENT library)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${SENONE_DOC_DIR} COMPONENT development)
install(DIRECTORY docs samples DESTINATION ${SENONE_DOC_DIR} COMPONENT development
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.c" PATTERN "*.cc" PATTERN "*.h")
foreach(project backend project)
  install(FILES samples/${project}/CMakeLists.txt DESTINATION ${SENONE_DOC_DIR}/samples/${project} COMPONENT development)
endforeach()
if(SENONE_TOOLS)
  install(TARGETS senone_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
endif()

if(SENONE_BUILD_LIBRARY)
  install(FILES api/asr_build.h bindings/cpp/senone_build.hpp DESTINATION ${SENONE_INCLUDE_DIR} COMPONENT build_development)
  install(TARGETS senone_build_library senone_build_static EXPORT SenoneBuildTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT build NAMELINK_COMPONENT build_development
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT build_development)
endif()

# Creates the plugin directory even without plugins.
install(DIRECTORY DESTINATION ${SENONE_PLUGIN_DIR} COMPONENT library)

set(SENONE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Senone)
install(EXPORT SenoneTargets NAMESPACE Senone:: DESTINATION ${SENONE_CMAKE_DIR} COMPONENT development)
configure_package_config_file(cmake/SenoneConfig.cmake.in ${PROJECT_BINARY_DIR}/SenoneConfig.cmake
                              INSTALL_DESTINATION ${SENONE_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SenoneConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SenoneConfig.cmake ${PROJECT_BINARY_DIR}/SenoneConfigVersion.cmake
        DESTINATION ${SENONE_CMAKE_DIR} COMPONENT development)

# Relative path from the folder of the .pc files to the prefix, for relocatable files.
file(RELATIVE_PATH SENONE_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# senone_install_pc(component name ...) installs <libdir>/pkgconfig/name.pc, made of cmake/name.pc.in.
function(senone_install_pc component)
  foreach(name IN LISTS ARGN)
    configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
  endforeach()
endfunction()
senone_install_pc(development senone senone-static)
if(SENONE_BUILD_LIBRARY)
  install(EXPORT SenoneBuildTargets NAMESPACE Senone:: DESTINATION ${SENONE_CMAKE_DIR} COMPONENT build_development)
  senone_install_pc(build_development senone_build senone_build-static)
endif()
