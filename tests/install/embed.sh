#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# embed.sh BUILD SOURCE: installs a build, moves the tree elsewhere, and uses it as an embedder would: its command makes a
# bundle, samples/hello.c is built by pkg-config and by CMake, the C++ example by CMake, the programs recognise a recording, and a
# plugin put beside the library is found.
set -euo pipefail
build=$1 source=$2
data=/usr/share/pocketsphinx/test/data/tidigits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "embed.sh: $*" >&2; exit 1; }
[[ -d $data ]] || { echo "skipped: $data is missing; install pocketsphinx-testdata"; exit 77; }

cmake --install "$build" --prefix "$work/first" >/dev/null
mkdir "$work/else where"
mv "$work/first" "$work/else where/senone"
prefix="$work/else where/senone"
if grep -rIl -e "$work/first" -e "$build" "$prefix"; then fail "these installed files hold paths of the build"; fi

bundle=$work/digits
grep -o '^[a-z]*' "$data/lm/tidigits.dic" | sort -u >"$work/words"
"$prefix/bin/senone" import sphinx "$data/hmm" "$bundle" --sample-rate 16000 >/dev/null 2>&1
"$prefix/bin/senone" graph --model "$bundle" --lexicon "$data/lm/tidigits.dic" --words "$work/words" >/dev/null

# PROGRAM must say the digits of a recording.
check() {
  local words
  words=$("$1" "$bundle" "$data/dhd.2934z.raw") || fail "$2 failed"
  [[ $words == *"two nine three four zero"* ]] || fail "$2 heard: $words"
}

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
eval "flags=($(pkg-config --cflags --libs senone))"
cc -std=c99 -Wall -Wextra -Werror "$source/samples/hello.c" -o "$work/hello" "${flags[@]}" "-Wl,-rpath,$prefix/lib"
check "$work/hello" "the program built by pkg-config"

cmake -G Ninja -S "$source/tests/install/find_package" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DHELLO="$source/samples/hello.c" \
  -DHELLO_CPP="$source/bindings/cpp/examples/hello.cc" \
  >"$work/log" 2>&1 && cmake --build "$work/cmake" >>"$work/log" 2>&1 || { cat "$work/log"; fail "the CMake project"; }
check "$work/cmake/hello" "the program built by CMake"
check "$work/cmake/hello_cpp" "the C++ program built by CMake"
for file in LICENSE NOTICE docs/embedding.md samples/hello.c; do
  [[ -f $prefix/share/doc/senone/$file ]] || fail "share/doc/senone/$file is not installed"
done

cp "$build/tests/plugins/libsenone_good.so" "$prefix/lib/senone/plugins/"
(cd / && "$prefix/bin/senone" devices) | grep '^good:1 ' >/dev/null || fail "a plugin beside the library was not found"
SENONE_PLUGINS=cpu "$prefix/bin/senone" devices | grep '^good:1 ' >/dev/null && fail "SENONE_PLUGINS did not leave the plugin out"
SENONE_DEVICE=nosuch "$work/hello" "$bundle" "$data/dhd.2934z.raw" >/dev/null 2>"$work/error" && fail "SENONE_DEVICE was ignored"
grep -q 'no back end "nosuch" was found' "$work/error" || fail "no reason for a missing device: $(cat "$work/error")"
echo "installed, moved, embedded by pkg-config and by CMake"
