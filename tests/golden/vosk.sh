#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# vosk.sh SENONE LIBVOSK runs programs of the shape of Vosk's examples on the en-us model: in Python over PyPI's package vosk, with
# its own library exchanged, and in Java over JNA where that is installed. Their words are those of the command.
# SENONE_VOSK_PYTHON names an interpreter that has the package, by default python3.
set -euo pipefail
senone=$1 libvosk=$2
here=$(cd "$(dirname "$0")" && pwd)
data=/usr/share/pocketsphinx/test/data
en_us=/usr/share/pocketsphinx/model/en-us
. "$(dirname "${BASH_SOURCE[0]}")/needs.sh"
need_folders "$data" "$en_us"
python=${SENONE_VOSK_PYTHON:-python3}
found=$("$python" -c 'import importlib.util as u; s = u.find_spec("vosk"); print(s.submodule_search_locations[0] if s else "")' || true)
[[ -n $found ]] ||
  { echo "skipped: $python has no package vosk; pip install vosk==0.3.45, or name an interpreter that has it in SENONE_VOSK_PYTHON"
    exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1 SENONE_PLUGINS=cpu LC_ALL=C.UTF-8

mkdir "$work/site"
cp -r "$found" "$work/site/vosk"
lib=$(dirname "$libvosk")
ln -sf "$libvosk" "$lib/libsenone.so.0" "$lib/libsenone_build.so.0" "$work/site/vosk"

"$senone" import sphinx "$en_us/en-us" "$work/cards" >/dev/null 2>&1
"$senone" graph --model "$work/cards" --lexicon "$en_us/cmudict-en-us.dict" --jsgf "$data/cards/cards.gram" >/dev/null 2>&1
ln -s "$en_us/cmudict-en-us.dict" "$work/cards/lexicon.dict"
recordings=("$data"/cards/*.wav "$data"/librivox/*-08[789]0.wav)
"$senone" recognize --model "$work/cards" --quiet --endpoint command --json "${recordings[@]}" >"$work/command" 2>/dev/null
PYTHONPATH=$work/site "$python" "$here/vosk_programs.py" "$work/cards" "$work/command" "${recordings[@]}"

jna=/usr/share/java/jna.jar
if ! command -v javac >/dev/null || [[ ! -f $jna ]]; then
  echo "java: not tried, as javac or $jna is missing (Debian: default-jdk-headless, libjna-java)"
  exit 0
fi
javac -d "$work/java" -cp "$jna" "$here/VoskProgram.java"
for recording in "$data"/cards/*.wav; do
  java -cp "$work/java:$jna" -Djna.library.path="$work/site/vosk" VoskProgram "$work/cards" "$recording"
done >"$work/java.txt" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
"$senone" recognize --model "$work/cards" --quiet --endpoint command "$data"/cards/*.wav 2>/dev/null | cut -f 2 >"$work/senone.txt"
diff "$work/java.txt" "$work/senone.txt" || { echo "vosk.sh: Java's words are not the command's" >&2; exit 1; }
echo "java: $(wc -l <"$work/java.txt") recordings have the words of the command"
