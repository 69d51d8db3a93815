#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# abi.sh LIBRARY HEADER MAP DUMP [update] checks that the library's ABI is the one in DUMP. It compares in two steps, because a
# dump of a C++ library would be mostly its inner types. The ABI of the header alone (a C library with its functions,
# empty) is compared with DUMP and with the library. The library needs debug information (the dev preset). "update"
# writes an intended difference to DUMP; docs/api-changes.md is updated by hand.
set -euo pipefail
library=$1 header=$2 map=$3 dump=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Turns every declaration "ASR_API ...;" into a definition.
without_comments() { tr '\n' ' ' <"$header" | sed -E 's#/\*([^*]|\*[^/])*\*+/##g'; }
{
  echo '#include "asr.h"'
  without_comments | grep -oE 'ASR_API [^;{}#]*\) *;' | sed -E 's/;$/{ __builtin_trap(); }/'
} >"$work/header.c"
cp "$header" "$work/asr.h"
cp "$map" "$work/map"
abi=$(sed -n 's/^#define ASR_ABI //p' "$header")
(cd "$work" && cc -std=c99 -g -fPIC -shared header.c -Wl,--version-script=map "-Wl,-soname,libsenone.so.$abi" -o header.so)

if [[ ${5:-} == update ]]; then
  abidw --no-corpus-path --no-comp-dir-path --no-show-locs --out-file "$dump" "$work/header.so"
fi
echo "the header, and what is written down:"
abidiff "$dump" "$work/header.so"
if ! readelf -S "$library" | grep '\.debug_info' >/dev/null; then
  echo "skipped: $library has no debug information; the dev preset builds with it"
  exit 77
fi
echo "the library, and the header:"
abidiff --headers-dir1 "$(dirname "$header")" --headers-dir2 "$(dirname "$header")" --drop-private-types "$work/header.so" "$library"
