#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lattice_widths.sh SENONE [RECORDINGS] recognises read sentences with the en-us model and its own trigram, pruned, with lattice
# beams from 4 to 24. A wider beam must never yield less than a narrower one, except for half a unit, nor lose alternatives.
# RECORDINGS: of LibriSpeech, default 8. Run by hand, because it takes many minutes; tests of unit_lattice check the same on small
# lattices.
set -euo pipefail
senone=$1 n=${2:-8}
data=${SENONE_TEST_DATA:-}/librispeech_dummy
[[ -d $data ]] || { echo "skipped: SENONE_TEST_DATA names no directory with librispeech_dummy/"; exit 77; }
en_us=/usr/share/pocketsphinx/model/en-us
librivox=/usr/share/pocketsphinx/test/data/librivox
[[ -d $en_us && -d $librivox ]] || { echo "skipped: $en_us or $librivox is missing; ./dev setup test installs them"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$senone" import sphinx "$en_us/en-us" "$work/en-us" >/dev/null 2>&1
"$senone" graph --model "$work/en-us" --lexicon "$en_us/cmudict-en-us.dict" --lm "$en_us/en-us.lm.bin" --prune 1e-7 >/dev/null 2>&1
mapfile -t recordings < <(printf '%s\n' "$data"/*.flac | head -n "$n")
for beam in 4 6 8 10 12 14 15 16 17 18 20 24; do
  "$senone" recognize --quiet --model "$work/en-us" --device cpu --nbest 10 --json --lattice-beam "$beam" \
    "$librivox"/*-0870.wav "${recordings[@]}" 2>/dev/null |
    sed -n "s/^{\"id\":\"\([^\"]*\)\".*\"lattice_beam\":\([0-9.]*\).*/\1 $beam \2/p" >"$work/widths.$beam"
  # Alternatives follow the first one, each with its own words.
  "$senone" recognize --quiet --model "$work/en-us" --device cpu --nbest 10 --lattice-beam "$beam" "${recordings[0]}" \
    2>/dev/null | wc -l >"$work/alternatives.$beam"
done
cat "$work"/widths.* | sort -k 1,1 -k 2,2n | awk -v n="${#recordings[@]}" '
  $1 != id { id = $1; widest = 0; ++n_ids }
  $3 < widest - 0.5 || $3 > $2 { print id ": asked for " $2 ", got " $3 " after " widest; bad = 1 }
  $3 > widest { widest = $3 }
  { if ($3 < $2) ++narrowed; ++total }
  END {
    printf "%d recordings, %d lattices, %d of them narrowed\n", n_ids, total, narrowed
    exit bad || n_ids != n + 1 || total != 12 * n_ids
  }'
sort -n "$work"/alternatives.* | head -n 1 | awk '{ exit !($1 > 1) }' || { echo "alternatives are lost"; exit 1; }
