# SPDX-License-Identifier: Apache-2.0
# `cmake --install`: a tree that works wherever it is moved to. Everything in it finds the rest relative to itself.
#   bin/senone, include/senone/{asr.h,asr_backend.h,senone.hpp}, <libdir>/libsenone.so.N, <libdir>/senone/plugins/,
#   <libdir>/pkgconfig/senone.pc, <libdir>/cmake/Senone/, share/doc/senone/
# Programs include <asr.h>: pkg-config and the CMake package give the directory.
include(CMakePackageConfigHelpers)

set(SENONE_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/senone)
install(FILES api/asr.h core/backend/asr_backend.h bindings/cpp/senone.hpp DESTINATION ${SENONE_INCLUDE_DIR})
install(TARGETS senone senone_cpp EXPORT SenoneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES LICENSE NOTICE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs samples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.c" PATTERN "*.cc"
                                                                                  PATTERN "*.h")
if(SENONE_TOOLS)
  install(TARGETS senone_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# The plugin directory is there even while no plugin is.
install(DIRECTORY DESTINATION ${SENONE_PLUGIN_DIR})
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${SENONE_PLUGIN_DIR})

set(SENONE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Senone)
install(EXPORT SenoneTargets NAMESPACE Senone:: DESTINATION ${SENONE_CMAKE_DIR})
configure_package_config_file(cmake/SenoneConfig.cmake.in ${CMAKE_BINARY_DIR}/SenoneConfig.cmake
                              INSTALL_DESTINATION ${SENONE_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SenoneConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/SenoneConfig.cmake ${CMAKE_BINARY_DIR}/SenoneConfigVersion.cmake
        DESTINATION ${SENONE_CMAKE_DIR})

# From the folder of senone.pc up to the prefix, for a relocatable file.
file(RELATIVE_PATH SENONE_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/senone.pc.in ${CMAKE_BINARY_DIR}/senone.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/senone.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
