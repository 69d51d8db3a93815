#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lattices.sh SENONE runs the lattice tools on lattices written by Kaldi's decoder, in SENONE_TEST_DATA.
set -euo pipefail
senone=$1
data=${SENONE_TEST_DATA:-}/kaldi_20k
[[ -d $data ]] || { echo "skipped: SENONE_TEST_DATA names no directory with kaldi_20k/"; exit 77; }
lattices=$data/ref/latgen.b13.l8.lat.ark
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
lattice() { "$senone" lattice "$@"; }

# expect NAME COMMAND... checks that the command prints the text on standard input.
expect() {
  local name=$1
  shift
  if diff <("$@" 2>&1) - >"$work/diff"; then
    echo "$name: as expected"
  else
    echo "$name:"
    cat "$work/diff"
    status=1
  fi
}

# best prints costs and words of an archive's best paths.
best() {
  lattice best "$1" --words "$data/words.txt" --acoustic-scale 0.0769 --costs |
    awk '{ $2 = sprintf("%.2f", $2); $3 = sprintf("%.2f", $3); $4 = sprintf("%.1f", $4); print }'
}

# The expected figures are Kaldi's own for its lattices.
expect stats lattice stats "$lattices" --words "$data/words.txt" --ref "$data/test.text" <<END
60 lattices, 3486 states, 6086 arcs, 25826 frames
density 7.60 arcs a frame
oracle word error rate 0.24 %: 2 errors (2 substitutions, 0 deletions, 0 insertions) in 851 words
END

# Pruning and writing as text must keep the best path.
lattice prune "$lattices" "$work/pruned" --acoustic-scale 0.0769 --beam 2 --text
expect prune best "$work/pruned" < <(best "$lattices")

# HTK's format: a file per lattice, a link for each arc and for each end of a path.
expect slf lattice slf "$lattices" "$work/slf" --words "$data/words.txt" --acoustic-scale 0.0769 <<<"60 lattices written"
expect links bash -c "cat '$work'/slf/*.slf | grep -c '^J=.*W=[^!]'" <<<6086

# Words of the best path with confidences, evaluated.
lattice confidence "$lattices" --words "$data/words.txt" --acoustic-scale 0.0769 >"$work/ctm"
expect words awk '{ words[$1] = words[$1] " " $5 } END { for (id in words) print id words[id] | "sort" }' "$work/ctm" \
  < <(lattice best "$lattices" --words "$data/words.txt" --acoustic-scale 0.0769 | sort)
expect confidence "$senone" wer "$data/test.text" "$work/ctm" --nce <<END
word error rate 4.23 %: 36 errors (24 substitutions, 10 deletions, 2 insertions) in 851 words
sentence error rate 31.67 %: 19 of 60 utterances
normalised cross entropy 0.391: 817 of 843 recognised words right
END

# Replacing the graph's model by itself must change nothing.
xz -dc "$data/pruned20k.arpa.xz" >"$work/arpa"
lattice rescore "$lattices" "$work/rescored" --words "$data/words.txt" --old-lm "$work/arpa" --new-lm "$work/arpa" >/dev/null
expect rescore best "$work/rescored" < <(best "$lattices")
exit $status
