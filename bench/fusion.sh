#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fusion.sh SENONE DATA WORK: word errors of AN4 (DATA/an4) with models that `senone train em` makes, alone and fused.
# Trains in WORK, which may hold the models of an earlier run, and prints rows of two tables:
#   dev       ten models, and two pairs for women and men, of all training speakers; the 65 development recordings; with the
#             processor time for a second of audio
#   halves    some of them, of half of the training speakers; the other half, both ways together
set -euo pipefail
(($# == 3)) || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
senone=$1 data=$2 work=$3
rules=(sum log-sum max follow select)
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
  diagonal="4 8 16 32" full="1 2 4"
  [[ $set == all ]] || diagonal="8 16" full=4
  for n in $diagonal; do train $set "d$n" "$work/base" "$work/$set.list" --flat --gaussians "$n"; done
  for n in $full; do train $set "f$n" "$work/base" "$work/$set.list" --flat --full --gaussians "$n"; done
  for sex in f m; do  # the first letter of a speaker's name
    grep "_clstk/$sex" "$work/$set.list" >"$work/$set.$sex.list"
    train $set "d8$sex" "$work/$set/d8" "$work/$set.$sex.list" --alignments 1
    train $set "f4$sex" "$work/$set/f4" "$work/$set.$sex.list" --full --alignments 1
  done
  for n in 4 8; do
    [[ $set-$n == half?-4 ]] || train $set w$n "$work/wide" "$work/$set.list" --flat --gaussians $n
  done
  train $set wf2 "$work/wide" "$work/$set.list" --flat --full --gaussians 2
done

hear() {  # SET LIST HYP RULE MODEL...; sets `cost`, processor seconds for a second of audio
  local own=$work/$1/$5 set=$1 list=$2 hyp=$3 rule=$4 fused=() TIMEFORMAT='%U %S' used audio
  shift 5
  for model in "$@"; do fused+=(--fuse "$work/$set/$model"); done
  (($# == 0)) || fused+=(--fuse-rule "$rule")
  used=$({ time "$senone" recognize --quiet --model "$own" --device cpu --threads 1 --jobs 1 --list "$list" --hyp "$hyp" \
    "${fused[@]}" >/dev/null 2>"$work/log"; } 2>&1)
  audio=$(sed -n 's/.* utterances, \([0-9.]*\) s of audio.*/\1/p' "$work/log")
  cost=$(awk -v audio="$audio" '{ printf "%.4f", ($1 + $2) / audio }' <<<"$used")
}

percent() {  # TEXT HYP
  "$senone" wer --json --ignore-case "$1" "$2" | sed -n 's/.*"wer_percent": \([0-9.]*\).*/\1/p'
}

dev() {  # RULE MODEL...
  hear all "$work/dev.list" "$work/hyp" "$@"
  printf 'dev | %s | %s | %.2f %% | %s\n' "${*:2}" "$1" "$(percent "$an4/etc/an4_test_dev.transcription" "$work/hyp")" "$cost"
}

halves() {  # RULE MODEL...
  for half in 0 1; do hear half$half "$work/half$((1 - half)).list" "$work/hyp$half" "$@"; done
  cat "$work/hyp0" "$work/hyp1" >"$work/hyp"
  printf 'halves | %s | %s | %.2f %% |\n' "${*:2}" "$1" "$(percent "$text" "$work/hyp")"
}

for model in d4 d8 d16 d32 f1 f2 f4 w4 w8 wf2 d8f d8m f4f f4m; do dev - $model; done
for rule in "${rules[@]}"; do
  dev "$rule" d8 f4
  dev "$rule" d16 f4
  dev "$rule" d8 w8
  dev "$rule" d8f d8m
  dev "$rule" f4f f4m
  dev "$rule" d8f d8m f4f f4m
  dev "$rule" f4 wf2 w8 d16
  dev "$rule" f4 f2 wf2 w8 d16 d32 d8 w4 d4 f1
done
for model in d8 d16 f4 w8 wf2; do halves - $model; done
for rule in "${rules[@]}"; do
  halves "$rule" d8 f4
  halves "$rule" d16 f4
  halves "$rule" d8 w8
  halves "$rule" d8f d8m
  halves "$rule" f4f f4m
  halves "$rule" d8f d8m f4f f4m
  halves "$rule" f4 wf2 w8 d16
done
