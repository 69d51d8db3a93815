#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# accept.sh [PART...] is the acceptance run of a machine with a GPU, in the unpacked folder that bench/gpu_kit.sh made. It
# neither builds nor downloads. Parts: sanitize, conformance, recordings, many, audio, warps, widths, stress, neighbour; all
# of them without an argument. A call adds to the results of earlier calls, replaces results of the same part, and ends with
# the summary of all. The part `summary` prints only the summary. Environment variables:
#   DEVICES           back ends (the first device of each) or devices, default "cuda ocl_nvidia"; they are tested in parallel,
#                     or with APART=1 one after the other
#   OUT               folder of the results accept_GPU.md and logs, default "results" in the kit
#   NEIGHBOUR_CARD    number of the GPU that the part neighbour fills, 0
#   STRESS_SECONDS    per device, 180; SANITIZE_SECONDS: limit of one tool, 300; SHARDS: of conformance, 4
#   SENONE_FIX_ICD=1  writes /etc/OpenCL/vendors/nvidia.icd if NVIDIA's OpenCL is not registered
#   ANY_DEVICE=1      accepts devices other than GPUs, to test this script; JOBS, MANY: other numbers of jobs
# The last line is `N passed, N failed, N skipped`. The exit status is 1 if anything failed or nothing passed, 2 if the run
# could not be judged. Cases without a device or data are skipped with the reason, and so is racecheck if it takes too long.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kit=${KIT:-$(dirname "$here")}
out=${OUT:-$kit/results}
read -ra devices <<<"${DEVICES:-cuda ocl_nvidia}"
read -ra few_jobs <<<"${JOBS:-1 2 3 4 5 8 9 12 16 60}"
read -ra many_jobs <<<"${MANY:-128 512}"
all_parts=(sanitize conformance recordings many audio warps widths stress neighbour)
search=(--beam 13 --max-active 7000 --acoustic-scale 0.0769)
# Model, streams, lattice beam and MB of the GPU for them.
neighbour_cases='commands 16 0 200
an4 64 8 200
an4 64 8 600
an4 64 8 1500
an4 64 8 4000'
senone=$kit/bin/senone work=$out/work lines=$out/accept.tsv
export LD_LIBRARY_PATH=$kit/libs:$kit/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export SENONE_PLUGIN_PATH=$kit/lib/senone/plugins
[[ ${ANY_DEVICE:-} != 1 ]] || export SENONE_PLUGINS=cpu,cuda,ocl_nvidia,ocl_amd # named, so that PoCL's devices are listed
if [[ ! -x $senone ]]; then
  echo "accept.sh: $kit is no kit: it has no bin/senone; make one with bench/gpu_kit.sh" >&2
  exit 2
fi

# shellcheck source=bench/accept_report.sh
source "$here/accept_report.sh"

for limit in "${STRESS_SECONDS:-180}" "${SANITIZE_SECONDS:-300}"; do
  [[ $limit =~ ^[1-9][0-9]*$ ]] || stop "STRESS_SECONDS and SANITIZE_SECONDS are whole numbers above 0, not \"$limit\""
done
{ mkdir -p "$work" && touch "$lines"; } 2>/dev/null || stop "$out cannot be written to; set OUT to another folder"
exec {lock}>"$out/lock"
flock -n "$lock" || stop "another run writes to $out; wait for its end, or set OUT to another folder"

# ---- decoding -----------------------------------------------------------------------------------------------------------

# recognize PREFIX OPTION... writes PREFIX.json, without paths, and PREFIX.lat if the kind of result ($kind: best, lattices)
# includes lattices.
recognize() {
  local prefix=$1 options=() status
  shift
  [[ $kind == best ]] || options=(--lattice-beam 8 --lattice "$prefix.lat")
  timeout --foreground 300 "$senone" recognize "$@" "${options[@]}" --json >"$prefix.raw" 2>"$prefix.log"
  status=$?
  sed 's/"file":"[^"]*",//' "$prefix.raw" >"$prefix.json"
  ((status == 0)) || problems+=("$* (status $status): $(tail -n 1 "$prefix.log" | cut -c 1-200)")
  rm -f "$prefix.raw" "$prefix.log"
  return $status
}

