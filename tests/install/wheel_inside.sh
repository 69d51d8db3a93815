#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel_inside.sh runs in the clean Debian of wheel.sh with its files in /in. It installs the wheels by pip, without a network,
# and uses them. Five lines recognise, with the model by its name and with another bundle, a grammar is compiled and used, a stream
# prints intermediate words, and a batch transcribes a folder, with and without numpy.
set -euo pipefail
export LC_ALL=C.UTF-8
work=$(mktemp -d)
digits=/in/tidigits
. /in/install/digits.sh
cd "$work"

! command -v cc gcc c++ || fail "this system has a compiler"
[[ -z $(ldconfig -p | grep -E 'libsndfile|libgomp|libOpenCL|libfst') ]] || fail "this system has more than the wheel needs"
python3 -m venv venv
begin=$(date +%s%N)
venv/bin/pip -q install --no-index --find-links /in/wheels senone senone-model-en-us

cat >five.py <<'PYTHON'
import sys
import senone
engine = senone.Engine(sys.argv[1])
result = engine.recognize(sys.argv[2])
print(result.text)
PYTHON
words=$(venv/bin/python five.py en-us /in/goforward.raw)
[[ $words == "go forward ten meters" ]] || fail "five lines heard with the model en-us: $words"
echo "inside: pip install of both wheels and five lines with en-us, $((($(date +%s%N) - begin) / 100000000))00 ms: $words"
words=$(venv/bin/python five.py /in/bundle "$recording")
[[ $words == *"two nine three four zero"* ]] || fail "five lines heard: $words"
echo "inside: five lines say: $words"

cat >grammar.py <<'PYTHON'
import sys
import senone
builder = senone.GrammarBuilder(sys.argv[1])
builder.add_lexicon("/in/tidigits/lm/tidigits.dic")
words = "oh zero one two three four five six seven eight nine".split()
rules = f"#JSGF V1.0;\ngrammar digits;\npublic <number> = ({' | '.join(words)})+ {{done}};"
engine = senone.Engine(sys.argv[1])
engine.add_graph("digits", builder.jsgf(rules))
result = engine.recognize(sys.argv[2], graph="digits")
print(result.text, result.alternatives[0].rule, *result.alternatives[0].tags)
PYTHON
words=$(venv/bin/python grammar.py /in/bundle "$recording")
[[ $words == "two nine three four zero number done" ]] || fail "with a grammar it heard: $words"
echo "inside: with a grammar compiled there: $words"

cat >partials.py <<'PYTHON'
import sys
import senone
samples, rate = senone.read_audio(sys.argv[2])
show = lambda event: event.text and print(event.kind.name, event.text, flush=True)
with senone.Engine(sys.argv[1]).stream(callback=show, rate=rate, partial_interval_ms=200) as stream:
    for begin in range(0, len(samples), rate // 10):
        stream.feed(samples[begin : begin + rate // 10])
PYTHON
venv/bin/python partials.py /in/bundle "$recording" >partials || { cat partials; fail "a stream"; }
(($(grep -c '^PARTIAL' partials) > 2)) || fail "a stream printed no partial words: $(cat partials)"
grep -q '^FINAL .*two nine three four zero' partials || fail "a stream heard: $(cat partials)"
echo "inside: a stream says: $(grep '^PARTIAL .' partials | head -n 3 | paste -sd ,), ..."

mkdir recordings
cp /in/tidigits/*.raw recordings
for numpy in with without; do
  venv/bin/python -m senone.batch --model /in/bundle --device cpu --out "$numpy.jsonl" recordings >summary ||
    fail "a batch $numpy numpy"
  [[ $(wc -l <"$numpy.jsonl") == "$(ls recordings | wc -l)" ]] || fail "the batch has not every recording"
  echo "inside: a batch $numpy numpy: $(head -n 1 summary)"
  venv/bin/pip -q uninstall -y numpy
done
diff <(sort with.jsonl) <(sort without.jsonl) >/dev/null || fail "results differ without numpy"
venv/bin/python -c 'import senone; print(*(f"inside: {d.id} {d.reason}" for d in senone.devices()), sep="\n")'
