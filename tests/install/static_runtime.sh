#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# static_runtime.sh SENONE SOURCE ARCHIVE links a program, and a shared library, with the archive and with libstdc++ and libgcc
# inside (-static-libstdc++ -static-libgcc). Both must hear a recording without these libraries.
set -euo pipefail
senone=$1 source=$2 archive=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "${BASH_SOURCE[0]}")/digits.sh"
make_bundle "$senone"
inside=(-static-libstdc++ -static-libgcc)

check_needs() {
  readelf -d "$1" >"$work/dynamic"
  if grep -E 'NEEDED.*(libstdc|libgcc)' "$work/dynamic"; then fail "$1 needs them"; fi
}

cc -std=c99 -c -I"$source/api" "$source/samples/hello.c" -o "$work/hello.o"
c++ "${inside[@]}" "$work/hello.o" "$archive" -pthread -ldl -lm -o "$work/hello"
check_needs "$work/hello"
check "$work/hello"

c++ -shared "${inside[@]}" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -Wl,-soname,libsenone.so.0 -Wl,-z,nodelete \
  -Wl,--version-script="$source/api/senone.map" -pthread -ldl -lm -o "$work/libsenone.so.0"
check_needs "$work/libsenone.so.0"
cc "$work/hello.o" "$work/libsenone.so.0" -Wl,-rpath,"$work" -o "$work/hello_shared"
check "$work/hello_shared"
echo "a program and a library with libstdc++ inside hear the digits"
