#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# model.sh SENONE SOURCE makes the bundles of senone-model-en-us and uses them as if they were installed: dictation without a name,
# a grammar with the model's own dictionary, which rejects other speech. SENONE is the command.
set -euo pipefail
senone=$1 source=$2
recordings=/usr/share/pocketsphinx/test/data
for folder in /usr/share/pocketsphinx/model/en-us "$recordings"; do
  [[ -d $folder ]] || { echo "skipped: $folder is missing; ./dev setup demo installs it"; exit 77; }
done
fail() { echo "model.sh: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$source/models/en-us/make.sh" "$senone" "$work/models" >"$work/log" 2>&1 || { cat "$work/log"; fail "no bundles were made"; }
for bundle in en-us en-us-commands; do
  grep -q 'CARNEGIE MELLON' "$work/models/$bundle/LICENSE" || fail "$bundle lacks the licence"
  cmp "$work/models/$bundle/lexicon.dict" /usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict
  ! grep -F "$work" "$work/models/$bundle/senone.json" || fail "$bundle has a path of this machine"
done
[[ ! -e $work/models/en-us-commands/graph.bin ]] || fail "en-us-commands has a graph, so that --model would have to choose"

export SENONE_MODEL_PATH=$work/models
cd "$work"
recognize() { "$senone" recognize --quiet --device cpu "$@" 2>/dev/null; }
words=$(recognize "$recordings/goforward.raw") || fail "recognize without --model failed"
[[ $words == "go forward ten meters" ]] || fail "without --model it heard: $words"
printf '#JSGF V1.0;\ngrammar robot;\npublic <go> = go (forward | backward) (two | ten) meters;\n' >robot.gram
"$senone" graph --model en-us-commands --jsgf robot.gram --out robot >/dev/null
words=$(recognize --model robot "$recordings/goforward.raw")
[[ $words == "go forward ten meters" ]] || fail "with a grammar it heard: $words"
words=$(recognize --model robot "$recordings"/librivox/*-0880.wav)
[[ -z $words ]] || fail "with a grammar it heard in a sentence of a novel: $words"
echo "$(du -sh --apparent-size models | cut -f1) of bundles: dictation, and commands by a grammar"
