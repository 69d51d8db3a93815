#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# embed.sh BUILD SOURCE installs a build, moves the tree elsewhere, and uses it like an embedder. Its command makes a bundle.
# Programs are built with the shared and the static library, by pkg-config and by CMake, and recognise a recording. A plugin put
# beside the library must be found.
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "${BASH_SOURCE[0]}")/digits.sh"

cmake --install "$build" --prefix "$work/first" >/dev/null
mkdir "$work/else where"
mv "$work/first" "$work/else where/senone"
prefix="$work/else where/senone"
if grep -rIl -e "$work/first" -e "$build" "$prefix"; then fail "these installed files hold paths of the build"; fi

make_bundle "$prefix/bin/senone"

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# build_by_pkg_config "PACKAGE..." SOURCE PROGRAM OPTION...
build_by_pkg_config() {
  local flags=() from=$2 program=$3
  eval "flags=($(pkg-config --cflags --libs $1))"
  shift 3
  cc -std=c99 -Wall -Wextra -Werror "$from" -o "$program" "${flags[@]}" "$@"
}
build_by_pkg_config senone "$source/samples/hello.c" "$work/hello" "-Wl,-rpath,$prefix/lib"
build_by_pkg_config senone-static "$source/samples/hello.c" "$work/hello_static"
check "$work/hello"
check "$work/hello_static"
check_static "$work/hello_static"
grammars=()
if [[ -f $prefix/include/senone/asr_build.h ]]; then
  grammars=(grammar grammar_cpp grammar_static grammar_cpp_static)
  build_by_pkg_config "senone senone_build" "$source/samples/grammar.c" "$work/grammar" "-Wl,-rpath,$prefix/lib"
  build_by_pkg_config senone_build-static "$source/samples/grammar.c" "$work/grammar_static"
  check_grammar "$work/grammar"
  check_grammar "$work/grammar_static"
  check_static "$work/grammar_static"
  # A program that only compiles grammars must not need libsenone, not even with the C++ header.
  printf '#include <senone_build.hpp>\nint main() { return senone::GrammarBuilder::try_open("/nowhere").has_value(); }\n' >"$work/alone.cc"
  eval "flags=($(pkg-config --cflags --libs senone_build))"
  c++ -std=c++17 -O0 -Wall -Wextra -Werror "$work/alone.cc" -o "$work/alone" "${flags[@]}" "-Wl,-rpath,$prefix/lib"
  "$work/alone" || fail "a program with libsenone_build alone"
fi

cmake -G Ninja -S "$source/tests/install/find_package" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DSENONE="$source" \
  -DGRAMMARS="${#grammars[@]}" >"$work/log" 2>&1 && cmake --build "$work/cmake" >>"$work/log" 2>&1 ||
  { cat "$work/log"; fail "the CMake project"; }
for program in hello hello_cpp hello_static hello_cpp_static; do check "$work/cmake/$program"; done
for program in "${grammars[@]}"; do check_grammar "$work/cmake/$program"; done
for program in "$work"/cmake/*_static; do check_static "$program"; done

documents=$prefix/share/doc/senone
for file in LICENSE NOTICE docs/embedding.md samples/hello.c; do
  [[ -f $documents/$file ]] || fail "share/doc/senone/$file is not installed"
done
bash "$source/tests/install/links.sh" "$documents" || fail "links of installed pages"
cp -r "$documents/samples/project" "$work/project"
{ cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$work/project/build" &&
  cmake --install "$work/project/build" --prefix "$work/project/installed"; } >"$work/log" 2>&1 ||
  { cat "$work/log"; fail "the installed sample project"; }
check "$work/project/build/words"
check "$work/project/installed/bin/words"

cp "$build/tests/plugins/libsenone_good.so" "$prefix/lib/senone/plugins/"
(cd / && "$prefix/bin/senone" devices) | grep '^good:1 ' >/dev/null || fail "a plugin beside the library was not found"
SENONE_PLUGINS=cpu "$prefix/bin/senone" devices | grep '^good:1 ' >/dev/null && fail "SENONE_PLUGINS did not leave the plugin out"
has_plugin "$work/hello" good || fail "a program with the shared library does not find its plugin"
cp "$work/hello_static" "$prefix/bin/"
has_plugin "$prefix/bin/hello_static" good || fail "a static program does not find a plugin by its own place"
has_plugin "$work/hello_static" good && fail "a static program elsewhere found a plugin"
SENONE_PLUGIN_PATH="$prefix/lib/senone/plugins" has_plugin "$work/hello_static" good || fail "SENONE_PLUGIN_PATH is not used"
has_plugin "$work/hello" nosuch && fail "SENONE_DEVICE was ignored"
echo "installed, moved, embedded by pkg-config and by CMake, shared and static"
