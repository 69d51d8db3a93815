# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: Apache-2.0
# musl_tools FOLDER writes the compilers and headers that cmake/musl.cmake needs into FOLDER, and names it in SENONE_MUSL_TOOLS.
# The compiler is zig: `zig`, or the package ziglang of python3, or that of the interpreter SENONE_PYTHON. Fails, with the reason in
# $missing, if there is none. tests/install/musl.sh and `./dev wheel --musl` source this.
musl_tools() {
  local zig=() python header folder target
  target=$(uname -m)-linux-musl
  if command -v zig >/dev/null; then zig=(zig); fi
  for python in ${SENONE_PYTHON:-} python3; do
    ((${#zig[@]} == 0)) && "$python" -c 'import ziglang' 2>/dev/null && zig=("$(command -v "$python")" -m ziglang)
  done
  missing='there is no zig; pip install ziglang'
  ((${#zig[@]} > 0)) || return 1

  export SENONE_MUSL_TOOLS=$1
  mkdir -p "$SENONE_MUSL_TOOLS/bin" "$SENONE_MUSL_TOOLS/root/include" "$SENONE_MUSL_TOOLS/root/share/cmake"
  tool_of_zig() { printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$SENONE_MUSL_TOOLS/bin/$1" && chmod +x "$SENONE_MUSL_TOOLS/bin/$1"; }
  tool_of_zig cc "${zig[*]} cc -target $target"
  tool_of_zig c++ "${zig[*]} c++ -target $target"
  tool_of_zig ar "${zig[*]} ar"
  tool_of_zig ranlib "${zig[*]} ranlib"
  for header in hwy nlohmann; do
    folder=$(for prefix in /usr/include /usr/local/include; do [[ ! -d $prefix/$header ]] || echo "$prefix/$header"; done | head -n 1)
    missing="the headers $header are missing; ./dev setup build installs them"
    [[ -n $folder ]] || return 1
    cp -rLu "$folder" "$SENONE_MUSL_TOOLS/root/include/"
  done
  printf '%s\n' 'if(NOT TARGET nlohmann_json::nlohmann_json)' '  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)' \
    "  target_include_directories(nlohmann_json::nlohmann_json INTERFACE $SENONE_MUSL_TOOLS/root/include)" 'endif()' \
    >"$SENONE_MUSL_TOOLS/root/nlohmann_json-config.cmake"
}
