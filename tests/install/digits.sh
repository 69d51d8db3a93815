# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: Apache-2.0
# The scripts here source this after setting $work. It provides a bundle of spoken digits, and checks of programs that recognise
# with it. $digits is the folder of recordings and their model, if not that of pocketsphinx-testdata.
data=${digits:-/usr/share/pocketsphinx/test/data/tidigits}
recording=$data/dhd.2934z.raw
bundle=$work/digits
fail() { echo "${0##*/}: $*" >&2; exit 1; }
[[ -d $data ]] || { echo "skipped: $data is missing; install pocketsphinx-testdata"; exit 77; }

# make_bundle COMMAND makes the bundle with COMMAND, a `senone`.
make_bundle() {
  grep -o '^[a-z]*' "$data/lm/tidigits.dic" | sort -u >"$work/words"
  "$1" import sphinx "$data/hmm" "$bundle" --sample-rate 16000 >/dev/null 2>&1
  "$1" graph --model "$bundle" --lexicon "$data/lm/tidigits.dic" --words "$work/words" >/dev/null
}

# check PROGRAM: it must print the digits of the recording.
check() {
  local words
  words=$("$1" "$bundle" "$recording") || fail "$1 failed"
  [[ $words == *"two nine three four zero"* ]] || fail "$1 heard: $words"
}

# check_grammar PROGRAM: it must print them, recognised with a grammar that it compiles.
check_grammar() {
  local words
  printf '#JSGF V1.0;\ngrammar digits;\npublic <number> = (%s)+;\n' "$(paste -sd '|' "$work/words")" >"$work/digits.jsgf"
  words=$("$1" "$bundle" "$data/lm/tidigits.dic" "$work/digits.jsgf" "$recording") || fail "$1 failed"
  [[ $words == *"two nine three four zero"* ]] || fail "$1 heard: $words"
}

# check_static PROGRAM: it must not need libsenone.so or libsenone_build.so.
check_static() {
  readelf -d "$1" >"$work/dynamic"
  if grep -q 'NEEDED.*libsenone' "$work/dynamic"; then fail "$1 needs $(grep -o 'libsenone[^]]*' "$work/dynamic")"; fi
}

# has_plugin PROGRAM NAME: the program must find the back end NAME, with or without a device.
has_plugin() {
  OCL_ICD_VENDORS=/nonexistent SENONE_DEVICE=$2 "$1" "$bundle" "$recording" >/dev/null 2>"$work/error" || true
  [[ -s $work/error ]] || return 0
  ! grep -q "no back end \"$2\" was found" "$work/error"
}
