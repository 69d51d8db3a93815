#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# subproject.sh COMMAND SOURCE BUILD checks that another project can build Senone within its own build, by add_subdirectory and by
# FetchContent. Its programs must recognise a recording and find the plugins of the build. COMMAND is a `senone`, to make the
# bundle. The builds have the flags of BUILD and lie beside it, so that ccache has their objects.
set -euo pipefail
command=$1 source=$2 flags=$3/tests/same_flags.cmake
work=$(mktemp -d) builds=$3-subproject
[[ -w ${3%/*} ]] || builds=$work/build
rm -rf "$builds"-*
trap 'rm -rf "$work" "$builds"-*' EXIT
. "$(dirname "${BASH_SOURCE[0]}")/digits.sh"

make_bundle "$command"
grammars=()
[[ ! -e /usr/include/fst/fstlib.h ]] || grammars=(grammar grammar_cpp grammar_static grammar_cpp_static)

# build_by WAY INSTALL BUILD_LIBRARY TARGET...
build_by() {
  local way=$1 install=$2 build_library=$3
  shift 3
  { cmake -G Ninja -C "$flags" -S "$source/tests/install/subproject" -B "$builds-$way" -DBY="$way" -DSENONE="$source" \
      -DSENONE_INSTALL="$install" -DSENONE_BUILD_LIBRARY="$build_library" &&
    cmake --build "$builds-$way" --parallel "$(nproc)" --target "$@"; } >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "the project using $way"; }
}

build_by add_subdirectory OFF "${#grammars[@]}" hello hello_cpp hello_static hello_cpp_static "${grammars[@]}"
for program in hello hello_cpp hello_static hello_cpp_static; do check "$builds-add_subdirectory/$program"; done
for program in "${grammars[@]}"; do check_grammar "$builds-add_subdirectory/$program"; done
for program in "$builds-add_subdirectory"/*_static; do check_static "$program"; done
build_by FetchContent ON OFF all
check "$builds-FetchContent/hello"
for way in add_subdirectory FetchContent; do
  mapfile -t plugins < <(find "$builds-$way" -path '*/senone/plugins/libsenone_*.so')
  ((${#plugins[@]})) || [[ ! -e /usr/include/CL/cl.h ]] || fail "no plugin was built ($way)"
  for plugin in "${plugins[@]}"; do
    name=${plugin##*/libsenone_} name=${name%.so}
    has_plugin "$builds-$way/hello" "$name" || fail "the plugin $name of the build ($way) was not found"
  done
done
has_plugin "$builds-add_subdirectory/hello" nosuch && fail "a plugin that is not there was found"
cmake --install "$builds-add_subdirectory" --prefix "$work/installed" >/dev/null
[[ ! -e $work/installed ]] || fail "installing the parent installs Senone"
cmake --install "$builds-FetchContent" --prefix "$work/installed" >/dev/null
cmake -G Ninja -S "$source/tests/install/find_package" -B "$work/found" -DCMAKE_PREFIX_PATH="$work/installed" \
  -DSENONE="$source" >"$work/log" 2>&1 && cmake --build "$work/found" >>"$work/log" 2>&1 ||
  { cat "$work/log"; fail "find_package of what the parent installed"; }
check "$work/found/hello"
[[ ! -e $work/found/grammar ]] || fail "find_package gives Senone::build, which the parent did not build"
echo "built within another project by add_subdirectory and by FetchContent"
