#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# golden.sh SENONE runs every command from import to wer on real models and recordings of Debian (pocketsphinx-en-us,
# pocketsphinx-testdata). The words must be those in words.txt, for any chunks and any number of streams.
set -euo pipefail
senone=$1
expected=$(dirname "${BASH_SOURCE[0]}")/words.txt
data=/usr/share/pocketsphinx/test/data
en_us=/usr/share/pocketsphinx/model/en-us
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in "$data" "$en_us"; do
  [[ -d $folder ]] || { echo "skipped: $folder is missing; ./dev setup test installs it"; exit 77; }
done

# make NAME MODEL-DIRECTORY GRAPH-OPTION... makes a bundle $work/NAME.
make() {
  local name=$1 model=$2
  shift 2
  "$senone" import sphinx "$model" "$work/$name" >/dev/null 2>&1
  "$senone" graph --model "$work/$name" "$@" >/dev/null
}

# hear NAME OPTION-OR-FILE... adds "words (id)" lines to $work/words.
hear() {
  local name=$1
  shift
  "$senone" recognize --model "$work/$name" --device cpu --hyp "$work/hyp" "$@" >/dev/null 2>&1
  cat "$work/hyp" >>"$work/words"
}

grep -o '^[a-z]*' "$data/tidigits/lm/tidigits.dic" | sort -u >"$work/digits.txt"
make digits "$data/tidigits/hmm" --lexicon "$data/tidigits/lm/tidigits.dic" --words "$work/digits.txt"
make turtle "$en_us/en-us" --lexicon "$data/turtle.dic" --lm "$data/turtle.lm.bin"
make move "$en_us/en-us" --lexicon "$en_us/cmudict-en-us.dict" --jsgf "$data/goforward.gram"
make cards "$en_us/en-us" --lexicon "$en_us/cmudict-en-us.dict" --jsgf "$data/cards/cards.gram"

# An archive may not take the place of what a graph is made of.
cp "$data/goforward.gram" "$work/own.gram"
for source in "$work/move/acoustic.bin" "$work/own.gram"; do
  before=$(cksum "$source")
  if "$senone" graph --model "$work/move" --lexicon "$en_us/cmudict-en-us.dict" --jsgf "$work/own.gram" --archive "$source" \
    >/dev/null 2>"$work/refused"; then echo "golden.sh: $source was replaced" >&2; exit 1; fi
  grep -q 'would replace a file that the graph is made of' "$work/refused"
  [[ $(cksum "$source") == "$before" ]]
done

hear digits "$data/tidigits/dhd.2934z.raw"
hear turtle "$data/goforward.raw"
hear move "$data/goforward.raw"
hear cards "$data"/cards/*.wav
diff "$expected" "$work/words"

grep '(00[1-5])' "$expected" >"$work/cards.words"
"$senone" wer --json "$data/cards/cards.transcription" "$work/cards.words" | grep '"wer_percent": 0.0' >/dev/null
"$senone" wer --json "$data/cards/cards.transcription" - <"$work/cards.words" | grep '"wer_percent": 0.0' >/dev/null

# The time to align grows with the product of both lengths.
printf 'a %.0s' $(seq 100002) >"$work/long"
status=0
"$senone" wer "$work/long" "$work/long" >"$work/wer" 2>&1 || status=$?
((status == 1)) && grep 'a: 100001 words of REF by 100001 of HYP' "$work/wer" >/dev/null || { cat "$work/wer" >&2; exit 1; }

for options in "--chunk 1 --jobs 1" "--chunk 160 --jobs 8" "--chunk 1000 --jobs 2" "--chunk 10000000 --jobs 8"; do
  rm "$work/words"
  hear cards $options "$data"/cards/*.wav
  diff "$work/cards.words" "$work/words" || { echo "these are the words with $options" >&2; exit 1; }
done
