#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keywords.py SENONE BUNDLE LEXICON AN4 LIBRISPEECH [--case lower|upper] [--live] [--every N] [--pocketsphinx HMM]
Looks for twenty keywords in AN4 and in LibriSpeech, each recording a stream of its own. Prints, for thresholds of the
keywords, how many are missed and how many false ones there are in an hour. A keyword that is heard more often in a recording
than it is said is false so many times. --pocketsphinx: keyword mode of the Python package pocketsphinx beside it, with this
model and the same dictionary; it needs the package soundfile, too.
BUNDLE: a model as `senone import` makes it; it is not changed. AN4: the folder with etc/ and the recordings. LIBRISPEECH: a
folder with the recordings and `text`, lines of an id and the words."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

KEYWORDS = """enter, rubout, erase, repeat, stop, help, start, hundred, thousand, seventy, missus rachel, because, matthew,
sitting, chapter, waiting, darling, nothing, window, little""".replace('\n', ' ').split(', ')
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
RATIOS = ('1e-30', '1e-20', '1e-10', '1e-5', '1')  # of PocketSphinx


def seconds_of(flac: Path) -> float:
    with flac.open('rb') as file:
        fields = int.from_bytes(file.read(26)[18:26], 'big')  # rate, channels, bits, samples: 20, 3, 5 and 36 bits
    return (fields & (1 << 36) - 1) / (fields >> 44)


class Recordings:
    """path_of and said: by id. Found keywords are given as (id, keyword)."""

    def __init__(self, name: str, path_of: dict[str, Path], said: dict[str, str]) -> None:
        self.name, self.path_of = name, path_of
        self.said = {
            (id, keyword): len(re.findall(rf'\b{keyword}\b', said[id])) for id in path_of for keyword in KEYWORDS
        }
        self.hours = sum(map(seconds_of, path_of.values())) / 3600

    def row(self, threshold: str, found: list[tuple[str, str]]) -> str:
        count = Counter(found)
        hits = sum(min(n, count[place]) for place, n in self.said.items())
        n = sum(self.said.values())
        false = sum(count.values()) - hits
        return f'| {threshold} | {100 * (n - hits) / n:.1f} ({n - hits} of {n}) | {false / self.hours:.1f} ({false}) |'


def an4(folder: Path, every: int) -> Recordings:
    path_of, said = {}, {}
    for part in ('an4_train', 'an4_test_dev'):
        for line in (folder / 'etc' / f'{part}.transcription').read_text().splitlines():
            match = re.fullmatch(r'(.*)\((\S+)\)\s*', line)
            if match:
                said[match[2]] = re.sub(r'</?s>', '', match[1]).lower()
        paths = (folder / 'etc' / f'{part}.fileids').read_text().split()
        for path in paths[:: every if part == 'an4_train' else 1]:
            path_of[Path(path).name] = folder / f'{path}.flac'
    return Recordings('AN4', path_of, said)


def librispeech(folder: Path) -> Recordings:
    said = dict(line.split(' ', 1) for line in (folder / 'text').read_text().lower().splitlines())
    return Recordings('LibriSpeech', {id: folder / f'{id}.flac' for id in said}, said)


def run_senone(options: argparse.Namespace, recordings: Recordings, work: Path) -> list[tuple[str, str, float]]:
    keywords, listed, bundle = work / 'keywords', work / 'list', work / 'bundle'
    keywords.write_text('\n'.join(KEYWORDS))
    listed.write_text(''.join(f'{path} {id}\n' for id, path in recordings.path_of.items()))
    graph = ['--model', options.bundle, '--out', str(bundle), '--lexicon', options.lexicon, '--keywords', str(keywords)]
    subprocess.run([options.senone, 'graph', *graph, '--case', options.case], check=True, stdout=subprocess.DEVNULL)
    command = [options.senone, 'recognize', '--model', str(bundle), '--device', 'cpu', '--list', str(listed), '--json']
    command += ['--reject', '1', '--quiet', *(['--cmn', 'live'] if options.live else [])]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = []
    for result in map(json.loads, output.splitlines()):
        words = [(word['word'].lower(), word['confidence']) for word in result['words']]
        while words:
            keyword = next(k for k in KEYWORDS if k.split() == [word for word, _ in words[: len(k.split())]])
            found.append((result['id'], keyword, words[0][1]))
            del words[: len(keyword.split())]
    return found


def run_pocketsphinx(options: argparse.Namespace, recordings: Recordings, ratio: str, work: Path) -> list[tuple[str, str]]:
    import pocketsphinx
    import soundfile

    keywords = work / 'ratios'
    keywords.write_text(''.join(f'{keyword} /{ratio}/\n' for keyword in KEYWORDS))
    decoder = pocketsphinx.Decoder(hmm=options.pocketsphinx, dict=options.lexicon, kws=str(keywords), loglevel='FATAL')
    found = []
    for id, path in recordings.path_of.items():
        samples, _ = soundfile.read(path, dtype='int16')
        decoder.start_utt()
        decoder.process_raw(samples.tobytes(), full_utt=True)
        decoder.end_utt()
        found += [(id, segment.word.strip()) for segment in decoder.seg() or []]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('senone', 'bundle', 'lexicon', 'an4', 'librispeech'):
        parser.add_argument(name)
    parser.add_argument('--case', choices=('lower', 'upper'), default='lower')
    parser.add_argument('--live', action='store_true', help='live means instead of those of whole recordings')
    parser.add_argument('--every', type=int, default=1, help='of AN4 train, every so many recordings')
    parser.add_argument('--pocketsphinx', metavar='HMM')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        for recordings in (an4(Path(options.an4), options.every), librispeech(Path(options.librispeech))):
            found = run_senone(options, recordings, Path(work))
            print(f'{recordings.name}, {60 * recordings.hours:.0f} minutes: misses in percent, false alarms an hour')
            print('| threshold | misses | false alarms |\n|---|---|---|')
            for threshold in THRESHOLDS:
                print(recordings.row(str(threshold), [(id, keyword) for id, keyword, score in found if score >= threshold]))
            for ratio in RATIOS if options.pocketsphinx else ():
                begin = time.process_time()
                heard = run_pocketsphinx(options, recordings, ratio, Path(work))
                spent = (time.process_time() - begin) / (3600 * recordings.hours)
                print(recordings.row(f'PocketSphinx, {ratio}', heard), f'{1000 * spent:.0f} ms a second of audio')


if __name__ == '__main__':
    main()
