#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# train_halves.sh SENONE DATA [NAME OPTIONS GAUSSIANS...] > JSON: word errors of what `senone train em` makes of AN4
# (DATA/an4). Models are trained on half of the 74 training speakers and counted on the other half, both ways. The bigram has
# seen all transcripts. Without NAME there are rows of four kinds of covariances, else of one: OPTIONS, a single argument, are
# its options. n_parameters are those of the first half. bench/figures draws bench/results/train_halves_an4.json as a table and
# figure of Vaněk et al. 2012b.
set -euo pipefail
(($# == 2 || $# >= 5)) || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
senone=$1 data=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
an4=$data/an4
text=$an4/etc/an4_train.transcription
sed "s|.*|$an4/&.flac|" "$an4/etc/an4_train.fileids" |
  awk -v work="$work" -F/ '
    { speaker = $(NF - 1); if (!(speaker in half)) half[speaker] = n++ % 2; print > work "/half" half[speaker] }'
"$senone" import sphinx "$data/cmusphinx_an4_cont8" "$work/model" >/dev/null 2>&1
"$senone" graph --model "$work/model" --lexicon "$an4/etc/an4.dic" --lm "$an4/etc/an4_train.2g.arpa" >/dev/null

# number NAME < JSON prints the number of that name, with at most two decimals.
number() { sed -n "s/.*\"$1\": *\([-0-9.e]*\).*/\1/p" | awk '{ print sprintf("%.2f", $1) + 0 }'; }

# measure OPTION... sets `parameters`, and writes $work/wer.
measure() {
  local half
  for half in 0 1; do
    "$senone" train em --quiet --model "$work/model" --lexicon "$an4/etc/an4.dic" --list "$work/half$half" \
      --transcripts "$text" --out "$work/trained" "$@" |
      sed -n 's/.* \([0-9]*\) parameters,.*/\1/p' >"$work/parameters$half"
    "$senone" recognize --model "$work/trained" --device cpu --list "$work/half$((1 - half))" \
      --hyp "$work/hyp$half" >/dev/null 2>&1
  done
  parameters=$(<"$work/parameters0")
  cat "$work/hyp0" "$work/hyp1" >"$work/hyp"
  "$senone" wer --ignore-case --json "$text" "$work/hyp" >"$work/wer"
}

# kind NAME OPTIONS GAUSSIANS... adds rows to $work/rows.
kind() {
  local name=$1 options=$2 gaussians
  shift 2
  for gaussians in "$@"; do
    local all="$options --gaussians $gaussians"
    # shellcheck disable=SC2086  # several options
    measure $all
    printf '%s    {\n      "covariances": "%s",\n      "gaussians": %s,\n' "$comma" "$name" "$gaussians"
    printf '      "options": "%s",\n      "n_parameters": %s,\n' "$all" "$parameters"
    printf '      "wer_percent": %s\n    }' "$(number wer_percent <"$work/wer")"
    comma=$',\n'
  done >>"$work/rows"
}

comma=
if (($# > 0)); then
  kind "$@"
else
  kind "diagonal" "--flat" 4 6 8 16 32 64
  kind "semi-tied" "--flat --semi-tied" 2 4 6 8 16 32 64
  kind "full, one for all" "--flat --full --share-covariances all" 4 8 16 32 64
  kind "full" "--flat --full" 1 2 4 8
fi
printf '{\n  "benchmark": "train_halves",\n  "device": "cpu:0",\n  "cpu": "%s",\n' \
  "$(sed -n '/^model name/{s/.*: //p;q}' /proc/cpuinfo)"
printf '  "version": "%s",\n  "date": "%s",\n' "$("$senone" --version | awk '{ print $NF }')" "$(date -u +%F)"
printf '  "options": {\n    "command": "bench/train_halves.sh",\n    "set": "AN4, halves of the training speakers",\n'
printf '    "words": %s\n  },\n  "results": [\n' "$(number words <"$work/wer")"
cat "$work/rows"
printf '\n  ]\n}\n'
