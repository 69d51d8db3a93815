#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh SOURCE BUILD checks that the demo's commands are all right with the programs of BUILD, and that ./dev demo says in a
# message what is missing: packages that cannot be fetched, a GPU.
# demo.sh SOURCE BUILD --build LAUNCHER builds what the demo builds, first, into BUILD/tests/demo. So it tells when files that
# are compiled together there have the same private names, or when a file is needed that is left out. LAUNCHER may be empty.
set -euo pipefail
source=$1 build=$2
cd "$source"
fail() { echo "demo.sh: $*" >&2; exit 1; }
for folder in /usr/share/pocketsphinx/model/en-us /usr/share/pocketsphinx/test/data; do
  [[ -d $folder ]] || { echo "skipped: $folder is missing; ./dev setup demo installs it"; exit 77; }
done

if [[ ${3:-} == --build ]]; then
  build=$build/tests/demo
  { cmake --preset demo -B "$build" -DCMAKE_C_COMPILER_LAUNCHER="$4" -DCMAKE_CXX_COMPILER_LAUNCHER="$4" &&
    cmake --build "$build" --target senone_command; } >"$build.log" 2>&1 || { tail -n 40 "$build.log"; fail "the demo does not build"; }
fi

rm -rf "$build/bundles"
said=$(SENONE_DEMO_BUILD=$build ./dev demo --commands 2>&1) || fail "the commands failed: $said"
[[ $said == *"21 of the 21 words that were said are right"* ]] || fail "not all commands were right: $said"
[[ $(grep -c . "$build/commands.txt") == 7 ]] || fail "not seven utterances: $(cat "$build/commands.txt")"
# The lines of the two rejected sentences have an id alone.
[[ $(grep -c '^ *([^()]*)$' "$build/commands.txt") == 2 ]] || fail "not two were rejected: $(cat "$build/commands.txt")"
echo "the demo's commands are right"
[[ ${3:-} != --build ]] || exit 0

stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT
# stub NAME LINE makes a program that runs the line.
stub() {
  printf '#!/bin/sh\n%s\n' "$2" >"$stubs/$1"
  chmod +x "$stubs/$1"
}
copy=$stubs/copy  # setup writes a log
mkdir "$copy"
cp dev packages.txt "$copy"
stub dpkg-query 'exit 1'
stub sudo 'exec "$@"'
stub apt-get 'echo "Err:1 http://deb.example.org bookworm"; echo "E: Unable to locate package g++"; exit 100'
status=0
said=$(PATH=$stubs:$PATH "$copy/dev" demo 2>&1) || status=$?
[[ $status == 1 && $said == *"E: Unable to locate package g++"*"dev: apt-get failed: these packages need a network"* ]] ||
  fail "packages that cannot be fetched: status $status, \"$said\""
if ! compgen -G '/dev/nvidia[0-9]*' >/dev/null && [[ ! -e /dev/kfd && ! -e /dev/dxg ]]; then
  status=0
  said=$(PATH=$stubs:$PATH "$copy/dev" demo --gpu 2>&1) || status=$?
  [[ $status == 1 && $said == "dev: demo: no GPU is here"* ]] || fail "no GPU: status $status, \"$said\""
fi
echo "what is missing is said"
