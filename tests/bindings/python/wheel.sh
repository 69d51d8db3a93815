#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh SOURCE MAKE_TONE_BUNDLE BUILD BUILD_TYPE runs `pip install ./bindings/python` in a clean virtual environment. Then it
# runs five lines of Python there, with the library and the plugins of the wheel. The wheel's build has the flags of BUILD, of type
# BUILD_TYPE, and lies beside it, so that ccache has its objects. Skipped if PyPI cannot be reached.
set -euo pipefail
source=$1 make_tone_bundle=$2 flags=$3/tests/same_flags.cmake build_type=$4
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "wheel.sh: $*" >&2; exit 1; }
command -v python3 >/dev/null || skip "python3 is missing; ./dev setup test installs it"
work=$(mktemp -d) build=$3-wheel
[[ -w ${3%/*} ]] || build=$work/build
rm -rf "$build"
trap 'rm -rf "$work" "$build"' EXIT
python3 -m venv "$work/venv" >"$work/log" 2>&1 || skip "python3 -m venv does not work; ./dev setup test installs python3-venv"
"$work/venv/bin/pip" -q download --no-deps -d "$work" scikit-build-core numpy >"$work/log" 2>&1 || skip "PyPI cannot be reached"

"$work/venv/bin/pip" install --config-settings=build-dir="$build" --config-settings=cmake.args="-C$flags" \
  --config-settings=cmake.build-type="$build_type" "$source/bindings/python" >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log"; fail "pip install failed"; }
package=$(cd / && "$work/venv/bin/python" -c 'import senone, pathlib; print(pathlib.Path(senone.__file__).parent)')
(cd "$package" && find . -name '*.so*' -o -name py.typed -o -name LICENSE | sort)
[[ -f $package/lib/libsenone.so.0 && ! -L $package/lib/libsenone.so.0 ]] || fail "no library in the wheel"
[[ -f $package/py.typed ]] || fail "no py.typed in the wheel"
if [[ -f /usr/include/CL/cl.h ]]; then
  for name in ocl_nvidia ocl_amd; do
    [[ -f $package/lib/senone/plugins/libsenone_$name.so ]] || fail "the plugin $name is not in the wheel"
  done
fi
[[ ! -e /usr/include/fst/fstlib.h || -f $package/lib/libsenone_build.so.0 ]] || fail "no libsenone_build in the wheel"
files=$(find "$package/.." -maxdepth 2 -path '*senone-*.dist-info*' \( -name LICENSE -o -name NOTICE \) | wc -l)
[[ $files -eq 2 ]] || files=$(find "$package/.." -path '*senone-*.dist-info*' \( -name LICENSE -o -name NOTICE \) | wc -l)
[[ $files -eq 2 ]] || fail "LICENSE and NOTICE are not in the wheel"

"$make_tone_bundle" "$work/tones"
words=$(cd / && "$work/venv/bin/python" - "$work/tones" <<'PYTHON'
import sys, senone
engine = senone.Engine(sys.argv[1] + "/bundle", device="cpu")
print(engine.recognize(sys.argv[1] + "/low_mid_high.raw").text)
assert senone.__file__ in sys.modules["senone"].__file__
PYTHON
)
[[ $words == "low mid high" ]] || fail "it heard: $words"
if [[ -f $package/lib/libsenone_build.so.0 ]]; then
  (cd / && "$work/venv/bin/python" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1]).vosk_gpu_init()' "$package/lib/libvosk.so") ||
    fail "libvosk does not load"
  (cd / && "$work/venv/bin/python" - "$work/tones" <<'PYTHON'
import sys, senone
builder = senone.GrammarBuilder(sys.argv[1] + "/model")
builder.add_lexicon(sys.argv[1] + "/tones.dict")
assert builder.words(["low", "mid"]).n_words == 2
PYTHON
  ) || fail "no grammar was compiled"
fi
"$work/venv/bin/python" -c 'import senone; print(*(f"{d.id} {d.reason}" for d in senone.devices()), sep="\n")'
echo "installed by pip, recognised"
