#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# other_users.sh SENONE checks, as root, that commands never give a file of root's to another user: neither one that a bundle
# shares with another (a hard link) nor a new one that takes the place of that user's.
set -euo pipefail
senone=$1
en_us=/usr/share/pocketsphinx/model/en-us
data=/usr/share/pocketsphinx/test/data
fail() { echo "other_users.sh: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
[[ $(id -u) == 0 ]] || skip "only root can give files away"
for folder in "$data" "$en_us"; do
  [[ -d $folder ]] || skip "$folder is missing; ./dev setup test installs it"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SENONE_PLUGINS=cpu
readonly other=65534

# access FILE... prints owner, group and mode of each.
access() { stat -c '%u:%g %a %n' "$@"; }

cd "$work"
umask 022
printf 'go\nforward\nten\nmeters\n' >words
"$senone" import sphinx "$en_us/en-us" model --quiet >/dev/null
graph=("$senone" graph --model model --lexicon "$en_us/cmudict-en-us.dict" --words words --quiet)
"${graph[@]}" >/dev/null
access model/* >before

# The second bundle's files belong to another user and may be written by everybody; the model's files are linked into it.
cp -r model second
chown -R "$other:$other" second
chmod 666 second/*
"${graph[@]}" --out second >/dev/null
access model/* | diff before - >&2 || fail "graph --out changed the owner or mode of files of --model"
[[ model/hmms.bin -ef second/hmms.bin ]] || fail "graph --out does not link the files that it keeps"
for file in second/*; do
  [[ $(stat -c %u "$file") == 0 ]] || fail "graph --out made $file another user's"
  [[ $(stat -c %a "$file") == 644 ]] || fail "graph --out made $file of mode $(stat -c %a "$file")"
done

# An output in another user's directory replaces that user's file.
mkdir theirs
echo old >theirs/out.txt
chmod 666 theirs/out.txt
chown -R "$other:$other" theirs
"$senone" recognize --model model "$data/goforward.raw" --hyp theirs/out.txt --quiet >/dev/null
[[ $(stat -c '%u:%g %a' theirs/out.txt) == "0:0 644" ]] || fail "--hyp made a file of $(access theirs/out.txt)"
grep -q '^go forward ten meters (goforward)' theirs/out.txt || fail "--hyp wrote \"$(cat theirs/out.txt)\""

# That user's link would let root replace a file of its owner's choice.
echo precious >victim
ln -s "$work/victim" theirs/link.txt
chown -h "$other:$other" theirs/link.txt
if "$senone" recognize --model model "$data/goforward.raw" --hyp theirs/link.txt --quiet >/dev/null 2>log; then
  fail "--hyp followed a link of another user"
fi
grep -q "theirs/link.txt: is a symbolic link of user $other, which is not followed" log || fail "$(cat log)"
[[ $(cat victim) == precious ]] || fail "--hyp replaced what another user's link leads to"

# So would a link in the place of a directory of outputs.
"$senone" recognize --model model "$data/goforward.raw" --lattice lattices.txt --lattice-beam 8 --quiet >/dev/null
mkdir private
ln -s "$work/private" theirs/lattices
chown -h "$other:$other" theirs/lattices
if "$senone" lattice slf lattices.txt theirs/lattices --words model/words.txt --acoustic-scale 0.05 >/dev/null 2>log; then
  fail "lattice slf followed a link of another user"
fi
grep -q "theirs/lattices: is a symbolic link of user $other, which is not followed" log || fail "$(cat log)"
[[ -z $(ls private) ]] || fail "lattice slf wrote where another user's link leads to: $(ls private)"

# Standard output that is a file is written to, not replaced.
echo "older line" >log.txt
"$senone" recognize --model model "$data/goforward.raw" --hyp /dev/stdout --json --quiet >>log.txt
[[ $(grep -c . log.txt) == 3 ]] || fail "--hyp /dev/stdout left of the log: $(cat log.txt)"
echo "root's files stay root's"
