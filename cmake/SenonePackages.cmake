# SPDX-License-Identifier: Apache-2.0
# Configures `cpack -G DEB`, for a build with the prefix /usr (preset `packages`): one Debian package per component. `./dev
# packages` makes and tests them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME senone)
set(CPACK_PACKAGE_VENDOR Senone)
set(CPACK_PACKAGE_CONTACT "The authors of Senone <senone@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/deb_copyright.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
# dpkg-shlibdeps finds the dependencies on the system's libraries; libsenone0 tells it the package of libsenone.so.0.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})

set(CPACK_COMPONENTS_ALL)
# senone_add_package(component name description [SECTION section] [DEPENDS text] [RECOMMENDS text])
macro(senone_add_package component name description)
  cmake_parse_arguments(PACKAGE "" "SECTION;DEPENDS;RECOMMENDS" "" ${ARGN})
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${PACKAGE_SECTION})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS ${PACKAGE_DEPENDS})
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS ${PACKAGE_RECOMMENDS})
endmacro()

set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION}~dev)  # sorts before the release; a release takes the suffix away
set(same_version "libsenone${SENONE_ABI} (= ${CPACK_PACKAGE_VERSION})")
senone_add_package(library libsenone${SENONE_ABI} "The library with its CPU back end.")
senone_add_package(development libsenone-dev "For building programs: headers for C and C++, the static
library, files for pkg-config and CMake, documentation and samples."
                   SECTION libdevel DEPENDS "${same_version}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)  # only a link and an archive
if(SENONE_BUILD_LIBRARY)
  set(build_package libsenone-build${SENONE_BUILD_ABI})
  senone_add_package(build ${build_package} "The library that compiles grammars in a program.")
  senone_add_package(build_development libsenone-build-dev "For building programs that compile grammars: headers for C and
C++, the static library (which needs libfst-dev, libutf8proc-dev, liblzma-dev,
libbz2-dev and zlib1g-dev), files for pkg-config and CMake."
                     SECTION libdevel DEPENDS "${build_package} (= ${CPACK_PACKAGE_VERSION}), libsenone-dev (= ${CPACK_PACKAGE_VERSION})")
  set(CPACK_DEBIAN_BUILD_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_BUILD_DEVELOPMENT_PACKAGE_SUGGESTS "libfst-dev, libutf8proc-dev, liblzma-dev, libbz2-dev, zlib1g-dev")
endif()
if(SENONE_VOSK)
  senone_add_package(vosk senone-vosk "The library libvosk.so with the C functions of Vosk, for programs that
were made for it, and its header." DEPENDS "${same_version}, ${build_package} (= ${CPACK_PACKAGE_VERSION})")
endif()
if(SENONE_TOOLS)
  senone_add_package(command senone "The command: imports models, builds graphs, recognises recordings and measures."
                     SECTION sound DEPENDS "${same_version}")
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "libportaudio2, senone-model-en-us")  # the first for `senone listen`, at run time
endif()
if(TARGET backend_ocl_amd)
  senone_add_package(ocl senone-plugins-opencl "OpenCL back ends for GPUs of AMD and NVIDIA, which the library loads
where they are installed."
                     DEPENDS "${same_version}" RECOMMENDS "ocl-icd-libopencl1 | libopencl1")
endif()
if(TARGET backend_cuda)
  senone_add_package(cuda senone-plugins-cuda "The CUDA back end for GPUs of NVIDIA, which the library loads where it
is installed. It needs NVIDIA's driver." DEPENDS "${same_version}" RECOMMENDS libcuda1)
endif()
include(CPack)
