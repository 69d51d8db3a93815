#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# accuracy.sh SENONE checks word error rates on recordings of SENONE_TEST_DATA. They must not exceed those of PocketSphinx with
# the same models. With live means they may exceed those with whole utterances' means by at most 1 %. Adapted to the speakers
# they must be far lower.
set -euo pipefail
senone=$1
data=${SENONE_TEST_DATA:-}
[[ -n $data && -d $data/an4 ]] || { echo "skipped: SENONE_TEST_DATA names no directory with an4/"; exit 77; }
en_us=/usr/share/pocketsphinx/model/en-us
[[ -d $en_us ]] || { echo "skipped: $en_us is missing; ./dev setup test installs it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# check NAME LIMIT REF OPTION... compares the errors of bundle $work/NAME on $work/list with the limit, in percent.
check() {
  local name=$1 limit=$2 ref=$3 wer
  shift 3
  "$senone" recognize --model "$work/$name" --device cpu --list "$work/list" --hyp "$work/hyp" "$@" >/dev/null 2>&1
  wer=$("$senone" wer --json --ignore-case "$ref" "$work/hyp" | sed -n 's/.*"wer_percent": \([0-9.]*\).*/\1/p')
  echo "$name $*: word error rate $wer %, at most $limit %"
  awk -v wer="$wer" -v limit="$limit" 'BEGIN { exit !(wer != "" && wer <= limit) }' || status=1
}

an4=$data/an4
sed "s|.*|$an4/&.flac|" "$an4/etc/an4_test_dev.fileids" >"$work/list"
sed -E 's|.*/([^/]+-([^-]+)-.*)|\1 \2|' "$an4/etc/an4_test_dev.fileids" >"$work/utt2spk"

"$senone" import sphinx "$data/cmusphinx_an4_cont8" "$work/an4_cont8" >/dev/null 2>&1
"$senone" graph --model "$work/an4_cont8" --lexicon "$an4/etc/an4.dic" --lm "$an4/etc/an4_train.2g.arpa" >/dev/null
check an4_cont8 14.85 "$an4/etc/an4_test_dev.transcription"
check an4_cont8 13.13 "$an4/etc/an4_test_dev.transcription" --cmn live
check an4_cont8 7.5 "$an4/etc/an4_test_dev.transcription" --adapt fmllr --utt2spk "$work/utt2spk" --jobs 1
cp "$work/hyp" "$work/one_job"
check an4_cont8 7.5 "$an4/etc/an4_test_dev.transcription" --adapt fmllr --utt2spk "$work/utt2spk" --jobs 5 \
  --save-transforms "$work/transforms"
cmp "$work/hyp" "$work/one_job" || status=1
check an4_cont8 7.5 "$an4/etc/an4_test_dev.transcription" --transforms "ark:$work/transforms" --utt2spk "$work/utt2spk"
cmp "$work/hyp" "$work/one_job" || status=1
check an4_cont8 8 "$an4/etc/an4_test_dev.transcription" --adapt mllr --utt2spk "$work/utt2spk" --jobs 1
cp "$work/hyp" "$work/one_job"
check an4_cont8 8 "$an4/etc/an4_test_dev.transcription" --adapt mllr --utt2spk "$work/utt2spk" --jobs 5 \
  --save-mean-transforms "$work/means"
cmp "$work/hyp" "$work/one_job" || status=1
check an4_cont8 8 "$an4/etc/an4_test_dev.transcription" --mean-transforms "ark:$work/means" --utt2spk "$work/utt2spk"
cmp "$work/hyp" "$work/one_job" || status=1
check an4_cont8 7.5 "$an4/etc/an4_test_dev.transcription" --adapt fmllr+mllr --utt2spk "$work/utt2spk"
check an4_cont8 8 "$an4/etc/an4_test_dev.transcription" --vtln search --utt2spk "$work/utt2spk" --jobs 1
cp "$work/hyp" "$work/one_job"
check an4_cont8 8 "$an4/etc/an4_test_dev.transcription" --vtln search --utt2spk "$work/utt2spk" --jobs 5 \
  --save-warps "$work/warps"
cmp "$work/hyp" "$work/one_job" || status=1
check an4_cont8 8 "$an4/etc/an4_test_dev.transcription" --warps "$work/warps" --utt2spk "$work/utt2spk"
cmp "$work/hyp" "$work/one_job" || status=1
check an4_cont8 7.5 "$an4/etc/an4_test_dev.transcription" --vtln search --adapt fmllr --utt2spk "$work/utt2spk"

"$senone" import sphinx "$en_us/en-us" "$work/en-us" >/dev/null 2>&1
"$senone" graph --model "$work/en-us" --lexicon "$en_us/cmudict-en-us.dict" --case lower --lm "$an4/etc/an4_train.2g.arpa" >/dev/null
check en-us 13.12 "$an4/etc/an4_test_dev.transcription"
check en-us 12.63 "$an4/etc/an4_test_dev.transcription" --cmn live
check en-us 10 "$an4/etc/an4_test_dev.transcription" --adapt fmllr --utt2spk "$work/utt2spk"
exit $status
