#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel_aarch64.sh WHEEL BUNDLES SYSROOT tries the wheel for 64-bit ARM: Python of the sysroot runs five lines under qemu-user, with
# the model en-us of the folder BUNDLES, and compiles a grammar. Nothing is installed: the wheel is unpacked.
set -euo pipefail
wheel=$1 bundles=$(realpath "$2") sysroot=$(realpath "$3")
recording=/usr/share/pocketsphinx/test/data/goforward.raw
fail() { echo "wheel_aarch64.sh: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -f $recording ]] || { echo "skipped: $recording is missing; install pocketsphinx-testdata"; exit 77; }
[[ ${wheel##*/} == senone-*-py3-none-manylinux_2_*_aarch64.whl ]] || fail "${wheel##*/} has no tag of manylinux and aarch64"
/usr/bin/python3 -m zipfile -e "$wheel" "$work"
for library in "$work"/senone/lib/*.so* "$work"/senone/lib/senone/plugins/*.so "$work"/senone.libs/*; do
  readelf -h "$library" | grep -q 'Machine: *AArch64' || fail "${library#"$work"/} is for another processor"
done
cat >"$work/words.py" <<'PYTHON'
import ctypes, pathlib, sys, senone
print(senone.Engine("en-us").recognize(sys.argv[1]).text)
builder = senone.GrammarBuilder("en-us-commands")
builder.add_lexicon()
engine = senone.Engine("en-us-commands")
engine.add_graph("", builder.jsgf("#JSGF V1.0; grammar robot; public <go> = go (forward | backward) (two | ten) meters;"))
print(engine.recognize(sys.argv[1]).text)
ctypes.CDLL(str(pathlib.Path(senone.__file__).parent / "lib/libvosk.so")).vosk_gpu_init()
PYTHON
words=$(PYTHONHOME=$sysroot/usr PYTHONPATH=$work PYTHONDONTWRITEBYTECODE=1 SENONE_MODEL_PATH=$bundles SENONE_PLUGINS=cpu \
  qemu-aarch64-static -L "$sysroot" "$sysroot/usr/bin/python3" "$work/words.py" "$recording") || fail "Python failed"
[[ $words == $'go forward ten meters\ngo forward ten meters' ]] || fail "it heard: $words"
echo "under qemu, Python hears with the model en-us, and with a grammar: ${words%%$'\n'*}"