# Checks that word sequences well within one archive's beam are in the other at the same costs.
lattices_match() { # A B ACOUSTIC-SCALE
  local said
  said=$("$senone" lattice compare "$1" "$2" --acoustic-scale "$3" --beam 7.9 -n 1000 2>&1 &&
    "$senone" lattice compare "$2" "$1" --acoustic-scale "$3" --beam 7.9 -n 1000 2>&1)
  awk '
    / lattices compared, 0 missing$/ { ++n_complete }
    /: 0 missing, 0 cheaper and 0 dearer/ { n = $1; ++n_same }
    /largest difference/ && $4 > most { most = $4 }
    END {
      if (n_complete < 2 || n_same < 2) exit 1
      print n " word sequences, costs within " most + 0
    }' <<<"$said" || { echo "lattices: ${said//$'\n'/, }"; return 1; }
}

# differs A B WHAT records a problem unless the results, and lattices if any, are the same bytes.
differs() {
  cmp -s "$1.json" "$2.json" || problems+=("other results $3")
  [[ $kind == best ]] || cmp -s "$1.lat" "$2.lat" || problems+=("other lattices $3")
}

# same_as_other A B DEVICE compares with another device's results. Scores of two devices may differ in their last bits, so
# differing bytes are reported but are no problem if words, times and costs match.
same_as_other() {
  local file extensions=(json)
  [[ $kind == best ]] || extensions+=(lat)
  for file in "${extensions[@]}"; do
    if cmp -s "$1.$file" "$2.$file"; then
      facts+=("$file: the bytes of $3")
    elif [[ $file == json ]]; then
      check "$here/compare_results.py" "$2.json" "$1.json" && facts+=("so compared with $3")
    else
      check lattices_match "$1.lat" "$2.lat" 0.0769 && facts+=("so compared with $3")
    fi
  done
}

# Recognises the 60 utterances of an archive like the CPU's run. The results stay for comparisons by other parts.
first_results() { # DEVICE FEATURES JOBS
  local first=$work/$1.$2.$kind expected=$kit/cpu/20k.$2.$kind
  recognize "$first" --model "$kit/20k" --device "$1" --features "ark:$kit/$2.ark" --jobs "$3" "${search[@]}" || return
  check "$here/compare_results.py" "$expected.json" "$first.json"
  [[ $kind == best ]] || check lattices_match "$first.lat" "$expected.lat" 0.0769
}

# Several numbers of jobs must give the same bytes, equal to the first device's.
recordings_case() { # DEVICE FEATURES
  local jobs prefix=$work/$1.recordings first="$work/$1.$2.$kind"
  begin
  rm -f "$first".*
  first_results "$1" "$2" "${few_jobs[0]}"
  for jobs in "${few_jobs[@]:1}"; do
    recognize "$prefix" --model "$kit/20k" --device "$1" --features "ark:$kit/$2.ark" --jobs "$jobs" "${search[@]}" &&
      differs "$first" "$prefix" "with $jobs jobs than with ${few_jobs[0]}"
    rm -f "$prefix".*
  done
  facts+=("the same bytes with ${few_jobs[*]} jobs")
  conclude recordings "$2 features, $kind" "$1"
}

# Compares each device with the first one, after the devices' own cases.
compare_recordings() { # DEVICE
  local features kind found other
  [[ $1 != "${devices[0]}" ]] || return 0
  for features in plain noisy; do
    for kind in best lattices; do
      begin
      found=$work/$1.$features.$kind other=$work/${devices[0]}.$features.$kind
      [[ -f $found.json && -f $other.json ]] || continue
      same_as_other "$found" "$other" "${devices[0]}"
      conclude recordings "$features features, $kind, beside ${devices[0]}" "$1"
    done
  done
}

# Recognises many copies of the 60 utterances in a row; the results must repeat their bytes.
many_case() { # DEVICE FEATURES
  local jobs file files=() first="$work/$1.$2.$kind" prefix=$work/$1.many copies=${COPIES:-64}
  begin
  first_results "$1" "$2" 16
  for file in "$kit/$2.ark" "$first.json" "$first.lat"; do
    [[ ! -f $file ]] || files+=("$file")
  done
  "$here/copies.py" "$copies" "$prefix" "${files[@]}"
  for jobs in "${many_jobs[@]}"; do
    recognize "$prefix" --model "$kit/20k" --device "$1" --features "ark:$prefix.copies.ark" --jobs "$jobs" "${search[@]}" ||
      continue
    differs "$prefix.copies" "$prefix" "of $((60 * copies)) with $jobs jobs than of 60"
    facts+=("$((60 * copies)) with $jobs jobs: the bytes of the 60")
  done
  rm -f "$prefix".*
  conclude many "$2 features, $kind" "$1"
}

