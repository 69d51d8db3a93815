#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# samples.sh SENONE runs every program of samples/ and the examples of the bindings on real recordings of digits
# (pocketsphinx-testdata). GPU samples use their vendor's device if present, and also OpenCL's CPU device (PoCL), by name.
set -euo pipefail
senone=$1
bin=$(dirname "$senone")
export SENONE_PLUGINS=cpu,cuda,ocl_nvidia,ocl_amd # named, so that OpenCL is loaded without a GPU, too
data=/usr/share/pocketsphinx/test/data/tidigits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "samples.sh: $*" >&2; exit 1; }
[[ -d $data ]] || { echo "skipped: $data is missing; ./dev setup test installs it"; exit 77; }

bundle=$work/digits
grep -o '^[a-z]*' "$data/lm/tidigits.dic" | sort -u >"$work/words"
"$senone" import sphinx "$data/hmm" "$bundle" --sample-rate 16000 >/dev/null 2>&1
"$senone" graph --model "$bundle" --lexicon "$data/lm/tidigits.dic" --words "$work/words" >/dev/null 2>&1
recording=$data/dhd.2934z.raw
said="two nine three four zero"

# expect TEXT PROGRAM ARGUMENT... checks that the program succeeds and prints TEXT.
expect() {
  local text=$1 program=$2
  shift 2
  "$bin/$program" "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "$program failed"; }
  grep -qF -- "$text" "$work/out" || { cat "$work/out" >&2; fail "$program did not print \"$text\""; }
}

for program in hello nbest_lattice lattice hello_cpp; do
  SENONE_DEVICE=cpu expect "$said" "$program" "$bundle" "$recording"
done
SENONE_DEVICE=cpu expect "nine" callback "$bundle" "$recording"
SENONE_DEVICE=cpu expect "200 times	$said" many_streams "$bundle" 20 200 "$recording"
SENONE_DEVICE=cpu expect "rescored" lattice "$bundle" "$recording" zero=-3

# A grammar compiled at run time, from C and from C++.
printf '#JSGF V1.0;\ngrammar digits;\npublic <number> = (%s)+ {done};\n' "$(paste -sd'|' "$work/words")" >"$work/digits.jsgf"
for program in grammar grammar_cpp; do
  [[ -x $bin/$program ]] || continue # without libsenone_build
  SENONE_DEVICE=cpu expect "$said" "$program" "$bundle" "$data/lm/tidigits.dic" "$work/digits.jsgf" "$recording"
done
if [[ -x $bin/grammar_cpp ]]; then grep -qx 'rule number, tags done' "$work/out" || fail "grammar_cpp: $(cat "$work/out")"; fi

# The times of words whose text is known.
if [[ -x $bin/align ]]; then
  expect "zero" align "$bundle" "$data/lm/tidigits.dic" "$recording" "$said"
  [[ $(wc -l <"$work/out") == 5 ]] || fail "align: $(cat "$work/out")"
fi

expect "$said" senone recognize --device cpu --model "$bundle" - <"$recording"

# gpu BACK-END [DEVICE] checks that the sample recognises the digits on a device, or prints what is missing.
gpu() {
  "$bin/$1_gpu" "$bundle" "$recording" ${2:+"$2"} >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "$1_gpu $* failed"; }
  if grep -q "^$1_gpu: no device " "$work/out"; then
    tail -n 1 "$work/out"
  else
    grep -qF "$said" "$work/out" || { cat "$work/out" >&2; fail "$1_gpu $* heard something else"; }
    [[ $(grep -c 'times real time' "$work/out") == 2 ]] || { cat "$work/out" >&2; fail "$1_gpu $* compared nothing"; }
    cat "$work/out"
  fi
}
for back_end in cuda ocl_nvidia ocl_amd; do gpu "$back_end"; done
for back_end in ocl_nvidia ocl_amd; do gpu "$back_end" "$back_end:0"; done
