#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lattice_widths.sh SENONE [RECORDINGS] recognises read sentences with the en-us model and its own trigram, pruned, with lattice
# beams from 4 to 24. A wider beam must never yield less than a narrower one, except for half a unit, nor lose alternatives.
# RECORDINGS: how many of LibriSpeech, librivox, kaldi_20k and kaldi_20k with noise, default 8; shorter ones come first. MODEL: a
# bundle of en-us that exists. Run by hand, because it takes many minutes; tests of unit_lattice check the same on small
# lattices. Small limits are tried with a SENONE whose core/base/limits.h has smaller ones (kMaxDeterminiseWork, ...Bytes).
set -euo pipefail
senone=$1 n=${2:-8}
data=${SENONE_TEST_DATA:-}/librispeech_dummy from=${SENONE_TEST_DATA:-}/kaldi_20k
[[ -d $data && -d $from ]] || { echo "skipped: SENONE_TEST_DATA names no directory with librispeech_dummy/, kaldi_20k/"; exit 77; }
en_us=/usr/share/pocketsphinx/model/en-us
librivox=/usr/share/pocketsphinx/test/data/librivox
[[ -d $en_us && -d $librivox ]] || { echo "skipped: $en_us or $librivox is missing; ./dev setup test installs them"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

model=${MODEL:-$work/en-us}
if [[ ! -d $model ]]; then
  "$senone" import sphinx "$en_us/en-us" "$model" >/dev/null 2>&1
  "$senone" graph --model "$model" --lexicon "$en_us/cmudict-en-us.dict" --lm "$en_us/en-us.lm.bin" --prune 1e-7 >/dev/null 2>&1
fi

# widths BEAM ARGUMENT... prints lines of an utterance, the beam, the width reached and the number of alternatives.
widths() {
  "$senone" recognize --quiet --device cpu --nbest 10 --json --lattice-beam "$@" 2>/dev/null | awk -v beam="$1" '
    match($0, /"lattice_beam":[0-9.]*/) {
      width = substr($0, RSTART + 15, RLENGTH - 15)
      match($0, /"id":"[^"]*"/); id = substr($0, RSTART + 6, RLENGTH - 7)
      print id, beam, width, gsub(/"graph_cost":/, "")
    }'
}

# check N-LINES reads such lines and prints what is wrong; each utterance must have one for each beam.
check() {
  sort -k 1,1 -k 2,2n | awk -v n="$1" '
    $1 != id { id = $1; widest = 0; alternatives = 0 }
    $3 < widest - 0.5 || $3 > $2 { print id ": asked for " $2 ", got " $3 " after " widest; bad = 1 }
    $4 < alternatives { print id ": " $4 " alternatives with beam " $2 " after " alternatives; bad = 1 }
    $3 > widest { widest = $3 }
    $4 > alternatives { alternatives = $4 }
    $3 < $2 { ++narrowed }
    { if ($2 == 24) ++n_ids; ++total }
    END {
      printf "%d recordings, %d lattices, %d of them narrowed\n", n_ids, total, narrowed
      exit bad || total != n
    }'
}

beams=(4 6 8 10 12 14 15 16 17 18 20 24) status=0 done=0
mapfile -t recordings < <(ls -Sr "$data"/*.flac | head -n "$n")
((${#recordings[@]} >= n)) || recordings+=("$librivox"/*.wav)
recordings=("${recordings[@]:0:n}")
while ((done < ${#recordings[@]})); do
  some=("${recordings[@]:done:5}")
  for beam in "${beams[@]}"; do widths "$beam" --model "$model" "${some[@]}"; done >"$work/widths"
  check $((${#beams[@]} * ${#some[@]})) <"$work/widths" || status=1
  done=$((done + ${#some[@]}))
done

# Features, for the remaining number: as they are, then with noise, in which every word is likely.
if ((n > done)); then
  xz -dc "$from/HCLG.fst.xz" >"$work/HCLG.fst"
  "$senone" import kaldi "$from/final.main.mdl" "$work/20k" --phones "$from/phones.txt" --features-only >/dev/null 2>&1
  "$senone" graph --model "$work/20k" --hclg "$work/HCLG.fst" --words "$from/words.txt" >/dev/null
  rm "$work/HCLG.fst"
  for features in plain noisy; do
    ((n > done)) || break
    deviation=0
    [[ $features == plain ]] || deviation=3
    "$(dirname "$0")/../../bench/noisy_features.py" "$from/test.feats.ark" "$work/$features.ark" --deviation $deviation
    for beam in "${beams[@]}"; do
      widths "$beam" --model "$work/20k" --features "ark:$work/$features.ark" --beam 13 --max-active 7000 --acoustic-scale 0.0769
    done >"$work/widths"
    check $((${#beams[@]} * 60)) <"$work/widths" || status=1
    done=$((done + 60))
  done
fi
exit $status