# ---- parts --------------------------------------------------------------------------------------------------------------

part_conformance() {
  local id=${1/:/_} log status=0 passed skipped shard n_shards=${SHARDS:-4} shards=()
  log=$out/conformance_$id.log
  [[ $1 == *:* ]] || id+=_0
  begin
  for ((shard = 0; shard < n_shards; ++shard)); do
    GTEST_TOTAL_SHARDS=$n_shards GTEST_SHARD_INDEX=$shard timeout --foreground 540 "$kit/bin/conformance" \
      --gtest_filter="${CONFORMANCE_FILTER:-*_$id}" >"$log.$shard" 2>&1 &
    shards+=($!)
  done
  for shard in "${shards[@]}"; do wait "$shard" || status=$?; done
  cat "$log".* >"$log"
  rm -f "$log".*
  passed=$(grep -c '^\[       OK' "$log") skipped=$(grep -c '^\[  SKIPPED .*ms)$' "$log")
  if ((status != 0)); then
    record conformance "all cases" "$1" failed \
      "status $status: $(grep -m 3 '^\[  FAILED' "$log" | tr '\n' ' ')see $(basename "$log")"
  elif ((passed == 0)); then
    record conformance "all cases" "$1" skipped "no case of this device ran"
  else
    record conformance "all cases" "$1" passed "$passed cases passed, $skipped skipped ($(basename "$log"))"
  fi
}

part_recordings() {
  local features kind
  for features in plain noisy; do
    for kind in best lattices; do recordings_case "$1" "$features"; done
  done
}

part_many() {
  local features kind
  for features in plain noisy; do
    for kind in best lattices; do many_case "$1" "$features"; done
  done
}

# Recognises AN4 and en-us from samples, with cepstra on the device and both kinds of mean in the core. Then the CPU searches
# the device's scores.
part_audio() {
  local set cmn jobs prefix=$work/$1.audio scale kind=lattices
  for set in an4 en-us; do
    begin
    [[ -d $kit/$set ]] || { record audio "$set" "$1" skipped "the kit has no $set"; continue; }
    scale=$(sed -n 's/.*"acoustic_scale": *\([0-9.e-]*\).*/\1/p' "$kit/$set/senone.json")
    awk -v folder="$kit/audio/$set" '{ print folder "/" $1, $2 }' "$kit/audio/$set.list" >"$prefix.list"
    for cmn in model live; do
      begin
      for jobs in 1 16; do
        recognize "$prefix" --model "$kit/$set" --device "$1" --list "$prefix.list" --cmn "$cmn" --jobs "$jobs" ||
          continue
        check "$here/compare_results.py" "$kit/cpu/$set.$cmn.json" "$prefix.json"
        check lattices_match "$prefix.lat" "$kit/cpu/$set.$cmn.lat" "$scale"
      done
      rm -f "$prefix.json" "$prefix.lat"
      conclude audio "$set, $(wc -l <"$prefix.list") recordings, mean: $cmn" "$1"
    done
    begin
    recognize "$prefix" --model "$kit/$set" --device "$1" --search-device cpu --list "$prefix.list" --jobs 16 && {
      check "$here/compare_results.py" "$kit/cpu/$set.model.json" "$prefix.json"
      check lattices_match "$prefix.lat" "$kit/cpu/$set.model.lat" "$scale"
    }
    rm -f "$prefix.json" "$prefix.lat"
    conclude audio "$set, searched on the CPU" "$1"
    # A model fused with itself is itself; the device fuses by this rule.
    begin
    recognize "$prefix" --model "$kit/$set" --device "$1" --fuse "$kit/$set" --fuse-rule log-sum --list "$prefix.list" \
      --jobs 16 && {
      check "$here/compare_results.py" "$kit/cpu/$set.model.json" "$prefix.json"
      check lattices_match "$prefix.lat" "$kit/cpu/$set.model.lat" "$scale"
    }
    rm -f "$prefix.json" "$prefix.lat"
    conclude audio "$set, fused with itself" "$1"
  done
}

