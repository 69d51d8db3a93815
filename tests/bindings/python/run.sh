#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh SOURCE LIBRARY MAKE_TONE_BUNDLE [--more] tests the Python package over a build's library: its tests, its examples, and
# mypy --strict if installed. --more runs only the load test, with 10,000 results, and Ray if SENONE_PYTHON has it.
# SENONE_PYTHON names the interpreter; by default one with numpy is looked for.
set -euo pipefail
source=$1 library=$2 make_tone_bundle=$3
patterns=('test_*.py')
[[ ${4:-} == --more ]] && export SENONE_MORE=1 && patterns=(test_load.py test_batch_ray.py)
skip() { echo "skipped: $*"; exit 77; }

for python in ${SENONE_PYTHON:-python3 /usr/bin/python3}; do
  command -v "$python" >/dev/null || continue
  "$python" -c 'import numpy' 2>/dev/null && { found=$python; break; }
done
command -v python3 >/dev/null || [[ -n ${found:-} ]] || skip "python3 is missing; ./dev setup test installs it"
[[ -n ${found:-} ]] || skip "python3 has no numpy; ./dev setup test installs python3-numpy"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$make_tone_bundle" "$work/tones"
export SENONE_SOURCE=$source SENONE_LIBRARY=$library SENONE_TONES=$work/tones PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$source/bindings/python/src:$source/tests/bindings/python
export SENONE_PLUGINS=cpu

for pattern in "${patterns[@]}"; do
  "$found" -W error -m unittest discover -s "$source/tests/bindings/python" -p "$pattern"
done
[[ -z ${SENONE_MORE:-} ]] || exit 0
SENONE_PLUGINS=cpu,ocl_nvidia "$found" -W error -m unittest discover -s "$source/tests/bindings/python" -p test_device_scores.py

if "$found" -m mypy --version >/dev/null 2>&1; then
  (cd "$source/bindings/python" && "$found" -m mypy --config-file pyproject.toml --cache-dir "$work/mypy" src/senone examples)
  printf 'import senone\nsenone.Engine(3)\n' >"$work/wrong.py"
  if "$found" -m mypy --strict --cache-dir "$work/mypy" "$work/wrong.py" >"$work/log" 2>&1; then
    echo "run.sh: mypy took Engine(3)" >&2
    exit 1
  fi
  grep -q 'incompatible type "int"' "$work/log" || { cat "$work/log" >&2; exit 1; }
  echo "mypy --strict finds nothing"
else
  echo "mypy is not installed: types were not checked"
fi
