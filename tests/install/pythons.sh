#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pythons.sh WHEEL MODEL_WHEEL installs both wheels into a clean virtual environment of every Python from 3.9 on that is found: as
# python3.N in PATH, in pyenv, and those that SENONE_PYTHONS names. In each, five lines of Python hear a recording with the model by
# its name, a grammar is compiled with the model's own dictionary and rejects other speech, and libvosk is loaded. It prints how long
# the installation and the words take. Exit status 77: PyPI, which has numpy, cannot be reached, or the recordings are missing.
set -euo pipefail
wheel=$(realpath "$1") model=$(realpath "$2")
recordings=/usr/share/pocketsphinx/test/data
recording=$recordings/goforward.raw other=$recordings/librivox/sense_and_sensibility_01_austen_64kb-0880.wav
fail() { echo "pythons.sh: $*" >&2; exit 1; }
[[ -f $recording ]] || { echo "skipped: $recording is missing; install pocketsphinx-testdata"; exit 77; }
pyenv=${PYENV_ROOT:-$HOME/.pyenv} work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work/home  # no bundles of the user's own
unset PYTHONPATH SENONE_LIBRARY SENONE_MODEL_PATH XDG_DATA_HOME

cat >five.py <<'PYTHON'
import sys
import senone
engine = senone.Engine("en-us")
result = engine.recognize(sys.argv[1])
print(result.text)
PYTHON
cat >more.py <<'PYTHON'
import ctypes, pathlib, sys, senone
builder = senone.GrammarBuilder("en-us-commands")
builder.add_lexicon()
engine = senone.Engine("en-us-commands")
engine.add_graph("", builder.jsgf("#JSGF V1.0; grammar robot; public <go> = go (forward | backward) (two | ten) meters;"))
print(engine.recognize(sys.argv[1]).text)
assert senone.Flag.REJECTED in engine.recognize(sys.argv[2]).flags
ctypes.CDLL(str(pathlib.Path(senone.__file__).parent / "lib/libvosk.so")).vosk_gpu_init()
PYTHON

# runs PYTHON is true if that is a Python from 3.9 on that makes environments; it prints the version.
runs() { "$1" -c 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2]); sys.exit(sys.version_info < (3, 9))' 2>/dev/null; }

declare -A pythons=()
for python in ${SENONE_PYTHONS:-} /usr/bin/python3 $(compgen -c python3. | sort -u) "$pyenv"/versions/*/bin/python3; do
  path=$(command -v "$python") && version=$(runs "$path") && pythons[$version]=${pythons[$version]:-$path}
done
((${#pythons[@]})) || { echo "skipped: no Python from 3.9 on makes virtual environments here"; exit 77; }

for version in $(printf '%s\n' "${!pythons[@]}" | sort -V); do
  "${pythons[$version]}" -m venv venv >/dev/null
  venv/bin/python -m pip -q download --only-binary :all: --no-deps -d wheels numpy >log 2>&1 ||
    { cat log >&2; echo "skipped: PyPI has no numpy for Python $version, or cannot be reached"; exit 77; }
  begin=$(date +%s%N)
  venv/bin/python -m pip -q --disable-pip-version-check install --no-index --find-links wheels "$wheel" "$model" || fail "pip install failed"
  installed=$(date +%s%N)
  words=$(venv/bin/python five.py "$recording") || fail "five lines failed with Python $version"
  end=$(date +%s%N)
  [[ $words == "go forward ten meters" ]] || fail "five lines heard with Python $version: $words"
  words=$(venv/bin/python more.py "$recording" "$other") || fail "a grammar or libvosk with Python $version"
  [[ $words == "go forward ten meters" ]] || fail "a grammar heard with Python $version: $words"
  printf 'Python %s: %s.%02d s to install both wheels, %s.%02d s to the words\n' "$version" \
    $(((installed - begin) / 1000000000)) $(((installed - begin) / 10000000 % 100)) \
    $(((end - installed) / 1000000000)) $(((end - installed) / 10000000 % 100))
  rm -rf venv
done
