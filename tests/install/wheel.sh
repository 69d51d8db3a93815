#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh COMMAND WHEEL MODEL_WHEEL SOURCE checks the content of the wheels. Then it installs them in a clean Debian with Python
# and without a compiler (a chroot of mmdebstrap), where wheel_inside.sh uses them. COMMAND is a `senone`, to make a bundle. Exit
# status 77: no such chroot can be made here.
set -euo pipefail
command=$1 wheel=$2 model=$3 source=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "${BASH_SOURCE[0]}")/digits.sh"
command -v mmdebstrap >/dev/null || { echo "skipped: mmdebstrap is missing"; exit 77; }

[[ ${wheel##*/} == senone-*-py3-none-manylinux_2_*_*.whl ]] || fail "${wheel##*/} has no manylinux tag"
python3 -m zipfile -l "$wheel" | awk 'NR > 1 { print $1 }' >"$work/files"
for file in senone/lib/libsenone.so.0 senone/lib/libsenone_build.so.0 senone/lib/senone/plugins/libsenone_ocl_amd.so \
  senone/lib/libvosk.so senone/batch/__main__.py senone/py.typed '*.dist-info/licenses/*NOTICE'; do
  found=
  while read -r name; do
    # shellcheck disable=SC2053
    [[ $name == $file ]] && found=1
  done <"$work/files"
  [[ -n $found ]] || fail "$file is not in the wheel"
done
! grep '^senone\.libs/.' "$work/files" | grep -vE '/lib(fst|fstscript|utf8proc|lzma|bz2|z)-' || # listed in NOTICE
  fail "a library of the system is in the wheel; its licence must be, too"

for file in '[^/]*\.dist-info/licenses/LICENSE' '.*/share/senone/models/en-us/graph\.bin' '.*/models/en-us-commands/lexicon\.dict'; do
  python3 -m zipfile -l "$model" | grep "^senone_model_en_us-$file " >/dev/null || fail "the model's wheel has no $file"
done

suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mkdir -p "$work/in/wheels"
cp -r "$source/tests/install" "$data" "$data/../goforward.raw" "$work/in"
cp "$wheel" "$model" "$work/in/wheels"
make_bundle "$command"
mv "$bundle" "$work/in/bundle"
# Gets numpy for that Debian's Python, which has the same version as this Debian's.
/usr/bin/python3 -m pip -q download --no-deps -d "$work/in/wheels" numpy >"$work/log" 2>&1 ||
  { echo "skipped: PyPI cannot be reached"; exit 77; }
mmdebstrap --variant=apt --include=python3-venv --customize-hook="copy-in $work/in /" \
  --customize-hook='chroot "$1" bash /in/install/wheel_inside.sh' "$suite" /dev/null >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log"; fail "the wheel in a clean $suite"; }
grep '^inside: ' "$work/log"
