#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# includes.sh SOURCE checks the includes. They have no circles. core/ includes nothing that is not in the run-time library,
# and no vendor's folder of plugins/ includes another's; but kernels that nvcc compiles for ocl_nvidia include CUDA's.
set -euo pipefail
cd "$1"
failed=0
wrong() { echo "includes.sh: $*" >&2; failed=1; }

# Lines "FILE INCLUDED"; a file that Highway compiles again for each instruction set includes itself by name alone.
pairs=$(grep -rE '^\s*#\s*include "[a-z_]+/' api core builder plugins tools tests bindings \
  --include='*.h' --include='*.hpp' --include='*.cc' --include='*.cu' --include='*.cuh' --include='*.cl' |
  sed -nE 's/^([^:]+):\s*#\s*include "([^"]+)".*/\1 \2/p')
(($(wc -l <<<"$pairs") > 1000)) || wrong "hardly any includes were found"
circle=$(tsort <<<"$pairs" 2>&1 >/dev/null) || wrong "a circle:"$'\n'"$circle"
while read -r file included; do
  case $file in
    core/*) [[ $included == core/* || $included == hwy/* ]] ;;
    builder/*) [[ $included =~ ^(core|builder|plugins/common/kernels)/ ]] ;;
    plugins/common/ocl/*) [[ $included =~ ^(core|plugins/common)/ ]] ;;
    plugins/common/*) [[ $included =~ ^(core|plugins/common)/ && $included != plugins/common/ocl/* || $included == hwy/* ]] ;;
    plugins/cuda/* | plugins/cpu/*)
      own=$(cut -d/ -f1-2 <<<"$file")
      [[ ($included =~ ^(core|plugins/common)/ && $included != plugins/common/ocl/*) || $included == "$own"/* || $included == hwy/* ]] ;;
    plugins/ocl_nvidia/kernels/*.cu) [[ $included == plugins/cuda/kernels/* ]] ;;
    plugins/*) [[ $included =~ ^(core|plugins/common)/ || $included == "$(cut -d/ -f1-2 <<<"$file")"/* ]] ;;
  esac || wrong "$file includes $included"
done <<<"$pairs"
exit $failed
