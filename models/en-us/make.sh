#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make.sh SENONE FOLDER makes the bundles of the package senone-model-en-us in FOLDER, from the model of Debian's package
# pocketsphinx-en-us: en-us for dictation, and en-us-commands, which has no graph, for grammars. SENONE is the command. Files of
# both are hard links. `./dev packages` and `./dev wheel` call this.
set -euo pipefail
senone=$(realpath "$1") folder=$2 here=$(cd "$(dirname "$0")" && pwd) source=/usr/share/pocketsphinx/model/en-us
[[ -d $source ]] || { echo "make.sh: $source is missing; install pocketsphinx-en-us" >&2; exit 1; }
mkdir -p "$folder"
cd "$folder"  # bundles keep the arguments that made them, and no path of this machine is to be among them
rm -rf en-us en-us-commands
"$senone" import sphinx "$source/en-us" en-us-commands
"$senone" graph --model en-us-commands --background
"$senone" graph --model en-us-commands --out en-us --lexicon "$source/cmudict-en-us.dict" --lm "$source/en-us.lm.bin" --prune 2e-7
install -m 644 "$source/cmudict-en-us.dict" en-us-commands/lexicon.dict
install -m 644 "$here/LICENSE" en-us-commands/LICENSE
ln en-us-commands/{lexicon.dict,LICENSE} en-us
