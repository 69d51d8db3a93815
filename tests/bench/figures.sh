#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# figures.sh SOURCE checks that bench/figures draws every figure from the committed measurements, that docs/figures is up to
# date, and that docs/figures.md shows all figures. Broken, missing or mismatched measurements must end it with a message.
# Skipped without matplotlib. With another version than the one of docs/figures it is skipped, too, as the SVG files cannot be
# compared.
set -euo pipefail
cd "$1"
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "figures.sh: $*" >&2; exit 1; }

for python in ${SENONE_PYTHON:-/usr/bin/python3 python3}; do
  command -v "$python" >/dev/null && "$python" -c 'import matplotlib' 2>/dev/null && { found=$python; break; }
done
[[ -n ${found:-} ]] || skip "no python3 with matplotlib; ./dev setup figures installs it"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MPLCONFIGDIR=$work/matplotlib
draw() { "$found" -B bench/figures "$@" >"$work/log" 2>&1; }

# refuses MESSAGE: nothing can be drawn from $work/results, and the program prints only this.
refuses() {
  local status=0
  draw "$work/refused" --results "$work/results" || status=$?
  [[ $status == 1 && $(<"$work/log") == "figures: "*"$1"* && $(wc -l <"$work/log") == 1 ]] ||
    fail "expected \"$1\"; status $status: $(<"$work/log")"
}

fresh() { rm -rf "$work/results"; cp -r bench/results "$work/results"; }

draw "$work/out" || fail "$(<"$work/log")"
n=0
for svg in "$work"/out/*.svg; do
  name=$(basename "$svg" .svg)
  [[ $(head -c 8 "${svg%.svg}.png" | od -An -tx1) == " 89 50 4e 47 0d 0a 1a 0a" ]] || fail "$name.png is no PNG"
  grep -qF "](figures/$name.svg)" docs/figures.md || fail "docs/figures.md does not show $name.svg"
  n=$((n + 1))
done
((n == 11)) || fail "$n figures drawn, expected 11"
shown=$(grep -oE '\]\(figures/[a-z0-9_.]+\)' docs/figures.md | sed 's/](\(.*\))/\1/' | sort -u)
for file in $shown; do [[ -f docs/$file ]] || fail "docs/figures.md shows docs/$file, which does not exist"; done
bytes=$(cat docs/figures/*.svg | wc -c)
((bytes < 270000)) || fail "docs/figures has $bytes bytes of SVG, at most 270000 are to be committed"

fresh
echo '{' >"$work/results/cpu_amd_epyc_milan_gmm.json"
refuses 'cpu_amd_epyc_milan_gmm.json: Expecting property name'
fresh
rm "$work"/results/cpu_lattices_kaldi_20k.json
refuses 'cpu_lattices_kaldi_20k.json is missing'
fresh
sed -i 's/"gaussians": 256/"gaussians": 128/' "$work/results/cuda_nvidia_h200_gmm_5000x256x36.json"
refuses 'gaussians is 128, expected 256'
fresh
sed -i 's/"results": \[/"results_": [/' "$work/results/cuda_nvidia_h200_mfcc.json"
refuses '"results" is missing'

# A changed measurement changes the tables and a figure; a removed one leaves a gap with its reason.
fresh
sed -i '/"window": 256/,/"gflops"/s/"gflops": [0-9.]*/"gflops": 123456.0/' "$work/results/cuda_nvidia_h200_gmm_5000x256x36.json"
rm "$work/results/ocl_nvidia_nvidia_h200_mfcc.json"
draw "$work/changed" --results "$work/results" || fail "$(<"$work/log")"
grep -qF '| CUDA, H200 | 123.5 |' "$work/changed/tables.md" || fail "a changed measurement is not in the tables"
grep -qF '| ocl_nvidia, H200 | (a) | (a) | (a) |' "$work/changed/tables.md" || fail "a missing measurement left no gap"
! cmp -s "$work/changed/vanek_2012a_figure_3.svg" "$work/out/vanek_2012a_figure_3.svg" || fail "a changed measurement is not drawn"

if "$found" -m mypy --version >/dev/null 2>&1; then
  (cd bench/figures && "$found" -m mypy --strict --ignore-missing-imports --cache-dir "$work/mypy" . ../accuracy.py)
else
  echo "mypy is not installed: types were not checked"
fi

cmp "$work/out/tables.md" docs/figures/tables.md || fail "docs/figures/tables.md is out of date; ./dev figures --keep"
version() { sed -n 's/.*\(Matplotlib [0-9.]*\)<.*/\1/p' "$1" | head -n 1; }
drawn=$(version docs/figures/vanek_2012a_figure_3.svg) here=$(version "$work/out/vanek_2012a_figure_3.svg")
[[ -n $drawn && -n $here ]] || fail "an SVG file does not name the version of Matplotlib"
[[ $drawn == "$here" ]] || skip "docs/figures were drawn by $drawn, and here is $here"
rm "$work"/out/*.png
diff -rq "$work/out" docs/figures || fail "docs/figures are out of date; ./dev figures --keep"
echo "$n figures drawn, docs/figures are up to date"
