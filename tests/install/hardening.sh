#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hardening.sh COMMAND LIBRARY PLUGIN-DIRECTORY checks that the binaries of a build are hardened as SECURITY.md promises. First,
# programs linked without each measure show that its check can fail.
set -euo pipefail
command=$1 library=$2 plugins=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "hardening.sh: $*" >&2; exit 1; }

# defects FILE prints one word for each measure that FILE lacks.
defects() {
  local header dynamic segments symbols
  header=$(readelf -hW "$1") dynamic=$(readelf -dW "$1") segments=$(readelf -lW "$1") symbols=$(readelf -sW "$1")
  grep -q 'GNU_STACK.* RW ' <<<"$segments" || echo executable-stack
  grep -q 'LOAD.* RWE ' <<<"$segments" && echo writable-code
  grep -q 'GNU_RELRO' <<<"$segments" || echo no-relro
  grep -qE 'BIND_NOW|FLAGS_1.* NOW' <<<"$dynamic" || echo lazy-binding
  grep -q 'TEXTREL' <<<"$dynamic" && echo text-relocations
  grep -q '__stack_chk_fail' <<<"$symbols" || echo no-stack-protector
  grep -q 'Type: *DYN' <<<"$header" || echo no-pie
  # An empty element of a run path means the current directory.
  sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\].*/\2/p' <<<"$dynamic" | tr ':' '\n' | grep -qvE '^\$ORIGIN($|/)' && echo run-path
  return 0
}

cat >"$work/probe.c" <<'PROBE'
#include <string.h>
int probe(const char *text) { char copy[64]; strcpy(copy, text); return copy[0]; }
int main(int n, char **arguments) { return probe(arguments[n - 1]); }
PROBE
good="-O2 -fPIE -pie -fstack-protector-strong -Wl,-z,relro,-z,now,-z,noexecstack"

# expect DEFECTS OPTION... checks that a program built with the good options and then these lacks exactly DEFECTS.
expect() {
  local expected=$1 found
  shift
  # shellcheck disable=SC2086
  cc $good "$@" "$work/probe.c" -o "$work/probe" 2>"$work/log" || { cat "$work/log"; fail "cc $good $* failed"; }
  found=$(defects "$work/probe" | tr '\n' ' ')
  [[ $found == "$expected" ]] || fail "a program built with \"$*\" should lack \"$expected\" and was found to lack \"$found\""
}

expect ""
expect "executable-stack " -Wl,-z,execstack
expect "no-relro " -Wl,-z,norelro
expect "lazy-binding " -Wl,-z,lazy
expect "no-stack-protector " -fno-stack-protector
expect "no-pie " -fno-pie -no-pie
expect "run-path " "-Wl,-rpath,\$ORIGIN/../lib:/opt/lib"
expect "run-path " "-Wl,-rpath,\$ORIGIN/../lib:"
expect "" "-Wl,-rpath,\$ORIGIN/../lib"

n=0
for file in "$command" "$library" "${library%.so*}"_build.so.? "$plugins"/*.so; do
  [[ -f $file ]] || continue
  found=$(defects "$file" | tr '\n' ' ')
  [[ -z $found ]] || fail "$file lacks: $found"
  n=$((n + 1))
done
((n >= 2)) || fail "the command and the library were not found"
readelf -sW "$command" | grep '__[a-z]*_chk@' >/dev/null || fail "$command calls no function of _FORTIFY_SOURCE"
echo "$n files are hardened"
