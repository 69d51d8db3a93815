#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fusion.sh SENONE DATA WORK [RULE...]: word errors of AN4 (DATA/an4) with models that `senone train em` makes, alone and fused
# by each rule. Trains ten models, and two pairs for women and men, in WORK, which may hold those of an earlier run:
#   all     on all training speakers; counted on the 65 development recordings, with real-time factors on one thread
#   half0, half1    on half of the training speakers; counted on the other half, both ways together
# Prints a row of a table for each: models, rule, errors of dev, real-time factor, errors of the halves.
set -euo pipefail
(($# >= 3)) || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
senone=$1 data=$2 work=$3
shift 3
rules=("$@")
((${#rules[@]})) || rules=(sum log-sum max follow select)
an4=$data/an4 text=$data/an4/etc/an4_train.transcription
mkdir -p "$work"

# The second front end has other bands.
sed "s|.*|$an4/&.flac|" "$an4/etc/an4_test_dev.fileids" >"$work/dev.list"
sed "s|.*|$an4/&.flac|" "$an4/etc/an4_train.fileids" >"$work/all.list"
awk -v work="$work" -F/ '
  { speaker = $(NF - 1); if (!(speaker in half)) half[speaker] = n++ % 2; print > work "/half" half[speaker] ".list" }' \
  "$work/all.list"
mkdir -p "$work/wide_source"
cp "$data/cmusphinx_an4_cont8"/* "$work/wide_source"
chmod u+w "$work/wide_source"/*
sed -i 's/-lowerf .*/-lowerf 64/; s/-upperf .*/-upperf 7900/; s/-nfilt .*/-nfilt 40/' "$work/wide_source/feat.params"
for model in base wide; do
  source=$data/cmusphinx_an4_cont8
  [[ $model == base ]] || source=$work/wide_source
  [[ -d $work/$model ]] && continue
  "$senone" import sphinx "$source" "$work/$model" >/dev/null 2>&1
  "$senone" graph --model "$work/$model" --lexicon "$an4/etc/an4.dic" --lm "$an4/etc/an4_train.2g.arpa" >/dev/null
done

train() {  # SET NAME FROM LIST OPTION...
  local out=$work/$1/$2 from=$3 list=$4
  shift 4
  [[ -d $out ]] && return
  "$senone" train em --quiet --model "$from" --lexicon "$an4/etc/an4.dic" --list "$list" --transcripts "$text" --out "$out" \
    "$@" >/dev/null
}

for set in all half0 half1; do
  mkdir -p "$work/$set"
  for n in 4 8 16 32; do train $set "d$n" "$work/base" "$work/$set.list" --flat --gaussians $n; done
  for n in 1 2 4 8; do train $set "f$n" "$work/base" "$work/$set.list" --flat --full --gaussians $n; done
  train $set w8 "$work/wide" "$work/$set.list" --flat --gaussians 8
  train $set wf2 "$work/wide" "$work/$set.list" --flat --full --gaussians 2
  for sex in f m; do  # the first letter of a speaker's name
    grep "_clstk/$sex" "$work/$set.list" >"$work/$set.$sex.list"
    train $set "d8$sex" "$work/$set/d8" "$work/$set.$sex.list" --alignments 1
    train $set "f4$sex" "$work/$set/f4" "$work/$set.$sex.list" --full --alignments 1
  done
done

hear() {  # SET LIST HYP RULE MODEL...
  local set=$1 list=$2 hyp=$3 rule=$4 own=$work/$1/$5 fused=()
  shift 5
  for model in "$@"; do fused+=(--fuse "$work/$set/$model"); done
  (($# == 0)) || fused+=(--fuse-rule "$rule")
  "$senone" recognize --quiet --model "$own" --device cpu --threads 1 --jobs 1 --list "$list" --hyp "$hyp" "${fused[@]}" 2>&1 \
    >/dev/null | sed -n 's/.*real-time factor \([0-9.]*\).*/\1/p'
}

percent() {  # TEXT HYP
  "$senone" wer --json --ignore-case "$1" "$2" | sed -n 's/.*"wer_percent": \([0-9.]*\).*/\1/p'
}

row() {  # RULE MODEL...
  local factor dev halves
  factor=$(hear all "$work/dev.list" "$work/hyp" "$@")
  dev=$(percent "$an4/etc/an4_test_dev.transcription" "$work/hyp")
  for half in 0 1; do hear half$half "$work/half$((1 - half)).list" "$work/hyp$half" "$@" >/dev/null; done
  cat "$work/hyp0" "$work/hyp1" >"$work/hyp"
  halves=$(percent "$text" "$work/hyp")
  printf '| %s | %s | %.2f %% | %s | %.2f %% |\n' "${*:2}" "$([[ $# -gt 2 ]] && echo "$1")" "$dev" "$factor" "$halves"
}

for model in d4 d8 d16 d32 f1 f2 f4 f8 w8 wf2; do row sum $model; done
for rule in "${rules[@]}"; do
  row "$rule" d8 f4
  row "$rule" d8 w8
  row "$rule" f8 d16
  row "$rule" d8f d8m
  row "$rule" f4f f4m
  row "$rule" d8f d8m f4f f4m
  row "$rule" f8 f4 d16 w8
  row "$rule" f8 f4 wf2 f2 w8 d16 d32 d8 d4 f1
done
