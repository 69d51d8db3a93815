#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the kernels of the OpenCL back end for AMD for real GPUs, without needing one. Each must compile without spills and
# without scratch memory. Four fifths of the operations in the inner loops of scoring must be fused multiply-adds. Prints a
# table; docs/acceptance/ocl_amd_static.md is one. Argument: the source folder. Options are those of plugins/ocl_amd/tuning.h.
set -uo pipefail
root=$1 min_percent=80 bitcode=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
command -v clang-22 >/dev/null || { echo "clang-22 is not installed"; exit 77; }
command -v llvm-mca-22 >/dev/null || { echo "llvm-22 is not installed"; exit 77; }
[[ -f $bitcode/opencl.bc ]] || { echo "rocm-device-libs is not installed"; exit 77; }
work=$(mktemp -d) status=0
trap 'rm -rf "$work"' EXIT

compile() { # GPU FILE OPTION...: writes assembly to $work/s
  local gpu=$1 file=$2 wave64=on isa library libraries=()
  shift 2
  case $gpu in gfx90a) isa=90a ;; gfx942) isa=940 ;; gfx1100) isa=1036 wave64=off ;; esac
  for library in opencl ocml ockl "oclc_isa_version_$isa" oclc_unsafe_math_off oclc_daz_opt_on oclc_finite_only_off \
    oclc_correctly_rounded_sqrt_off "oclc_wavefrontsize64_$wave64" oclc_abi_version_400; do
    libraries+=(-Xclang -mlink-builtin-bitcode -Xclang "$bitcode/$library.bc")
  done
  clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu="$gpu" -O3 -cl-denorms-are-zero -nogpulib "${libraries[@]}" \
    -mcode-object-version=4 -Xclang -finclude-default-header -I"$root" -w "$@" -S -o "$work/s" "$root/plugins/$file" ||
    { echo "$file does not compile for $gpu"; status=1; return 1; }
}

# Writes the instructions of the kernel's loop with the most fused operations or matrix products to $work/loop.
inner_loop() { # KERNEL
  awk -v kernel="$1" '
    function close_block() { if (fused > most) { most = fused; best = text } text = ""; fused = 0 }
    $0 ~ "^" kernel ":" { inside = 1 }
    /^\.Lfunc_end/ { inside = 0 }
    !inside { next }
    /^\.LBB/ { text = ""; fused = 0; next }
    /^[ \t]+[sv]_|^[ \t]+(global|ds|buffer|flat)_/ { text = text $0 "\n"; if (/fma|fmac|mfma/) ++fused }
    /s_cbranch/ { close_block() }
    END { printf "%s", best }' "$work/s" >"$work/loop"
}

