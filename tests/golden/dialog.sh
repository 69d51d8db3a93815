#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dialog.sh SENONE runs a dialog of eight turns with real answers (AN4 dev) and the en-us model. It covers a grammar per
# turn, tags, and an interrupted prompt. A name is rejected because it is not in the list, and recognised after a change
# of the list.
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
answers=(fcaw/an409-fcaw-b marh/cen2-marh-b marh/cen2-marh-b fcaw/cen3-fcaw-b mmxg/an443-mmxg-b fcaw/cen2-fcaw-b fcaw/cen3-fcaw-b
         mmxg/an442-mmxg-b)
files=()
for i in "${!answers[@]}"; do
  python3 "$(dirname "$0")/to_raw.py" "$an4/${answers[i]}.flac" "$work/$i.raw"
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
<- one three seven
-> Alan with badge 137. Is that right?
<- no
-> Let us try again. Please spell your first name.
<- c i n d y
-> Cindy, what is the number of your badge?
<- one three seven
-> Cindy with badge 137. Is that right?
<- yes
-> Thank you. The door is open.
END
SENONE_DEVICE=cpu "$(dirname "$senone")/dialog" "$work/en-us" "$en_us/cmudict-en-us.dict" "${files[@]}" >"$work/out"
grep -v 'the visitor interrupts' "$work/out" | diff "$work/expected" - || { echo "dialog.sh: another dialog than expected" >&2; exit 1; }
n=$(grep -c 'the visitor interrupts' "$work/out")
((n == ${#answers[@]})) || { echo "dialog.sh: $n prompts were interrupted, not ${#answers[@]}" >&2; exit 1; }