# Searches for the warp of each recording, of 21. The device must find those that the CPU found.
part_warps() {
  local set jobs prefix=$work/$1.warps kind=best
  for set in an4 en-us; do
    begin
    [[ -f $kit/cpu/$set.warps ]] || { record warps "$set" "$1" skipped "the kit has no warps of $set"; continue; }
    awk -v folder="$kit/audio/$set" '{ print folder "/" $1, $2 }' "$kit/audio/$set.list" >"$prefix.list"
    for jobs in 1 16; do
      rm -f "$prefix.found"
      recognize "$prefix" --model "$kit/$set" --device "$1" --list "$prefix.list" --jobs "$jobs" --vtln search \
        --vtln-factors 21 --save-warps "$prefix.found" || continue
      if cmp -s "$kit/cpu/$set.warps" "$prefix.found"; then
        facts+=("$(wc -l <"$prefix.found") warps with $jobs jobs: the CPU's")
      else
        problems+=("other warps with $jobs jobs: $(diff "$kit/cpu/$set.warps" "$prefix.found" | grep -c '^>') differ")
      fi
    done
    rm -f "$prefix".*
    conclude warps "$set, 21 factors" "$1"
  done
}

# Asks for wider and wider lattices, with the limits of work and memory as they are and with small ones.
part_widths() {
  local features divisor
  for features in plain noisy; do
    for divisor in 1 16 64; do
      begin
      check env SENONE_LATTICE_LIMITS=$divisor DEVICE="$1" BEAMS="${BEAMS:-4 8 12 16 20 24}" "$here/lattice_widths.sh" "$senone" 60 \
        --model "$kit/20k" --features "ark:$kit/$features.ark" "${search[@]}"
      conclude widths "$features features, limits divided by $divisor" "$1"
    done
  done
}

part_stress() {
  local seconds=${STRESS_SECONDS:-180} said status
  begin
  said=$(timeout --foreground $((seconds + 150)) "$kit/bin/stress" --model "$kit/20k" --features "$kit/plain.ark" --device "$1" \
    --acoustic-scale 0.0769 --seconds "$seconds" --threads 16 --seed "${SEED:-1}" 2>"$out/stress_$1.log")
  status=$?
  case $status in
    0) record stress "16 threads" "$1" passed "$said" ;;
    77) record stress "16 threads" "$1" skipped "$(tail -n 1 "$out/stress_$1.log")" ;;
    124) record stress "16 threads" "$1" failed "did not end within $((seconds + 150)) s" ;;
    *) record stress "16 threads" "$1" failed "status $status: $(head -n 1 "$out/stress_$1.log") $said" ;;
  esac
}

# Recognises on a GPU that another process has filled, as a program for training does. Results must have the bits of those with
# the GPU to itself. OpenCL takes memory of the driver's for each engine, so there the GPU is filled when the engine is loaded.
part_neighbour() {
  local model streams lattice_beam mb when whens=(before after)
  [[ $1 == cuda* ]] || whens=(after)
  while read -r model streams lattice_beam mb; do
    for when in "${whens[@]}"; do neighbour_case "$1" "$model" "$streams" "$lattice_beam" "$mb" "$when"; done
  done <<<"$neighbour_cases"
}

neighbour_case() { # DEVICE MODEL STREAMS LATTICE-BEAM MB before|after
  local name="$3 streams of $2, lattice beam $4, $5 MB left $6 loading" log=$work/$1.neighbour.log said status
  begin
  [[ -d $kit/$2 && -d $kit/audio/an4 ]] || { record neighbour "$name" "$1" skipped "the kit has no $2, or no AN4"; return; }
  awk -v folder="$kit/audio/an4" '{ print folder "/" $1, $2 }' "$kit/audio/an4.list" >"$work/$1.neighbour.list"
  said=$(timeout --foreground 200 "$kit/bin/neighbour" --model "$kit/$2" --list "$work/$1.neighbour.list" --device "$1" \
    --card "${NEIGHBOUR_CARD:-0}" --streams "$3" --lattice-beam "$4" --leave "$5" --when "$6" 2>"$log" </dev/null)
  status=$?
  case $status in
    0) record neighbour "$name" "$1" passed "$said" ;;
    77) record neighbour "$name" "$1" skipped "$(tail -n 1 "$log")" ;;
    124) record neighbour "$name" "$1" failed "did not end within 200 s" ;;
    *) record neighbour "$name" "$1" failed "status $status: $(head -n 1 "$log") $said" ;;
  esac
}

