# SPDX-License-Identifier: Apache-2.0
# CPack runs this between installing and packing. It gives each package its copyright file, as Debian's policy requires.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/../NOTICE
                 ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share/doc/${name}/copyright COPYONLY)
endforeach()
