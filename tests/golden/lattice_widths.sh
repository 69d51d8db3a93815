#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lattice_widths.sh SENONE [RECORDINGS] recognises read sentences with the en-us model and its own trigram, pruned, with lattice
# beams from 4 to 24, and checks by bench/lattice_widths.sh that a wider beam never yields less than a narrower one. RECORDINGS:
# how many of LibriSpeech, librivox, kaldi_20k and kaldi_20k with noise, default 8; shorter ones come first. MODEL: a bundle of
# en-us that exists. Run by hand, because it takes many minutes; tests of unit_lattice check the same on small lattices. With
# SENONE_LATTICE_LIMITS=16 it tries smaller limits of work and memory, with DEVICE=cuda another device.
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

check() { "$(dirname "$0")/../../bench/lattice_widths.sh" "$senone" "$@" || status=1; }

status=0 done=0
mapfile -t recordings < <(ls -Sr "$data"/*.flac | head -n "$n")
((${#recordings[@]} >= n)) || recordings+=("$librivox"/*.wav)
recordings=("${recordings[@]:0:n}")
while ((done < ${#recordings[@]})); do
  some=("${recordings[@]:done:5}")
  check ${#some[@]} --model "$model" "${some[@]}"
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
    check 60 --model "$work/20k" --features "ark:$work/$features.ark" --beam 13 --max-active 7000 --acoustic-scale 0.0769
    done=$((done + 60))
  done
fi
exit $status
