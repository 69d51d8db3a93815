#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records and reports the cases of bench/accept.sh, and examines devices; sourced by it, not run. It uses the variables kit,
# out, senone, lines (the file of results), devices, all_parts.
# shellcheck shell=bash disable=SC2154,SC2034

# ---- results: a line for each case, fields separated by tabs -----------------------------------------------------------

stop() { # REASON: the run cannot go on
  echo "accept.sh: $1" >&2
  exit 2
}
cannot_write() { stop "$out cannot be written to any more, so results are lost; make room there, or set OUT to another folder"; }

forget() { # PART DEVICE: its lines of an earlier run
  awk -F '\t' -v part="$1" -v device="$2" '!($1 == part && $3 == device)' "$lines" >"$lines.new" || cannot_write
  mv "$lines.new" "$lines" || cannot_write
}

begin() { began=$EPOCHREALTIME problems=() facts=(); }

record() { # PART CASE DEVICE OUTCOME DETAIL
  local seconds
  seconds=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$seconds" "${5//[$'\t\n']/ }" >>"$lines" || cannot_write
  printf '%-8s %s, %s, %s (%s s): %s\n' "$4" "$1" "$2" "$3" "$seconds" "$5"
}

joined() { local IFS=';' text; text="$*"; echo "${text//;/; }"; }

conclude() { # PART CASE DEVICE: failed if there are problems, else passed with the facts
  if ((${#problems[@]} > 0)); then
    record "$1" "$2" "$3" failed "$(joined "${problems[@]:0:4}")"
  else
    record "$1" "$2" "$3" passed "$(joined "${facts[@]}")"
  fi
}

# check COMMAND... records the command's one line as a fact on success, else as a problem.
check() {
  local said
  if said=$("$@" 2>&1); then facts+=("$said"); else problems+=("${said:-$1 failed}"); return 1; fi
}

# ---- devices ------------------------------------------------------------------------------------------------------------

device_name() { # DEVICE: its name in the driver; empty if it is unusable
  "$senone" devices | sed -nE "s/^$1(:[0-9]+)? +.* GiB +//p" | head -n 1
}

register_opencl() {
  local file=/etc/OpenCL/vendors/nvidia.icd library
  [[ ${SENONE_FIX_ICD:-} == 1 && ! -f $file && "${devices[*]}" == *ocl_* ]] || return 0
  library=$(find / -name libnvidia-opencl.so.1 -not -path '/proc/*' 2>/dev/null | head -n 1)
  [[ -n $library ]] && mkdir -p "$(dirname "$file")" && echo "$library" >"$file" && echo "wrote $file: $library"
}

# Prints why a device cannot be accepted; nothing if it can.
obstacle() {
  local name
  name=$(device_name "$1")
  if [[ -z $name ]]; then
    echo "no device $1: $("$senone" devices | sed -n "s/^not used: //p" | grep "$1" | head -n 1)"
  elif [[ ${ANY_DEVICE:-} != 1 && ($1 == cpu* || $name == pthread* || $name == cpu-*) ]]; then
    echo "$1 is no GPU but $name; SENONE_FIX_ICD=1 registers NVIDIA's OpenCL where $1 needs it"
  fi
}

# ---- the summary --------------------------------------------------------------------------------------------------------

count() { awk -F '\t' -v outcome="$1" '$4 == outcome' "$lines" | wc -l; }

# Lists the parts without any results yet.
not_run() {
  local part device
  for part in "${all_parts[@]}"; do
    for device in "${devices[@]}"; do
      cut -f 1,3 "$lines" | grep -qx "$part"$'\t'"$device" || printf '%s\t\t%s\tskipped\t0\tnot run\n' "$part" "$device"
    done
  done
}

summary() {
  local gpu driver commit file n_skipped device
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
  [[ -n $gpu ]] || gpu=$(device_name "${devices[0]}")
  [[ -n $gpu ]] || gpu="no device"
  file=$out/accept_$(tr '[:upper:] ' '[:lower:]_' <<<"$gpu" | tr -cd 'a-z0-9_').md
  commit=$(cat "$kit/commit" 2>/dev/null)
  not_run >"$lines.not_run"
  n_skipped=$(($(count skipped) + $(wc -l <"$lines.not_run")))
  {
    echo "# Acceptance on $gpu"
    echo
    echo "\`bench/gpu.sh accept\`, driver ${driver:-unknown}, $(date -u +%Y-%m-%d), commit ${commit:-unknown}."
    for device in "${devices[@]}"; do echo "\`$device\`: $(device_name "$device")."; done
    echo
    echo "| part | case | device | outcome | seconds | details |"
    echo "|---|---|---|---|---|---|"
    sort -s -t $'\t' -k 1,1 -k 3,3 "$lines" "$lines.not_run" | sed 's,|,/,g; s/\t/ | /g; s/^/| /; s/$/ |/'
    echo
    echo "$(count passed) passed, $(count failed) failed, $n_skipped skipped"
  } >"$file" || cannot_write
  rm -f "$lines.not_run"
  echo "$file"
  tail -n 1 "$file"
}
