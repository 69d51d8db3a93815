#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lattice_quality.sh SENONE KALDI_20K > JSON measures density, word errors, oracle errors and NCE of the CPU's lattices of
# kaldi_20k. Graphs: Kaldi's, and one of a weak language model, before and after rescoring with the full one. bench/figures
# draws bench/results/cpu_lattices_kaldi_20k.json as table 1 of Chen et al. 2018. The results do not depend on the load of the machine.
set -euo pipefail
senone=$1 from=$2
prune=1e-6 scale=0.0769
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# recognize BUNDLE LATTICES
recognize() {
  "$senone" recognize --model "$1" --device cpu --features "ark:$from/test.feats.ark" --beam 13 --max-active 7000 \
    --acoustic-scale $scale --lattice-beam 8 --lattice "$2" >/dev/null 2>&1
}

# number NAME < JSON prints the first number of that name.
number() { sed -n "s/.*\"$1\": *\([-0-9.e]*\).*/\1/p" | head -n 1; }

# row SYSTEM LATTICES WORDS-TXT
row() {
  local stats wer
  stats=$("$senone" lattice stats "$2" --words "$3" --ref "$from/test.text" --json)
  "$senone" lattice confidence "$2" --words "$3" --acoustic-scale $scale >"$work/ctm"
  wer=$("$senone" wer --nce --json "$from/test.text" "$work/ctm")
  printf '    {"system": "%s", "density": %s, "wer_percent": %s, "oracle_percent": %s, "nce": %s}' "$1" \
    "$(number density <<<"$stats")" "$(number wer_percent <<<"$wer")" "$(number oracle_wer_percent <<<"$stats")" \
    "$(number nce <<<"$wer")"
}

xz -dc "$from/HCLG.fst.xz" >"$work/HCLG.fst"
xz -dc "$from/lexicon.txt.xz" >"$work/lexicon.txt"
xz -dc "$from/pruned20k.arpa.xz" >"$work/full.arpa"
"$senone" import kaldi "$from/final.main.mdl" "$work/kaldi" --phones "$from/phones.txt" --features-only >&2
"$senone" graph --model "$work/kaldi" --hclg "$work/HCLG.fst" --words "$from/words.txt" >&2
"$senone" import kaldi "$from/final.main.mdl" "$work/weak" --phones "$from/phones.txt" --tree "$from/tree" --features-only >&2
"$senone" graph --model "$work/weak" --lexicon "$work/lexicon.txt" --lm "$work/full.arpa" --prune $prune >&2
recognize "$work/kaldi" "$work/kaldi.lat"
recognize "$work/weak" "$work/weak.lat"
"$senone" lattice rescore "$work/weak.lat" "$work/rescored.lat" --words "$work/weak/words.txt" --old-lm "$work/full.arpa" \
  --old-prune $prune --new-lm "$work/full.arpa" >&2

printf '{\n  "benchmark": "lattices",\n  "device": "cpu:0",\n  "date": "%s",\n  "version": "%s",\n' \
  "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$("$senone" --version | awk '{ print $NF }')"
printf '  "options": {"set": "kaldi_20k", "beam": 13.0, "lattice_beam": 8.0, "max_active": 7000, "acoustic_scale": %s},\n' \
  $scale
printf '  "results": [\n'
row "kaldi" "$work/kaldi.lat" "$from/words.txt"
printf ',\n'
row "weak" "$work/weak.lat" "$work/weak/words.txt"
printf ',\n'
row "rescored" "$work/rescored.lat" "$work/weak/words.txt"
printf '\n  ],\n  "notes": ["%s"]\n}\n' \
  "kaldi: the graph of Kaldi; weak: of its language model, --prune $prune; rescored: weak, with the full model"
