#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# musl.sh SENONE SOURCE BUILD builds the library with its CPU back end against musl in BUILD, by zig, and links samples/hello.c
# statically with it. The program must hear a recording. SENONE, a usual build's command, makes the bundle. zig is `zig`, or the
# package ziglang of python3, or that of the interpreter SENONE_PYTHON.
set -euo pipefail
senone=$1 source=$2 build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "${BASH_SOURCE[0]}")/digits.sh"
zig=()
if command -v zig >/dev/null; then zig=(zig); fi
for python in ${SENONE_PYTHON:-} python3; do
  ((${#zig[@]} == 0)) && "$python" -c 'import ziglang' 2>/dev/null && zig=("$(command -v "$python")" -m ziglang)
done
((${#zig[@]} > 0)) || { echo "skipped: there is no zig; pip install ziglang"; exit 77; }

target=$(uname -m)-linux-musl
export SENONE_MUSL_TOOLS=$build/tools
mkdir -p "$SENONE_MUSL_TOOLS/bin" "$SENONE_MUSL_TOOLS/root/include" "$SENONE_MUSL_TOOLS/root/share/cmake"
tool() { printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$SENONE_MUSL_TOOLS/bin/$1" && chmod +x "$SENONE_MUSL_TOOLS/bin/$1"; }
tool cc "${zig[*]} cc -target $target"
tool c++ "${zig[*]} c++ -target $target"
tool ar "${zig[*]} ar"
tool ranlib "${zig[*]} ranlib"
for header in hwy nlohmann; do
  folder=$(for prefix in /usr/include /usr/local/include; do [[ ! -d $prefix/$header ]] || echo "$prefix/$header"; done | head -n 1)
  [[ -n $folder ]] || { echo "skipped: the headers $header are missing; ./dev setup build installs them"; exit 77; }
  cp -rLu "$folder" "$SENONE_MUSL_TOOLS/root/include/"
done
printf '%s\n' 'if(NOT TARGET nlohmann_json::nlohmann_json)' '  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)' \
  "  target_include_directories(nlohmann_json::nlohmann_json INTERFACE $SENONE_MUSL_TOOLS/root/include)" 'endif()' \
  >"$SENONE_MUSL_TOOLS/root/nlohmann_json-config.cmake"

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
