#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel_musl.sh WHEEL BUNDLES tries the wheel for musl: samples/hello.c, linked with the wheel's library by zig and started by musl's
# loader, hears a recording with the model en-us of the folder BUNDLES. SENONE_MUSL_TOOLS has the compiler (musl_tools.sh). Exit
# status 77: there is no loader of musl (Debian's package musl), or no recording.
set -euo pipefail
wheel=$1 bundles=$(realpath "$2") source=$(cd "$(dirname "$0")/../.." && pwd)
recording=/usr/share/pocketsphinx/test/data/goforward.raw
fail() { echo "wheel_musl.sh: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
loader=${SENONE_MUSL_LOADER:-/lib/ld-musl-$(uname -m).so.1}
[[ -x $loader ]] || { echo "skipped: $loader is missing; install musl"; exit 77; }
[[ -f $recording ]] || { echo "skipped: $recording is missing; install pocketsphinx-testdata"; exit 77; }
[[ ${wheel##*/} == senone-*-py3-none-musllinux_1_*.whl ]] || fail "${wheel##*/} has no tag of musllinux"
/usr/bin/python3 -m zipfile -e "$wheel" "$work"
library=$work/senone/lib/libsenone.so.0
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[[ $needed == libc.so ]] || fail "the library needs ${needed//$'\n'/, }, not libc.so alone"
"$SENONE_MUSL_TOOLS/bin/cc" -std=c99 -O2 -I"$source/api" "$source/samples/hello.c" -o "$work/hello" "$library"
words=$(LD_LIBRARY_PATH=$work/senone/lib SENONE_PLUGINS=cpu "$loader" "$work/hello" "$bundles/en-us" "$recording") || fail "hello failed"
[[ $words == "go forward ten meters" ]] || fail "it heard: $words"
echo "under musl a program hears with the wheel's library and the model en-us: $words"
