#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# musl.sh SENONE SOURCE BUILD builds the library with its CPU back end against musl in BUILD, by zig, and links samples/hello.c
# statically with it. The program must hear a recording. SENONE, a usual build's command, makes the bundle.
set -euo pipefail
senone=$1 source=$2 build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "${BASH_SOURCE[0]}")/digits.sh"
. "$(dirname "${BASH_SOURCE[0]}")/musl_tools.sh"
musl_tools "$build/tools" || { echo "skipped: $missing"; exit 77; }

{ cmake -G Ninja -S "$source" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$source/cmake/musl.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DSENONE_TESTS=OFF -DSENONE_TOOLS=OFF -DSENONE_CUDA=OFF -DSENONE_INSTALL=OFF -DSENONE_HARDENING=OFF \
    -Dnlohmann_json_DIR="$SENONE_MUSL_TOOLS/root" && cmake --build "$build" --target senone_static; } >"$build/log" 2>&1 ||
  { grep -E -A12 'error|FAILED|CMake Error' "$build/log" | head -n 60; fail "the build failed; all of it is in $build/log"; }
"$SENONE_MUSL_TOOLS/bin/cc" -std=c99 -O2 -c -I"$source/api" "$source/samples/hello.c" -o "$work/hello.o"
"$SENONE_MUSL_TOOLS/bin/c++" -static "$work/hello.o" "$build"/lib*/libsenone.a -o "$work/hello"
if readelf -l "$work/hello" | grep -q INTERP; then fail "the program is not static"; fi
make_bundle "$senone"
check "$work/hello"
echo "a static program with musl hears the digits"
