#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# train_data.sh SENONE: what `senone train em` says of data and options that it cannot use, on recordings of
# SENONE_TEST_DATA. A full disk ends it and leaves nothing behind.
set -euo pipefail
senone=$1
data=${SENONE_TEST_DATA:-}
[[ -n $data && -d $data/an4 ]] || { echo "skipped: SENONE_TEST_DATA names no directory with an4/"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
fail() { echo "train_data.sh: $*" >&2; status=1; }

an4=$data/an4
mkdir "$work/out"
"$senone" import sphinx "$data/cmusphinx_an4_cont8" "$work/an4" >/dev/null 2>&1
head -n 30 "$an4/etc/an4_train.fileids" | sed "s|.*|$an4/&.flac|" >"$work/list"
cp "$an4/etc/an4_train.transcription" "$work/text"

# train LIST OPTION...: without --list if LIST is empty; the log is $work/log.
train() {
  local list=$1
  shift
  "$senone" train em --model "$work/an4" --lexicon "$an4/etc/an4.dic" ${list:+--list "$list"} --transcripts "$work/text" \
    --out "$work/out/new" "$@" >"$work/log" 2>&1
}

# says MESSAGE...: the log has each.
says() {
  local message
  for message in "$@"; do grep -q -- "$message" "$work/log" || fail "not said: $message: $(cat "$work/log")"; done
}

# refuses STATUS MESSAGE LIST OPTION...: training ends so, and leaves nothing behind.
refuses() {
  local expected=$1 message=$2 got=0
  shift 2
  train "$@" || got=$?
  ((got == expected)) || fail "exit status $got instead of $expected: $*: $(cat "$work/log")"
  says "$message"
  [[ -z $(ls -A "$work/out") ]] || fail "left behind: $(ls -A "$work/out")"
  rm -rf "$work"/out/*
}

# A full disk under the file of features; the limits are multiples of 1024 bytes.
for limit in 100 700 1200; do
  (ulimit -f "$limit" && refuses 1 'the file of features cannot be written: File too large' "$work/list" --flat; exit $status) ||
    status=1
done

# Two recordings of one name, which would have one transcript.
again=$(sed -n 2p "$work/list")
mkdir "$work/other"
cp "$again" "$work/other"
{ cat "$work/list"; echo "$work/other/${again##*/}"; } >"$work/twice"
refuses 1 'twice: lines 2 and 31 both have the id "an253-fash-b"; give each recording an id of its own' "$work/twice"

# A recording without its end: a header of 32000 bytes of samples, and 30000 of them.
{
  printf 'RIFF\x24\x7d\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\0\x7d\0\0'
  head -c 30000 /dev/zero
} >"$work/cut.wav"
{ tail -n +2 "$work/list"; echo "$work/cut.wav an251-fash-b"; } >"$work/cut"
train "$work/cut" && fail "an utterance was left out with status 0"
[[ -e $work/out/new/acoustic.bin ]] || fail "not trained: $(cat "$work/log")"
says 'left out: an251-fash-b: .*cut.wav: is cut short: 2000 bytes that its header tells of are missing' '1 of 30 utterances'
rm -r "$work/out/new"

# A byte order mark, which editors put in front of UTF-8.
for name in list text; do
  { printf '\xef\xbb\xbf'; cat "$work/$name"; } >"$work/marked" && mv "$work/marked" "$work/$name"
done
train "$work/list" || fail "not trained: $(cat "$work/log")"
says 'from 30 utterances'
rm -r "$work/out/new"

# Options that would change nothing.
for options in '--smooth 5' '--smooth-to shared' '--flat --smooth-to diagonal'; do
  # shellcheck disable=SC2086
  refuses 2 '--smooth and --smooth-to are for full covariances; give --full too' "$work/list" $options
done
for options in '--share-covariances all' '--flat --share-correlations state'; do
  # shellcheck disable=SC2086
  refuses 2 '--share-covariances and --share-correlations are for full covariances; give --full too' "$work/list" $options
done
refuses 2 '--semi-tied is for diagonal covariances, and --full ones are the same in any space; give one of the two' \
  "$work/list" --full --semi-tied
refuses 2 '--gaussians 4 is below the 8 that a state of .*an4 has; give more, or --flat' "$work/list" --gaussians 4

# Lists of nothing, transcripts without a recording, and reasons that name their utterance once and say what to do.
echo '# nothing' >"$work/nothing"
refuses 1 'nothing: names no recordings; give a line each' "$work/nothing"
train "$work/list" || fail "not trained: $(cat "$work/log")"
says 'senone: note: 918 of 948 lines of .*text have no recording'
rm -r "$work/out/new"
printf 'ZORK (an251-fash-b)\n(an253-fash-b)\nGO (an253-fash)\n' >"$work/text"
refuses 1 "none of its 30 utterances can be trained on; the first, an251-fash-b: 'ZORK' has no pronunciation; add it to" "$work/list"
tail -n +2 "$work/list" >"$work/rest"
refuses 1 'the first, an253-fash-b: .*text has no words for it; write what was said$' "$work/rest"
printf 'short  [\n 1 2\n ]\n' >"$work/archive"
echo 'GO (short)' >"$work/text"
refuses 1 'the first, short: rows have 2 values' "" --features "ark:$work/archive"

# Features that the new transform would have to change are not at hand in archives of them.
{ echo 'short  ['; for _ in 1 2 3; do seq -s ' ' 1 39; done; echo ' ]'; } >"$work/archive"
refuses 2 "--semi-tied changes the model's features, and ark:.*archive has them as they were; give recordings or MFCCs" "" \
  --features "ark:$work/archive" --semi-tied

# Models that --semi-tied is not for: full covariances, and features in several streams.
models=$data/cmusphinx_hub4wsj_sc_8k/model/hmm/en_US/hub4wsj_sc_8k
echo 'YES (an251-fash-b)' >"$work/text"
"$senone" train em --model "$work/an4" --lexicon "$an4/etc/an4.dic" --list "$work/list" --transcripts "$work/text" \
  --out "$work/full" --full >/dev/null 2>&1 && fail "29 of 30 utterances were left out with status 0"
mv "$work/an4" "$work/diagonal" && mv "$work/full" "$work/an4"
refuses 2 '--semi-tied is for diagonal covariances, and .*an4 has full ones; leave it out, or give --flat' "$work/list" --semi-tied
if [[ -d $models ]]; then
  rm -r "$work/an4"
  "$senone" import sphinx "$models" "$work/an4" >/dev/null 2>&1
  refuses 1 'all features at once, but .*an4 has 3 streams of them; leave it out, or train a model with one stream' \
    "$work/list" --semi-tied
fi

# `senone import --smooth`: precisions of [[2, 1], [1, 2]] become those of [[2, 0.5], [0.5, 2]].
cat >"$work/hmmdefs" <<'END'
~o <VecSize> 2 <FULLC> <USER>
~h x <BEGINHMM> <NUMSTATES> 3 <STATE> 2 <MEAN> 2 1 2 <INVCOVAR> 2 0.6666667 -0.3333333 0.6666667
<TRANSP> 3 0 1 0 0 0.5 0.5 0 0 0 <ENDHMM>
END
"$senone" import htk "$work/hmmdefs" "$work/out/new" --features-only --smooth 0.5 --smooth-to diagonal >"$work/log" 2>&1 ||
  fail "not imported: $(cat "$work/log")"
numbers=$(od -An -v -w4 -t f4 "$work/out/new/acoustic.bin" | awk '{ printf "%.4f ", $1 }')
[[ $numbers == *' 0.5333 -0.1333 0.5333 '* ]] || fail "not smoothed: $numbers"
"$senone" import sphinx "$data/cmusphinx_an4_cont8" "$work/out/other" --smooth 0.5 >"$work/log" 2>&1 && fail "diagonal and smoothed"
says 'import: --smooth is for full covariances, and the model has diagonal ones; leave it out'

exit $status