# Prints registers, waves and memory of each kernel in $work/s, and the share of fused operations in the loops of scoring
# kernels.
report() { # GPU WHAT
  local kernel vgprs sgprs spills scratch waves loop
  while read -r kernel vgprs sgprs spills scratch waves; do
    loop="| |"
    if [[ $kernel == gmm_states || $kernel == gmm_gaussians ]]; then
      inner_loop "$kernel"
      local fused all cycles
      # A dual instruction counts as two operations.
      fused=$(grep -o -E 'v_(pk_|dual_)?fmac?_f32' "$work/loop" | wc -l)
      all=$(($(wc -l <"$work/loop") + $(grep -c -E 'v_dual_fmac.*v_dual_fmac' "$work/loop")))
      cycles=$(grep -q v_dual "$work/loop" || llvm-mca-22 -mtriple=amdgcn-amd-amdhsa -mcpu="$1" -iterations=10 <"$work/loop" 2>/dev/null |
        awk '/^Block RThroughput/ { print $3 }')
      loop="$fused of $all ($((100 * fused / all)) %) | $(awk -v n="$fused" -v c="${cycles:-0}" 'BEGIN { if (c > 0) printf "%d %%", 100 * n / c; else printf "not modelled" }') |"
      ((100 * fused >= min_percent * all)) || { echo "$2, $kernel, $1: fused operations are few"; status=1; }
    fi
    if [[ $kernel == gmm_expanded_mfma ]]; then
      # A product takes 8 passes of the matrix cores on gfx90a, 4 on gfx942; the loop may take at most a fifth more.
      inner_loop "$kernel"
      local passes=8
      [[ $1 == gfx942 ]] && passes=4
      fused=$(grep -c v_mfma "$work/loop")
      cycles=$(llvm-mca-22 -mtriple=amdgcn-amd-amdhsa -mcpu="$1" -iterations=10 <"$work/loop" 2>/dev/null |
        awk '/^Block RThroughput/ { print int($3) }')
      local percent=$((100 * fused * passes / cycles))
      loop="$fused MFMA of $(wc -l <"$work/loop") | $((percent < 100 ? percent : 100)) % |"
      ((fused > 0 && 5 * cycles <= 6 * fused * passes)) || { echo "$2, $kernel, $1: the loop is not bound by MFMA"; status=1; }
    fi
    echo "| $1 | $2 | $kernel | $vgprs | $sgprs | $waves | $loop"
    ((spills == 0 && scratch == 0)) || { echo "$2, $kernel, $1: $spills registers spilled, $scratch bytes of scratch"; status=1; }
  done < <(awk '
    /^; Occupancy: [0-9]/ { waves[++n_waves] = $3 }
    /^    \.name: / { name = $2 }
    /\.private_segment_fixed_size:/ { scratch = $2 }
    /\.sgpr_count:/ { sgprs = $2 }
    /\.vgpr_count:/ { vgprs = $2 }
    /\.vgpr_spill_count:/ { print name, vgprs, sgprs, $2, scratch, waves[++n] }' "$work/s")
}

echo "| GPU | kernel file | kernel | VGPRs | SGPRs | waves | fused operations of the inner loop | of the peak (llvm-mca) |"
echo "|---|---|---|---|---|---|---|---|"
score=ocl_amd/scores/gmm_score.cl
group=(-DLANES=64 -DPARTS=4 -DDIMS=4 -DTILE_ROWS=8 -DGROUP_SIZE=64)
usual=(-DN_POINTS=256 -DFRAMES=16 -DLOCAL_FLOATS=8192 -DDITHER=0 -DWINDOW_SAMPLES=400u -DSHIFT_SAMPLES=160u -DN_MEL=40u
  -DN_CEPS=13u -DDC_REMOVAL=1 -DENERGY=1 -DMAGNITUDE=0)
long=(-DN_POINTS=4096 -DFRAMES=1 -DLOCAL_FLOATS=8454 -DDITHER=1 -DWINDOW_SAMPLES=8191u -DSHIFT_SAMPLES=2000u -DN_MEL=101u
  -DN_CEPS=101u -DDC_REMOVAL=2 -DENERGY=2 -DMAGNITUDE=1)
for gpu in gfx90a gfx942 gfx1100; do
  compile $gpu $score "${group[@]}" -DFULL=0 -DFACTOR_ROWS=1 && report $gpu "gmm_score, diagonal"
  compile $gpu $score "${group[@]}" -DFULL=1 -DFACTOR_ROWS=2 && report $gpu "gmm_score, full"
  compile $gpu ocl/scores/gmm_rows.cl -DTILE_ROWS=8 -DDIMS=4 && report $gpu gmm_rows
  compile $gpu ocl/scores/gmm_expand.cl -DGROUP_SIZE=256 -DLOCAL_DIMS=42 && report $gpu gmm_expand
  for tiles in 1 2; do
    [[ $gpu == gfx1100 ]] && break  # RDNA has no MFMA
    compile $gpu ocl/scores/gmm_expanded_mfma.cl -DTENSOR_MFMA=1 -DGROUP_SIZE=256 -DTILES=$tiles &&
      report $gpu "gmm_expanded_mfma, $((16 * tiles)) rows"
  done
  compile $gpu ocl/scores/gmm_shared.cl -DGROUP_ROWS=64 -DGROUP_ENTRIES=4 && report $gpu gmm_shared
  compile $gpu ocl/features/mfcc.cl "${usual[@]}" && report $gpu "mfcc, 25 ms at 16 kHz"
  compile $gpu ocl/features/mfcc.cl "${long[@]}" && report $gpu "mfcc, 8191 samples, dither"
  compile $gpu ocl/signals/signal.cl -DBANDS=40 -DVALUES=117 -DDIMS=39 && report $gpu signal
  for full in 0 1; do
    compile $gpu ocl/statistics/statistics.cl -DFULL_COVARIANCES=$full -DFULL_MOMENTS=$full && report $gpu "statistics, full $full"
  done
  compile $gpu ocl/forced/forced.cl && report $gpu forced
  compile $gpu ocl/given/given.cl && report $gpu given
  compile $gpu ocl/search/search.cl -DGROUP_SIZE=512 -DWARP_KIND=2 -DINT64_ATOMICS=1 -DLOCAL_SLOTS=8031 && report $gpu search
done
exit $status
