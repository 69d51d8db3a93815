# SPDX-License-Identifier: Apache-2.0
# Compiles against musl with zig (PyPI: ziglang), which brings musl and libc++ along. tests/install/musl.sh, which `./dev musl`
# runs, makes the programs and the folder of headers that this names. Alpine's own compiler needs no such file.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(tools $ENV{SENONE_MUSL_TOOLS})
set(CMAKE_C_COMPILER ${tools}/bin/cc)
set(CMAKE_CXX_COMPILER ${tools}/bin/c++)
set(CMAKE_AR ${tools}/bin/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${tools}/bin/ranlib CACHE FILEPATH "")

# Of the system only headers that belong to no C library: the folder has copies of them.
set(CMAKE_FIND_ROOT_PATH ${tools}/root)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
