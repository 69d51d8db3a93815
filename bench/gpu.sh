#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks and measures a back end on a machine with a GPU. It runs conformance, the benchmarks of features and scores as
# JSON, and optionally compute-sanitizer (CUDA only). The environment variable DEVICE names it: cuda, ocl_nvidia,
# ocl_amd. Arguments: BIN (folder with senone, conformance), PLUGINS, OUT, then any of conformance, sanitize, mfcc, gmm,
# models, fullgmm, decode, stream; default: conformance, mfcc, gmm, fullgmm. decode searches GRAPH with the scores
# LOGLIKES, or scores and searches FEATURES with the bundle MODEL. stream recognises FEATURES with MODEL through the C
# ABI (docs/search.md, "Measuring").
#   gpu.sh accept [PART...]  is the acceptance run (accept.sh), gpu.sh pack BUILD OUT.tar.xz makes its archive (gpu_kit.sh).
set -uo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
case ${1:-} in
  accept) exec "$here/accept.sh" "${@:2}" ;;
  pack) exec "$here/gpu_kit.sh" "${@:2}" ;;
esac
if (($# < 3)); then
  echo "usage: gpu.sh BIN PLUGINS OUT [PART...], gpu.sh accept [PART...] or gpu.sh pack BUILD OUT.tar.xz" >&2
  exit 2
fi
bin=$1 out=$3
SENONE_PLUGIN_PATH=$(realpath "$2")
export SENONE_PLUGIN_PATH
shift 3
(($# > 0)) || set -- conformance mfcc gmm fullgmm
mkdir -p "$out"
status=0
back_end=${DEVICE:-cuda}
device=(--device "$back_end" --threads "$(nproc)" --json)
search=(--beam 13 --max-active 7000 --acoustic-scale 0.0769)

bench() { # FILE ARGUMENT...
  local file=$out/$1.json
  shift
  "$bin/senone" bench "$@" "${device[@]}" >"$file" || status=1
  awk '/"(window|n_warps|us_per_frame|rtf|n_streams|times_real_time|failed|kernel_[a-z_]*|largest_error|max_error)"/ { gsub(/[",]/, ""); printf "%s %s  ", $1, $2 }
    /}/ && NR > 20 { print "" }' "$file" | sed "s|^|$(basename "$file" .json): |"
}

for part; do
  case $part in
    conformance)
      "$bin/conformance" --gtest_filter="*$back_end*" --gtest_brief=1 >"$out/conformance.log" 2>&1 || status=1
      tail -n 60 "$out/conformance.log"
      ;;
    sanitize)
      for tool in memcheck racecheck initcheck; do
        compute-sanitizer --tool "$tool" --error-exitcode 9 "$bin/conformance" --gtest_brief=1 \
          --gtest_filter='GmmTest.RowCounts/*cuda*:GmmModelsTest.*/*cuda*:GmmTest.ThreeStreams/*cuda*:MfccTest.AwkwardShapes/*cuda*:SearchTest.Chunks*/*cuda*:SearchTest.Inf*/*cuda*:LatticeTest.Inf*/*cuda*:TogetherTest.Memory*/*cuda*' \
          >"$out/$tool.log" 2>&1 || status=1
        tail -n 4 "$out/$tool.log"
      done
      ;;
    mfcc) bench mfcc mfcc --seconds 3600 --repeats 5 ;;
    gmm)
      bench gmm_5000x16x36 gmm --gaussians 16 --frames 2560 --window 1 8 16 32 64 128 256 2560 --no-openblas
      bench gmm_5000x256x36 gmm --gaussians 256 --frames 2560 --window 8 64 256 2560 --repeats 7 --no-openblas
      for gaussians in 16 256; do
        bench "gmm_5000x${gaussians}x36_16bit" gmm --gaussians "$gaussians" --frames 2560 --window 8 64 256 2560 --repeats 7 \
          --no-openblas --model-bits 16
      done
      ;;
    models) bench gmm_models gmm --models 4 --states 1000 --gaussians 16 --frames 1024 --window 8 16 32 64 128 256 ;;
    fullgmm) bench fullgmm_5000x16x36 fullgmm --frames 2560 --window 8 64 256 2560 --repeats 7 --no-openblas ;;
    decode)
      if [[ -n ${MODEL:-} ]]; then
        input=(--model "$MODEL" --features "$FEATURES" --score)
      else
        input=(--graph "$GRAPH" --loglikes "$LOGLIKES")
      fi
      for lanes in 1 4 8 12 16 32 64 128 512; do
        bench "decode_lanes$lanes" decode "${input[@]}" --lanes "$lanes" "${search[@]}" --lattice-beam 8
      done
      ;;
    stream)
      for lattice_beam in 0 8; do
        bench "stream_features_beam$lattice_beam" stream --model "$MODEL" --features "$FEATURES" --streams 1,16,128,512 \
          --utterances 3840 --repeats 1 "${search[@]}" --lattice-beam "$lattice_beam"
      done
      ;;
    *) echo "gpu.sh: no part \"$part\"" >&2 && exit 2 ;;
  esac
done
exit $status
