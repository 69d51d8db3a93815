#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh VOSK_PROGRAM MAKE_TONE_BUNDLE runs the C program over libvosk with the tone bundle.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$2" "$work/tones"
cp "$work/tones/tones.dict" "$work/tones/model/lexicon.dict"
SENONE_PLUGINS=cpu "$1" "$work/tones" 2>&1 | tee "$work/log"
grep -q 'phrases with words that are not in .*model/lexicon.dict, written as there, were left out' "$work/log" ||
  { echo "run.sh: why a grammar has no phrases is not said" >&2; exit 1; }
