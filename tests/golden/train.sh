#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# train.sh SENONE: models trained by `senone train em` from the flat start on recordings of SENONE_TEST_DATA. Error
# rates of AN4's development half with diagonal and full covariances are below limits. Files are the same with any
# number of threads. Models of both kinds are fused, models and archives of Kaldi are taken, and utterances that are
# left out are named. Semi-tied and shared covariances have limits of their own; the former's transform goes with
# adaptation, warps and fusion. PLP features and alignment from lattices have limits too.
set -euo pipefail
senone=$1
data=${SENONE_TEST_DATA:-}
[[ -n $data && -d $data/an4 ]] || { echo "skipped: SENONE_TEST_DATA names no directory with an4/"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
fail() { echo "train.sh: $*" >&2; status=1; }

# train OUT OPTION...: trains the HMMs of bundle $base on AN4, on the recordings of $list; the log is $work/log.
an4=$data/an4
base=$work/an4
list=$work/train
train() {
  local out=$1
  shift
  "$senone" train em --model "$base" --lexicon "$an4/etc/an4.dic" --list "$list" \
    --transcripts "$an4/etc/an4_train.transcription" --out "$work/$out" "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

# check BUNDLE LIST REF LIMIT OPTION...: word errors in percent.
check() {
  local bundle=$1 list=$2 ref=$3 limit=$4 wer
  shift 4
  "$senone" recognize --model "$work/$bundle" --device cpu --list "$list" --hyp "$work/hyp" "$@" >/dev/null 2>&1
  wer=$("$senone" wer --json --ignore-case "$ref" "$work/hyp" | sed -n 's/.*"wer_percent": \([0-9.]*\).*/\1/p')
  echo "$bundle $*: word error rate $wer %, at most $limit %"
  awk -v wer="$wer" -v limit="$limit" 'BEGIN { exit !(wer != "" && wer <= limit) }' || status=1
}

# The log-likelihoods of a step's rounds; each must be above the one before.
check_rising() {
  sed -n 's/^step \([0-9]*\) of .*, log-likelihood per frame \([-0-9.]*\).*/\1 \2/p' "$work/log" >"$work/rounds"
  (($(wc -l <"$work/rounds") >= $1)) || fail "fewer than $1 rounds: $(cat "$work/log")"
  awk '$1 == step && $2 < last - 0.0001 { exit 1 } { step = $1; last = $2 }' "$work/rounds" ||
    fail "a round fell: $(cat "$work/log")"
}

sed "s|.*|$an4/&.flac|" "$an4/etc/an4_train.fileids" >"$work/train"
awk 'NR % 2 == 0' "$work/train" >"$work/half"
sed "s|.*|$an4/&.flac|" "$an4/etc/an4_test_dev.fileids" >"$work/dev"
awk -F/ '{ print $NF, $(NF - 1) }' "$an4/etc/an4_test_dev.fileids" >"$work/utt2spk"
"$senone" import sphinx "$data/cmusphinx_an4_cont8" "$work/an4" >/dev/null 2>&1
"$senone" graph --model "$work/an4" --lexicon "$an4/etc/an4.dic" --lm "$an4/etc/an4_train.2g.arpa" >/dev/null

train diagonal --flat --gaussians 8
check_rising 33
check diagonal "$work/dev" "$an4/etc/an4_test_dev.transcription" 11.2
grep -q 'from 948 utterances' "$work/log" || fail "left out: $(cat "$work/log")"
grep -q '"train"' "$work/diagonal/senone.json" || fail "senone.json does not tell of the training"
train full --flat --gaussians 4 --full
check full "$work/dev" "$an4/etc/an4_test_dev.transcription" 9
check full "$work/dev" "$an4/etc/an4_test_dev.transcription" 8 --adapt fmllr --utt2spk "$work/utt2spk"
check full "$work/dev" "$an4/etc/an4_test_dev.transcription" 7.5 --adapt mllr --utt2spk "$work/utt2spk"
check full "$work/dev" "$an4/etc/an4_test_dev.transcription" 7 --vtln search --utt2spk "$work/utt2spk"

# Fused, the two make at most the errors of the better one, with any number of streams.
for jobs in 1 5; do
  check full "$work/dev" "$an4/etc/an4_test_dev.transcription" 9 --fuse "$work/diagonal" --fuse-rule log-sum --jobs $jobs
  cp "$work/hyp" "$work/jobs$jobs.hyp"
done
cmp "$work/jobs1.hyp" "$work/jobs5.hyp" || status=1

# PLP in place of MFCC: the front end of the bundle decides. A warp is searched for by its likelihood, as with MFCC.
base=$work/an4_plp
cp -r "$work/an4" "$base"
sed -i 's/"n_ceps": 13,/&"lpc_order": 12,"compression": 0.33333,/; s/"log_floor": 0.0/"log_floor": 1.0/' "$base/senone.json"
for field in noise_removal triangles_in_hz unit_area round_edges_to_bins cmn_skip_negative_c0; do
  sed -i "s/\"$field\": true/\"$field\": false/" "$base/senone.json"
done
train plp --flat --gaussians 8
check plp "$work/dev" "$an4/etc/an4_test_dev.transcription" 9.5
check plp "$work/dev" "$an4/etc/an4_test_dev.transcription" 6.5 --vtln search
base=$work/an4

# Semi-tied covariances: the front end has their transform, and all that works on features works on theirs.
train tied --flat --gaussians 8 --semi-tied
check_rising 33
grep -q '"transform_rows": 39' "$work/tied/senone.json" || fail "the front end has no transform"
check tied "$work/dev" "$an4/etc/an4_test_dev.transcription" 8.5
check tied "$work/dev" "$an4/etc/an4_test_dev.transcription" 8.5 --adapt fmllr
check tied "$work/dev" "$an4/etc/an4_test_dev.transcription" 8.5 --vtln search
check tied "$work/dev" "$an4/etc/an4_test_dev.transcription" 8.5 --fuse "$work/diagonal" --fuse-rule log-sum

# Frames shared among the states of lattices.
train lattices --flat --gaussians 8 --lattice-beam 2
check_rising 33
check lattices "$work/dev" "$an4/etc/an4_test_dev.transcription" 10
cmp -s "$work/lattices/acoustic.bin" "$work/diagonal/acoustic.bin" && fail "lattices train the model that paths train"

# Covariances in classes, and more Gaussians for silence alone. A class has 780 numbers.
train classes --flat --gaussians 4 --silence-gaussians 16 --full --share-covariances 32
check_rising 40
check classes "$work/dev" "$an4/etc/an4_test_dev.transcription" 12
(($(stat -c %s "$work/classes/acoustic.bin") * 5 < $(stat -c %s "$work/full/acoustic.bin"))) || fail "no classes"

# One full covariance for all Gaussians is written once: 780 numbers of precisions instead of 780 for each.
list=$work/half
train shared --flat --gaussians 4 --full --share-covariances all
check_rising 20
check shared "$work/dev" "$an4/etc/an4_test_dev.transcription" 12
(($(stat -c %s "$work/shared/acoustic.bin") * 10 < $(stat -c %s "$work/full/acoustic.bin"))) || fail "it is not shared"

head -n 40 "$work/train" >"$work/some" && mv "$work/some" "$work/train"
list=$work/train
for options in '--full' '--full --share-covariances state' '--full --share-covariances 8 --silence-gaussians 4' \
  '--full --share-correlations all' '--lattice-beam 3' '--semi-tied'; do
  for jobs in 1 3; do
    # shellcheck disable=SC2086
    train "jobs$jobs" --flat --gaussians 2 $options --jobs $jobs
    sed -n '/"transform": /,/]/p' "$work/jobs$jobs/senone.json" >"$work/transform$jobs"
  done
  cmp "$work/jobs1/acoustic.bin" "$work/jobs3/acoustic.bin" || status=1
  cmp "$work/transform1" "$work/transform3" || status=1
done
(($(wc -l <"$work/transform1") > 1500)) || fail "no transform of 39 x 39 values"

# Training goes on from a model with a transform: as it is the transform stays, else the new one comes after it.
"$senone" train em --model "$work/jobs1" --lexicon "$an4/etc/an4.dic" --list "$work/train" \
  --transcripts "$an4/etc/an4_train.transcription" --out "$work/again" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
sed -n '/"transform": /,/]/p' "$work/again/senone.json" | cmp - "$work/transform1" || status=1
"$senone" train em --model "$work/jobs1" --lexicon "$an4/etc/an4.dic" --list "$work/train" --semi-tied \
  --transcripts "$an4/etc/an4_train.transcription" --out "$work/again" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
sed -n '/"transform": /,/]/p' "$work/again/senone.json" | cmp -s - "$work/transform1" && fail "the transform is the old one"

# A word without a pronunciation, no transcript, no recording, and no path.
{ head -n 20 "$work/train"; echo "$work/none.flac an99-fash-b"; } >"$work/list"
{
  sed -n '3,20p' "$an4/etc/an4_train.transcription" | sed '1s/YES/ZORK/'
  printf 'YES (an99-fash-b)\nNO (an251-fash-b)\n'
} >"$work/text"
"$senone" train em --model "$work/an4" --lexicon "$an4/etc/an4.dic" --list "$work/list" --transcripts "$work/text" \
  --out "$work/some" >"$work/log" 2>&1 && fail "utterances were left out with status 0"
[[ -e $work/some/acoustic.bin ]] || fail "not trained: $(cat "$work/log")"
for message in "an254-fash-b: 'ZORK' has no pronunciation" "an253-fash-b: .*text has no line for it" \
  'an99-fash-b: .*No such file' '3 of 21 utterances were left out'; do
  grep -q "$message" "$work/log" || fail "not named: $message: $(cat "$work/log")"
done
"$senone" train em --model "$work/an4" --lexicon "$an4/etc/an4.dic" --list "$work/dev" --transcripts "$work/text" \
  --out "$work/none" >"$work/log" 2>&1 && fail "trained on nothing"
grep -q 'none of its 65 utterances can be trained on' "$work/log" || fail "$(cat "$work/log")"
[[ ! -e $work/none ]] || fail "a bundle of nothing"

from=$data/kaldi_yesno
if [[ -d $from ]]; then
  for set in train test; do
    awk -v folder="$from/waves_yesno" '{ print folder "/" $1 ".wav", $1 }' "$from/data/${set}_yesno/wav.scp" >"$work/$set"
  done
  awk '{ print $2 }' "$work/test" >"$work/tested"
  "$senone" import kaldi "$from/exp/mono/40.mdl" "$work/kaldi" --phones "$from/exp/mono/graph/phones.txt" \
    --mfcc-conf "$from/conf/mfcc.conf" >/dev/null 2>&1
  graph=$from/exp/mono/graph
  "$senone" graph --model "$work/kaldi" --hclg "$graph/HCLG.fst" --words "$graph/words.txt" >/dev/null
  awk 'NR == FNR { tested[$1] = 1; next } $1 in tested' "$work/tested" "$from/data/test_yesno/text" >"$work/ref"
  "$senone" train em --model "$work/kaldi" --lexicon "$from/data/local/dict/lexicon_words.txt" --list "$work/train" \
    --transcripts "$from/data/train_yesno/text" --out "$work/yesno" --flat --gaussians 4 >/dev/null
  check yesno "$work/test" "$work/ref" 2.2
  features=$from/data/train_yesno/data
  awk '{ print $2, $1 }' "$from/data/train_yesno/utt2spk" >"$work/utt2spk"  # theirs has the columns the other way round
  "$senone" train em --model "$work/kaldi" --lexicon "$from/data/local/dict/lexicon_words.txt" \
    --features "ark:$features/raw_mfcc_train_yesno.1.ark" --cmvn "ark:$features/cmvn_train_yesno.ark" \
    --utt2spk "$work/utt2spk" --transcripts "$from/data/train_yesno/text" --out "$work/archive" --flat \
    --gaussians 4 >"$work/log" 2>&1 || true
  grep -q 'from 8 utterances' "$work/log" || fail "an archive was not trained on: $(cat "$work/log")"
fi
exit $status
