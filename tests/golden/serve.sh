#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# serve.sh SENONE starts senone.serve with the en-us model and a grammar of playing cards. Its clients hear the words that the
# command finds, and nothing where the command rejects.
set -euo pipefail
senone=$1
here=$(cd "$(dirname "$0")" && pwd)
data=/usr/share/pocketsphinx/test/data
en_us=/usr/share/pocketsphinx/model/en-us
. "$(dirname "${BASH_SOURCE[0]}")/needs.sh"
need_folders "$data" "$en_us"
find_server_python
export SENONE_LIBRARY=${SENONE_LIBRARY:-$(dirname "$senone")/../lib/libsenone.so.0} PYTHONDONTWRITEBYTECODE=1
[[ -f $SENONE_LIBRARY ]] || { echo "skipped: no library is at $SENONE_LIBRARY"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$senone" import sphinx "$en_us/en-us" "$work/cards" >/dev/null 2>&1
"$senone" graph --model "$work/cards" --lexicon "$en_us/cmudict-en-us.dict" --jsgf "$data/cards/cards.gram" >/dev/null 2>&1
recordings=("$data"/cards/*.wav "$data"/librivox/*-08[789]0.wav)
hear() { "$senone" recognize --model "$work/cards" --device cpu --quiet --json "$@" "${recordings[@]}" 2>/dev/null; }
hear >"$work/whole"
hear --endpoint command --lattice-beam 6 >"$work/streams"
PYTHONPATH=$here/../../bindings/python/src "$found" "$here/serve.py" "$work/cards" "$work/whole" "$work/streams" "${recordings[@]}"
