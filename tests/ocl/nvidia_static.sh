#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles kernels for NVIDIA's GPUs, with PTX that no other device runs. They must compile. If CUDA's assembler is installed,
# they must fit the given number of registers, with few spills, and 48 KiB of local memory. The driver's compiler is a different
# one, but by the same maker. Argument: the source folder. Options are those of mfcc_plan.cc and gmm_tensor.cc in
# plugins/ocl.
set -uo pipefail
root=$1 max_bytes=49152 max_spilled=64
command -v clang-22 >/dev/null || { echo "clang-22 is not installed"; exit 77; }
assembler=$(command -v ptxas || command -v /usr/local/cuda/bin/ptxas)
work=$(mktemp -d) status=0
trap 'rm -rf "$work"' EXIT

check() { # arguments: WHAT FILE INSTRUCTION REGISTERS OPTION...: INSTRUCTION must occur
  local what=$1 file=$2 instruction=$3 registers=$4 bytes spilled used
  shift 4
  clang-22 -x cl -cl-std=CL1.2 -fgnu-keywords -target nvptx64-nvidia-nvcl -Xclang -target-cpu -Xclang sm_90 -Xclang -target-feature \
    -Xclang +ptx80 -O3 -Xclang -finclude-default-header -include "$root/tests/ocl/nvptx_builtins.h" -I"$root" -w "$@" -S \
    -o "$work/kernel.ptx" "$root/plugins/ocl/$file" || { echo "$what does not compile"; status=1; return; }
  grep -q "$instruction" "$work/kernel.ptx" || { echo "$what: no $instruction"; status=1; }
  [[ -n $assembler ]] || return
  "$assembler" -arch=sm_90 -v --maxrregcount="$registers" "$work/kernel.ptx" -o "$work/kernel.cubin" >"$work/log" 2>&1 ||
    { cat "$work/log"; echo "$what: not assembled"; status=1; return; }
  bytes=$(grep -o '[0-9]* bytes smem' "$work/log" | awk '{ print $1 }')
  used=$(grep -o 'Used [0-9]* registers' "$work/log" | awk '{ print $2 }')
  spilled=$(grep -o '[0-9]* bytes spill stores' "$work/log" | awk '{ n += $1 } END { print n + 0 }')
  echo "$what: $used registers, $spilled bytes spilled, ${bytes:-0} bytes of local memory"
  ((used <= registers && spilled <= max_spilled)) || { echo "$what: too many registers are spilled"; status=1; }
  ((${bytes:-0} <= max_bytes)) || { echo "$what: too much local memory"; status=1; }
}

check "40 bands, 13 cepstra" features/mfcc_512.cl mma.sync 128 -DNVIDIA=1 -DWORK_FLOATS=2176 -DWINDOW_SAMPLES=400u -DSHIFT_SAMPLES=160u -DN_MEL=40u -DN_CEPS=13u -DDC_REMOVAL=1 \
  -DENERGY=1 -DMAGNITUDE=0
check "23 bands, 23 cepstra" features/mfcc_512.cl mma.sync 128 -DNVIDIA=1 -DWORK_FLOATS=2176 -DWINDOW_SAMPLES=410u -DSHIFT_SAMPLES=160u -DN_MEL=23u -DN_CEPS=23u -DDC_REMOVAL=0 \
  -DENERGY=0 -DMAGNITUDE=1
for tiles in 1 2; do
  tensor=(-DTENSOR_PTX=1 -DTENSOR_MFMA=0 -DGROUP_SIZE=256 -DTILES=$tiles)
  for models in 1 12; do
    check "diagonal, $((16 * tiles)) rows a warp, models: $models" scores/gmm_diagonal_tensor.cl mma.sync 160 "${tensor[@]}" -DSTEPS=9 \
      -DMODELS=$models
  done
  check "full, $((16 * tiles)) rows a warp" scores/gmm_expanded_tensor.cl mma.sync 255 "${tensor[@]}"
done
exit $status
