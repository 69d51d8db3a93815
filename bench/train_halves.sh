#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# train_halves.sh SENONE DATA OPTION...: word errors of what `senone train em OPTION...` makes of AN4 (DATA/an4). Models are
# trained on half of the 74 training speakers and counted on the other half, both ways. The bigram has seen all transcripts.
set -euo pipefail
(($# >= 2)) || { sed -n '3,4s/^# //p' "$0" >&2; exit 2; }
senone=$1
data=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
an4=$data/an4
sed "s|.*|$an4/&.flac|" "$an4/etc/an4_train.fileids" |
  awk -v work="$work" -F/ '
    { speaker = $(NF - 1); if (!(speaker in half)) half[speaker] = n++ % 2; print > work "/half" half[speaker] }'
"$senone" import sphinx "$data/cmusphinx_an4_cont8" "$work/model" >/dev/null 2>&1
"$senone" graph --model "$work/model" --lexicon "$an4/etc/an4.dic" --lm "$an4/etc/an4_train.2g.arpa" >/dev/null
for half in 0 1; do
  "$senone" train em --model "$work/model" --lexicon "$an4/etc/an4.dic" --list "$work/half$half" \
    --transcripts "$an4/etc/an4_train.transcription" --out "$work/trained" "$@" | tail -n 2 | head -n 1
  "$senone" recognize --model "$work/trained" --device cpu --list "$work/half$((1 - half))" \
    --hyp "$work/hyp$half" >/dev/null 2>&1
done
cat "$work/hyp0" "$work/hyp1" >"$work/hyp"
"$senone" wer --ignore-case "$an4/etc/an4_train.transcription" "$work/hyp" | head -n 1
