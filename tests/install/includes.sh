#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# includes.sh SOURCE checks the includes. They have no circles. core/ includes nothing that is not in the run-time library,
# and no back end of plugins/ includes another's. plugins/gpu serves CUDA and OpenCL, plugins/ocl both plugins for OpenCL, and the
# kernels that nvcc compiles for ocl_nvidia are CUDA's. reference/, which computes in double what back ends compute, includes
# core/ alone. Nothing outside of tests/ includes a file of it, so the command can measure errors without shipping tests.
# The engine has floors, each of which includes only those below it: models and graphs (core/engine), the user's side of a
# stream (core/stream), rows, the engine's side of a stream (core/session), steps, and on top the class Engine, which owns a thing
# of each. A stream so knows nothing of its session: it gets a function that notifies it.
set -euo pipefail
cd "$1"
failed=0
wrong() { echo "includes.sh: $*" >&2; failed=1; }

# Lines "FILE INCLUDED"; a file that Highway compiles again for each instruction set includes itself by name alone.
pairs=$(grep -rE '^\s*#\s*include "[a-z_]+/' api core builder plugins reference tools tests bindings \
  --include='*.h' --include='*.hpp' --include='*.cc' --include='*.cu' --include='*.cuh' --include='*.cl' --include='*.clh' |
  sed -nE 's/^([^:]+):\s*#\s*include "([^"]+)".*/\1 \2/p')
# plugins/gpu includes headers of the runtime without the name of its folder: each of plugins/cuda and plugins/ocl has them.
direct=$(grep -E '^plugins/gpu/[^ ]* plugins/(cuda|ocl)' <<<"$pairs" || true)
[[ -z $direct ]] || wrong "a runtime is named in what both share:"$'\n'"$direct"
pairs=$(awk '$1 ~ /^plugins\/gpu\// && $2 !~ /^(core|plugins)\// { print $1, "plugins/cuda/" $2; print $1, "plugins/ocl/" $2; next } 1' <<<"$pairs")
(($(wc -l <<<"$pairs") > 1000)) || wrong "hardly any includes were found"
circle=$(tsort <<<"$pairs" 2>&1 >/dev/null) || wrong "a circle:"$'\n'"$circle"
# The floor of a file of the engine; other parts of the core are below all of them.
floor() {
  case $1 in
    core/engine/engine.h | core/engine/engine.cc) echo 6 ;;
    core/engine/*) echo 1 ;;
    core/stream/*) echo 2 ;;
    core/rows/*) echo 3 ;;
    core/session/*) echo 4 ;;
    core/step/*) echo 5 ;;
    *) echo 0 ;;
  esac
}
while read -r file included; do
  if [[ $file == core/* ]] && (($(floor "$included") > $(floor "$file"))); then wrong "$file includes $included, which is above it"; fi
  case $file in
    reference/*) [[ $included =~ ^(core|reference)/ ]] ;;
    tools/* | api/* | bindings/*) [[ $included != tests/* ]] ;;
    core/*) [[ $included == core/* || $included == hwy/* ]] ;;
    builder/*) [[ $included =~ ^(core|builder)/ || $included == plugins/common/posteriors-inl.h ]] ;;
    plugins/common/*) [[ $included =~ ^(core|plugins/common)/ ]] ;;
    plugins/cpu/*) [[ $included =~ ^(core|plugins/common|plugins/cpu|hwy)/ ]] ;;
    plugins/gpu/*) [[ $included =~ ^(core|plugins/common|plugins/gpu)/ || ($included =~ ^plugins/(cuda|ocl)/ && -f $included) ]] ;;
    plugins/ocl_nvidia/*.cu) [[ $included =~ ^plugins/cuda/.*\.cuh$ ]] ;;
    plugins/ocl_*) [[ $included =~ ^(core|plugins/common|plugins/gpu|plugins/ocl)/ || $included == "$(cut -d/ -f1-2 <<<"$file")"/* ]] ;;
    plugins/cuda/* | plugins/ocl/*)
      [[ $included =~ ^(core|plugins/common|plugins/gpu)/ || $included == "$(cut -d/ -f1-2 <<<"$file")"/* ]] ;;
    plugins/*) [[ $included =~ ^(core|plugins/common)/ || $included == "$(cut -d/ -f1-2 <<<"$file")"/* ]] ;;
  esac || wrong "$file includes $included"
done <<<"$pairs"
exit $failed
