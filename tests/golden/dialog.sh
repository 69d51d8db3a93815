#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dialog.sh SENONE runs a dialog with real answers (AN4 dev) and the en-us model. It covers a grammar per turn, tags,
# interrupted prompts, answers in the noise of 25 people's talk, and near misses: numbers that are no digits, another grammar's
# words, and a name that is not in the list, which is recognised after a change of the list. The visitor hangs up after the last
# answer.
set -euo pipefail
senone=$1
an4=${SENONE_TEST_DATA:-}/an4/an4test_clstk
[[ -d $an4 ]] || { echo "skipped: SENONE_TEST_DATA names no directory with an4/"; exit 77; }
en_us=/usr/share/pocketsphinx/model/en-us
[[ -d $en_us ]] || { echo "skipped: $en_us is missing; ./dev setup test installs it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo yes >"$work/words"
"$senone" import sphinx "$en_us/en-us" "$work/en-us" >/dev/null 2>&1
"$senone" graph --model "$work/en-us" --lexicon "$en_us/cmudict-en-us.dict" --words "$work/words" >/dev/null 2>&1
raw() { python3 "$(dirname "$0")/to_raw.py" "$an4/$1.flac" "$work/$2.raw"; }
talk=()
for file in "$an4"/*/cen[4-8]*.flac; do
  raw "${file:${#an4}+1:-5}" "talk${#talk[@]}"
  talk+=("$work/talk${#talk[@]}.raw")
done
# Recording, and how many decibels louder than the noise it is.
answers=(fcaw/an409-fcaw-b:20 marh/cen2-marh-b marh/cen2-marh-b miry/cen3-miry-b fcaw/cen3-fcaw-b mmxg/an443-mmxg-b:20
         fcaw/cen2-fcaw-b fcaw/cen3-fcaw-b miry/an400-miry-b mmxg/an442-mmxg-b:20)
files=()
for i in "${!answers[@]}"; do
  raw "${answers[i]%:*}" "$i"
  if [[ ${answers[i]} == *:* ]]; then
    python3 "$(dirname "$0")/in_noise.py" "$work/$i.raw" "${answers[i]#*:}" "$work/$i.noisy.raw" "${talk[@]}"
    mv "$work/$i.noisy.raw" "$work/$i.raw"
  fi
  files+=("$work/$i.raw")
done

cat >"$work/expected" <<'END'
-> Welcome. Say go to check in.
<- go
-> Please spell your first name.
<- d a v i d  (rejected: something else was said)
-> I do not find you; the list is new now. Please spell your first name.
<- a l a n
-> Alan, what is the number of your badge?
<- two oh three three  (rejected: something else was said)
-> I did not understand. Alan, what is the number of your badge?
<- one three seven
-> Alan with badge 137. Is that right?
<- no
-> Let us try again. Please spell your first name.
<- c i n d y
-> Cindy, what is the number of your badge?
<- one three seven
-> Cindy with badge 137. Is that right?
<- no thanks  (rejected: something else was said)
-> I did not understand. Is that right?
<- yes
-> Thank you. The door is open.
END
talk_to() { SENONE_DEVICE=cpu "$(dirname "$senone")/dialog" "$work/en-us" "$en_us/cmudict-en-us.dict" "$@" >"$work/out"; }
talk_to "${files[@]}"
grep -v 'the visitor interrupts' "$work/out" | diff "$work/expected" - || { echo "dialog.sh: another dialog than expected" >&2; exit 1; }
n=$(grep -c 'the visitor interrupts' "$work/out")
((n == 8)) || { echo "dialog.sh: $n prompts were interrupted, not 8" >&2; exit 1; }

# A visitor who hangs up too early hears the next question, whose graph is chosen after the end of the audio.
talk_to "${files[0]}"
grep -v 'the visitor interrupts' "$work/out" | diff <(head -n 3 "$work/expected") - || { echo "dialog.sh: the last answer had no reaction" >&2; exit 1; }
