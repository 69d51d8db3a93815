#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# train_new.sh SENONE: bundles that `senone train` makes without a model, of recordings of AN4 (SENONE_TEST_DATA). Word errors
# of monophones and of triphones with LDA are below limits, files are the same with any number of threads, and data that cannot
# be used is named.
set -euo pipefail
senone=$1
data=${SENONE_TEST_DATA:-}
[[ -n $data && -d $data/an4 ]] || { echo "skipped: SENONE_TEST_DATA names no directory with an4/"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
fail() { echo "train_new.sh: $*" >&2; status=1; }

an4=$data/an4
sed "s|.*|$an4/&.flac|" "$an4/etc/an4_train.fileids" | awk 'NR % 4 == 0' >"$work/train"
sed "s|.*|$an4/&.flac|" "$an4/etc/an4_test_dev.fileids" >"$work/dev"

# train OUT OPTION...; the log is $work/log.
train() {
  local out=$1
  shift
  "$senone" train "$work/train" --lexicon "$an4/etc/an4.dic" --transcripts "$an4/etc/an4_train.transcription" \
    --out "$work/$out" "$@" >"$work/log" 2>&1
}

# check BUNDLE LIMIT: word errors in percent.
check() {
  local wer
  "$senone" graph --model "$work/$1" --lexicon "$an4/etc/an4.dic" --lm "$an4/etc/an4_train.2g.arpa" >/dev/null
  "$senone" recognize --model "$work/$1" --device cpu --list "$work/dev" --hyp "$work/hyp" >/dev/null 2>&1
  wer=$("$senone" wer --json --ignore-case "$an4/etc/an4_test_dev.transcription" "$work/hyp" |
    sed -n 's/.*"wer_percent": \([0-9.]*\).*/\1/p')
  echo "$1: word error rate $wer %, at most $2 %"
  awk -v wer="$wer" -v limit="$2" 'BEGIN { exit !(wer != "" && wer <= limit) }' || status=1
}

train monophones --until monophones || fail "$(cat "$work/log")"
check monophones 25
for jobs in 1 3; do train "lda$jobs" --gaussians 2 --jobs $jobs || fail "$(cat "$work/log")"; done
grep -q 'from 237 recordings' "$work/log" || fail "left out: $(cat "$work/log")"
check lda1 30
cmp "$work/lda1/acoustic.bin" "$work/lda3/acoustic.bin" || status=1
cmp "$work/lda1/hmms.bin" "$work/lda3/hmms.bin" || status=1

head -n 20 "$work/train" >"$work/few" && mv "$work/few" "$work/train"
echo "$work/none.wav" >>"$work/train"
got=0
train few --until monophones || got=$?
((got == 1)) || fail "exit status $got with a recording that is missing"
grep -q 'left out: none: ' "$work/log" || fail "not named: $(cat "$work/log")"
[[ -f $work/few/acoustic.bin ]] || fail "no bundle of the others"
got=0
"$senone" train --lexicon "$an4/etc/an4.dic" --out "$work/no" 2>"$work/log" || got=$?
((got == 2)) || fail "exit status $got without recordings"
exit $status