# Recognises a single recording with lattices, so that a cluster of blocks searches it. racecheck is so slow that it gets one
# frame. The tools run in parallel.
part_sanitize() {
  local tool
  begin
  if [[ $1 != cuda* ]]; then
    record sanitize "all tools" "$1" skipped "compute-sanitizer checks CUDA programs only"
  elif ! command -v compute-sanitizer >/dev/null; then
    record sanitize "all tools" "$1" skipped "no compute-sanitizer here"
  else
    for tool in memcheck initcheck synccheck; do sanitize "$1" "$tool" one & done
    sanitize "$1" racecheck cut &
    wait
  fi
}

sanitize() { # DEVICE TOOL ARCHIVE
  local limit=${SANITIZE_SECONDS:-300} log=$out/sanitize_$2.log prefix=$work/sanitize.$2 status
  timeout "$limit" compute-sanitizer --tool "$2" --error-exitcode 9 --log-file "$log" \
    "$senone" recognize --model "$kit/20k" --device "$1" --features "ark:$kit/$3.ark" --jobs 1 "${search[@]}" \
    --lattice-beam 8 --lattice "$prefix.lat" --json >"$prefix.json" 2>"$prefix.log"
  status=$?
  if ((status == 124)) && [[ $2 == racecheck ]]; then
    record sanitize "$2" "$1" skipped "timed out after $limit s"
  elif ((status == 124)); then
    record sanitize "$2" "$1" failed "timed out after $limit s"
  elif ((status != 0)); then
    record sanitize "$2" "$1" failed "status $status: $(tail -n 1 "$log")"
  else
    check "$here/compare_results.py" "$kit/cpu/20k.$3.json" "$prefix.json"
    # The tool's last line counts errors, or for racecheck hazards.
    if grep -qE 'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards' "$log"; then
      facts+=("$(grep -E 'SUMMARY' "$log" | tail -n 1 | sed 's/^=* *//')")
    else
      problems+=("$(tail -n 1 "$log")")
    fi
    conclude sanitize "$2, $3 recording" "$1"
  fi
  rm -f "$prefix".*
}

(($# > 0)) || set -- "${all_parts[@]}"
for part; do
  if [[ " ${all_parts[*]} summary " != *" $part "* ]]; then
    echo "accept.sh: no part \"$part\"; there are ${all_parts[*]}, summary" >&2
    exit 2
  fi
done
register_opencl
parts=("$@")

# take_part DEVICE PART
take_part() {
  local reason
  reason=$(obstacle "$1")
  if [[ -n $reason ]]; then
    begin
    record "$2" "" "$1" skipped "$reason"
  else
    "part_$2" "$1"
  fi
}

# Runs all parts of a device one after the other. Only sanitize runs beside them: it is slow and leaves most of the device free.
# neighbour leaves others no memory, so it comes when all devices are done.
take_parts() { # DEVICE
  local part
  for part in "${parts[@]}"; do
    case $part in
      summary | neighbour) ;;
      sanitize) take_part "$1" sanitize & ;;
      *) take_part "$1" "$part" ;;
    esac
    [[ ${APART:-} != 1 ]] || wait
  done
  wait
  return 0
}

for device in "${devices[@]}"; do
  for part in "${parts[@]}"; do forget "$part" "$device"; done
done
under_way=()
for device in "${devices[@]}"; do
  take_parts "$device" &
  under_way+=($!)
  [[ ${APART:-} != 1 ]] || wait
done
for process in "${under_way[@]}"; do wait "$process" || exit 2; done  # the process has printed the reason
if [[ " ${parts[*]} " == *" neighbour "* ]]; then
  for device in "${devices[@]}"; do take_part "$device" neighbour; done
fi
if [[ " ${parts[*]} " == *" recordings "* ]]; then
  for device in "${devices[@]}"; do compare_recordings "$device"; done
fi
summary
(($(count failed) == 0 && $(count passed) > 0))
