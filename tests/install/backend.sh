#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# backend.sh BUILD CONFORMANCE installs a build and builds samples/backend against it, outside of both trees, as docs/backend.md
# says. All headers of the contract must be installed, and the contract must stay small. The plugin must export its entry
# alone and pass the conformance suite. Cases may be skipped for capabilities that it lacks. A program that uses it must
# hear the digits of a recording.
set -euo pipefail
build=$1 conformance=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "${BASH_SOURCE[0]}")/digits.sh"

cmake --install "$build" --prefix "$work/senone" >/dev/null
headers=$(dirname "${BASH_SOURCE[0]}")/../../core/backend
for header in "$headers"/asr_backend*.h; do
  printf '#include <%s>\n' "${header##*/}" |
    cc -std=c99 -fsyntax-only -I"$work/senone/include/senone" -x c - || fail "${header##*/} cannot be included"
  grep -q "^| \`${header##*/}\` |" "$headers/../../docs/backend.md" || fail "docs/backend.md does not list ${header##*/}"
done
contract=$work/senone/include/senone/asr_backend.h
slots=$(sed -n '/^typedef struct asr_backend_api/,/^} asr_backend_api/p' "$contract" | grep -c '(\*[a-z_]*)(')
((slots > 0 && slots <= 22)) || fail "asr_backend.h has $slots slots; at most 22 are allowed"
cp -r "$work/senone/share/doc/senone/samples/backend" "$work/plain"
{ cmake -G Ninja -S "$work/plain" -B "$work/built" -DCMAKE_PREFIX_PATH="$work/senone" -DCMAKE_C_FLAGS=-Werror &&
  cmake --build "$work/built"; } >"$work/log" 2>&1 || { cat "$work/log"; fail "the plugin cannot be built"; }
exported=$(nm -D --defined-only "$work/built/libsenone_plain.so" | awk '{ print $3 }')
[[ $exported == asr_backend_entry ]] || fail "the plugin exports: $exported"

export SENONE_PLUGIN_PATH=$work/built
"$work/senone/bin/senone" devices | grep '^plain:0 ' >/dev/null || fail "senone devices does not list plain:0"
unset GTEST_OUTPUT  # these are not the results of the test `conformance`
"$conformance" --gtest_filter='*_plain_0' >"$work/cases" 2>&1 || { tail -n 50 "$work/cases"; fail "conformance"; }
passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\.$/\1/p' "$work/cases")
((passed >= 45)) || fail "only ${passed:-0} cases passed"
lacks='makes no lattices|makes no pieces of lattices|gives no pieces of paths|cannot tell what paths share|advances do not overlap|has no fused step'
lacks+='|has no memory of its own|the host fuses the scores of this back end|it mixes all Gaussians|it computes MFCC only'
lacks+='|the host sums the statistics of training|it scores all states'
if grep '^plain:0: ' "$work/cases" | grep -vE "^plain:0: ($lacks)$"; then fail "cases are skipped for other reasons"; fi

make_bundle "$work/senone/bin/senone"
cc -std=c99 "$work/senone/share/doc/senone/samples/hello.c" -o "$work/hello" -I"$work/senone/include/senone" \
  -L"$work/senone/lib" -lsenone "-Wl,-rpath,$work/senone/lib"
SENONE_DEVICE=plain check "$work/hello"
echo "built outside of the tree; $passed cases passed, and a program heard the digits with it"
