#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuts.py SENONE BUNDLE LIST REFERENCE [--longest-ms N]
Recognises recordings as streams of their own, once without a limit and once with cuts after N ms (1500) of an utterance, and
prints the word error rates of `senone wer`, and how many utterances were cut. LIST: lines of a recording and its id, 16 kHz.
PYTHONPATH holds bindings/python/src, and SENONE_LIBRARY is the library's path; it needs the package soundfile."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import senone
import soundfile


def words_and_cuts(engine: senone.Engine, recording: str, longest_ms: int) -> tuple[str, int]:
    samples, rate = soundfile.read(recording, dtype='int16')
    limit = {'longest_utterance_ms': longest_ms} if longest_ms else {}
    with engine.stream(endpoint='dictation', rate=rate, **limit) as stream:
        stream.feed(samples)
        stream.finish()
        finals = [event for event in stream if event.kind == senone.EventKind.FINAL]
    return ' '.join(event.text for event in finals), sum(senone.Flag.CUT in event.flags for event in finals)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('senone', 'bundle', 'list', 'reference'):
        parser.add_argument(name)
    parser.add_argument('--longest-ms', type=int, default=1500)
    arguments = parser.parse_args()
    engine = senone.Engine(arguments.bundle, device='cpu')
    recordings = [line.split() for line in Path(arguments.list).read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        for longest_ms in (0, arguments.longest_ms):
            heard, n_cut = Path(folder, 'heard'), 0
            with heard.open('w') as file:
                for recording, utterance in recordings:
                    words, n = words_and_cuts(engine, recording, longest_ms)
                    file.write(f'{words} ({utterance})\n')
                    n_cut += n
            wer = subprocess.run([arguments.senone, 'wer', arguments.reference, heard], capture_output=True, text=True, check=True)
            rate = next(line for line in wer.stdout.splitlines() if line.startswith('word error rate'))
            print(f'{f"at most {longest_ms} ms" if longest_ms else "no limit"}: {n_cut} cuts, {rate}')


main()
