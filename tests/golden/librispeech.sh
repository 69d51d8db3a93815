#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# librispeech.sh SENONE recognises 60 read sentences with the en-us model and its own trigram, pruned. The words must have no
# more errors than PocketSphinx makes with the whole trigram (29.58 %).
set -euo pipefail
senone=$1
data=${SENONE_TEST_DATA:-}/librispeech_dummy
[[ -d $data ]] || { echo "skipped: SENONE_TEST_DATA names no directory with librispeech_dummy/"; exit 77; }
en_us=/usr/share/pocketsphinx/model/en-us
[[ -d $en_us ]] || { echo "skipped: $en_us is missing; ./dev setup test installs it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$senone" import sphinx "$en_us/en-us" "$work/en-us" >/dev/null 2>&1
"$senone" graph --model "$work/en-us" --lexicon "$en_us/cmudict-en-us.dict" --lm "$en_us/en-us.lm.bin" --prune 1e-7 >/dev/null 2>&1
"$senone" recognize --model "$work/en-us" --device cpu --hyp "$work/hyp" "$data"/*.flac 2>&1 >/dev/null | tail -n 1
awk '{ id = $1; $1 = ""; print tolower(substr($0, 2)) " (" id ")" }' "$data/text" >"$work/ref"
wer=$("$senone" wer --json "$work/ref" "$work/hyp" | sed -n 's/.*"wer_percent": \([0-9.]*\).*/\1/p')
echo "word error rate $wer %, at most 29.58 %"
awk -v wer="$wer" 'BEGIN { exit !(wer != "" && wer <= 29.58) }'
