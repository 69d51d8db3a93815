#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# backend.sh BUILD CONFORMANCE installs a build and builds samples/backend against it, outside of both trees, as docs/backend.md
# says. All headers of the contract must be installed, and the contract must stay small. Its plugins must export their entry
# alone and pass the conformance suite. Cases may be skipped for capabilities and parts that they lack. A program that uses
# them must hear the digits of a recording, and a back end that only scores must give the lattice of the CPU.
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
cp -r "$work/senone/share/doc/senone/samples/backend" "$work/backend"
{ cmake -G Ninja -S "$work/backend" -B "$work/built" -DCMAKE_PREFIX_PATH="$work/senone" -DCMAKE_C_FLAGS=-Werror &&
  cmake --build "$work/built"; } >"$work/log" 2>&1 || { cat "$work/log"; fail "the plugins cannot be built"; }
export SENONE_PLUGIN_PATH=$work/built
unset GTEST_OUTPUT  # these are not the results of the test `conformance`

# conforms NAME LEAST REASONS: the plugin must export its entry alone, be listed, and pass at least LEAST cases. All others must
# be skipped for one of the REASONS.
conforms() {
  local exported cases
  exported=$(nm -D --defined-only "$work/built/libsenone_$1.so" | awk '{ print $3 }')
  [[ $exported == asr_backend_entry ]] || fail "$1 exports: $exported"
  "$work/senone/bin/senone" devices | grep "^$1:0 " >"$work/device" || fail "senone devices does not list $1:0"
  "$conformance" --gtest_filter="*_$1_0" >"$work/cases" 2>&1 || { tail -n 50 "$work/cases"; fail "conformance of $1"; }
  cases=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\.$/\1/p' "$work/cases")
  ((cases >= $2)) || fail "only ${cases:-0} cases of $1 passed"
  if grep "^$1:0: " "$work/cases" | grep -vE "^$1:0: ($3)$"; then fail "cases of $1 are skipped for other reasons"; fi
  passed+="$1: $cases cases passed; "
}
passed=''
scoring='has no memory of its own|the host fuses the scores of this back end|it mixes all Gaussians|it scores all states'
scoring+='|the host sums the statistics of training|the CPU scores forced states'
lacks='makes no lattices|makes no pieces of lattices|gives no pieces of paths|cannot tell what paths share|advances do not overlap'
lacks+='|has no fused step|it computes MFCC only'
conforms plain 45 "$scoring|$lacks"
conforms scores_only 10 "$scoring|makes no features|does not search"
grep 'which scores; the CPU makes the features and searches$' "$work/device" >/dev/null || fail "devices: $(<"$work/device")"

make_bundle "$work/senone/bin/senone"
cc -std=c99 "$work/senone/share/doc/senone/samples/hello.c" -o "$work/hello" -I"$work/senone/include/senone" \
  -L"$work/senone/lib" -lsenone "-Wl,-rpath,$work/senone/lib"
for name in plain scores_only; do SENONE_DEVICE=$name check "$work/hello"; done

# Words and lattice are those of the CPU: the same arcs and alignments. The acoustic costs differ in their last digits, since
# the CPU sums floats.
for name in cpu scores_only; do
  "$work/senone/bin/senone" recognize --model "$bundle" --device $name --lattice-beam 6 --lattice "$work/$name.txt" \
    "$recording" >"$work/$name.words" 2>"$work/log" || { cat "$work/log"; fail "$name makes no lattice"; }
  sed -E 's/,[0-9.]+,/,/' "$work/$name.txt" >"$work/$name.arcs"
  awk -F '[\t,]' 'NF > 4 { print $5 }' "$work/$name.txt" >"$work/$name.costs"
done
cmp "$work/cpu.words" "$work/scores_only.words" || fail "the words differ"
cmp "$work/cpu.arcs" "$work/scores_only.arcs" || fail "the lattices differ"
paste "$work/cpu.costs" "$work/scores_only.costs" >"$work/costs"
[[ -s $work/costs ]] || fail "the lattices have no arcs"
awk '($1 - $2) ^ 2 > 0.01 { exit 1 }' "$work/costs" || fail "acoustic costs differ: $(<"$work/costs")"
echo "built outside of the tree; ${passed}a program heard the digits with both"
