#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# alignment.sh SENONE aligns AN4 recordings (SENONE_TEST_DATA) with their transcripts, by HTK's monophones of another corpus and
# by CMU Sphinx's triphones of AN4. If both dictionaries give the same phones, their times must agree.
set -euo pipefail
senone=$1
data=${SENONE_TEST_DATA:-}
[[ -n $data && -d $data/htk_prosodylab_eng ]] || { echo "skipped: SENONE_TEST_DATA names no directory with htk_prosodylab_eng/"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
an4=$data/an4 htk=$data/htk_prosodylab_eng

"$senone" import htk "$htk/eng/hmmdefs" "$work/htk" --macros "$htk/eng/macros" >/dev/null 2>&1
"$senone" import sphinx "$data/cmusphinx_an4_cont8" "$work/sphinx" >/dev/null 2>&1

# align MODEL LEXICON SCALE WORDS RECORDING prints "start end phone" in seconds, without silences and stress.
align() {
  printf '#JSGF V1.0;\ngrammar said;\npublic <said> = %s;\n' "$4" >"$work/said.jsgf"
  rm -rf "$work/graph"
  "$senone" graph --model "$work/$1" --lexicon "$2" --jsgf "$work/said.jsgf" --out "$work/graph" >/dev/null
  "$senone" recognize --model "$work/graph" --device cpu --acoustic-scale "$3" --beam 30 --lattice-beam 1 \
    --lattice "$work/lattice" "$5" >/dev/null 2>&1
  "$senone" lattice align "$work/lattice" --model "$work/graph" --acoustic-scale "$3" |
    awk '$5 !~ /^(SIL|sil|sp)$|^\+/ { sub(/[0-9]$/, "", $5); print $3, $3 + $4, $5 }'
}

for id in $(head -n 12 "$an4/etc/an4_test_dev.fileids"); do
  words=$(grep "(${id##*/})" "$an4/etc/an4_test_dev.transcription" | sed 's/<\/*s>//g; s/(.*//')
  align htk "$htk/eng.dict" 0.1 "$words" "$an4/$id.flac" >"$work/a"
  align sphinx "$an4/etc/an4.dic" 0.1 "$words" "$an4/$id.flac" >"$work/b"
  [[ -s $work/shown ]] || { echo "$words: HTK | Sphinx"; paste -d '|' "$work/a" "$work/b" | tee "$work/shown"; }
  if diff -q <(cut -d ' ' -f 3 "$work/a") <(cut -d ' ' -f 3 "$work/b") >/dev/null; then paste -d ' ' "$work/a" "$work/b"; fi >>"$work/same"
done

# Differences between the phones' start times: half are at most two frames, nine of ten at most 0.1 s.
awk '{ off = $1 - $4; print off < 0 ? -off : off }' "$work/same" | sort -n >"$work/off"
awk '
  { off[NR] = $1 }
  END {
    median = off[int((NR + 1) / 2)]; most = off[int(NR * 0.9)]
    printf "%d phones: median of the differences %.3f s, nine of ten within %.3f s\n", NR, median, most
    exit !(NR >= 40 && median <= 0.0201 && most <= 0.1001)
  }' "$work/off"
