#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# g2p.sh SENONE trains a pronunciation model on Debian's en-us dictionary. It checks the errors on held-out words, equal bytes
# of two runs, and a graph with words that the dictionary lacks.
set -euo pipefail
senone=$1
en_us=/usr/share/pocketsphinx/model/en-us
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -d $en_us ]] || { echo "skipped: $en_us is missing; ./dev setup test installs it"; exit 77; }
dictionary=$en_us/cmudict-en-us.dict

# below NAME LIMIT checks that a figure of the JSON is below its limit.
below() { awk -v limit="$2" -F'[:,]' -v name="\"$1\"" 'index($1, name) { found = 1; exit !($2 < limit) } END { if (!found) exit 1 }' \
  "$work/errors" || { echo "$1 is not below $2:" >&2; cat "$work/errors" >&2; exit 1; }; }

"$senone" g2p --train "$dictionary" --holdout 0.02 --out "$work/a.g2p" --json >"$work/errors"
below per_percent 6.6
below wer_percent 27
"$senone" g2p --train "$dictionary" --holdout 0.02 --out "$work/b.g2p" --json >/dev/null
cmp "$work/a.g2p" "$work/b.g2p"
[[ $(stat -c %s "$work/a.g2p") -lt 20000000 ]]

said=$(printf 'senone\n' | "$senone" g2p --model "$work/a.g2p" --nbest 2 -)
[[ $(wc -l <<<"$said") == 2 && $said == "senone  S EH N"* ]] || { echo "senone is said: $said" >&2; exit 1; }
if "$senone" g2p --model "$work/a.g2p" Senone 2>"$work/error"; then exit 1; fi
grep "'Senone' has the letter 'S'" "$work/error" >/dev/null

printf 'forward\nsenonely\nten\n' >"$work/words"
"$senone" import sphinx "$en_us/en-us" "$work/bundle" >/dev/null 2>&1
graph=("$senone" graph --model "$work/bundle" --lexicon "$dictionary" --words "$work/words")
if "${graph[@]}" 2>"$work/error"; then exit 1; fi
grep 'have no pronunciation.*senonely' "$work/error" >/dev/null
"${graph[@]}" --g2p "$work/a.g2p" | grep '^1 words are not in the dictionary.*: senonely$' >/dev/null
grep senonely "$work/bundle/words.txt" >/dev/null
"$senone" recognize --model "$work/bundle" --device cpu --keep-rejected /usr/share/pocketsphinx/test/data/goforward.raw | grep 'forward ten' >/dev/null
