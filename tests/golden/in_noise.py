# SPDX-License-Identifier: Apache-2.0
"""in_noise.py WORDS.raw DB OUT.raw NOISE.raw...: 16-bit samples of words that come after a second of other people's talk and
go on in it. DB: how much louder the words are than the talk of all NOISE together."""

import sys
from array import array


def samples(path):
    with open(path, "rb") as file:
        return array("h", file.read())


def power(values):
    return sum(value * value for value in values) / len(values)


RATE = 16000
words, talkers = samples(sys.argv[1]), [samples(path) for path in sys.argv[4:]]
n = RATE + len(words)
talk = [sum(talker[(i + 3001 * k) % len(talker)] for k, talker in enumerate(talkers)) for i in range(n)]
scale = (power(words) / power(talk) / 10 ** (float(sys.argv[2]) / 10)) ** 0.5
heard = [scale * value for value in talk]
for i, value in enumerate(words):
    heard[RATE + i] += value
with open(sys.argv[3], "wb") as out:
    array("h", (max(-32768, min(32767, round(value))) for value in heard)).tofile(out)
