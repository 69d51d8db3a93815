#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""near_miss.py SENONE BUNDLE LEXICON AN4 [--set dev|train] [--case lower|upper] [--live]
Recognises AN4 with a grammar that holds some of its sentences and nearly all words of the others, each recording a stream of
its own. Prints, for thresholds of out_of_grammar, how many sentences outside the grammar are accepted and how many inside it
are rejected, and the area under the ROC of the words' confidences: how often a right word has a higher one than a wrong word.
BUNDLE: a model as `senone import` makes it; it is not changed. AN4: the folder with etc/ and the recordings."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

NUMBERS = (
    'zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen '
    'nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand'
).split()
COMMANDS = 'yes no go stop help start repeat'.split()
VERBS = 'enter erase rubout'.split()
GRAMMAR = f"""#JSGF V1.0;
grammar near;
<number> = {' | '.join(NUMBERS)};
public <command> = {' | '.join(COMMANDS)} | ({' | '.join(VERBS)}) <number>+;
"""


def is_inside(words: list[str]) -> bool:
    if len(words) == 1:
        return words[0] in COMMANDS
    return words[0] in VERBS and all(word in NUMBERS for word in words[1:])


def right_words(heard: list[str], said: list[str]) -> list[bool]:
    """Returns, for each word heard, whether the cheapest alignment has the same word there."""
    cost = [[i + j if i == 0 or j == 0 else 0 for j in range(len(said) + 1)] for i in range(len(heard) + 1)]
    for i, word in enumerate(heard, 1):
        for j, other in enumerate(said, 1):
            cost[i][j] = min(cost[i - 1][j - 1] + (word != other), cost[i - 1][j] + 1, cost[i][j - 1] + 1)
    right = [False] * len(heard)
    i, j = len(heard), len(said)
    while i > 0:
        if j > 0 and cost[i][j] == cost[i - 1][j - 1] + (heard[i - 1] != said[j - 1]):
            right[i - 1] = heard[i - 1] == said[j - 1]
            i, j = i - 1, j - 1
        elif cost[i][j] == cost[i - 1][j] + 1:
            i -= 1
        else:
            j -= 1
    return right


def transcripts(path: Path) -> dict[str, list[str]]:
    found = {}
    for line in path.read_text().splitlines():
        match = re.fullmatch(r'(.*)\((\S+)\)\s*', line)
        if match:
            found[match[2]] = re.sub(r'</?s>', '', match[1]).lower().split()
    return found


def area_under_roc(right: list[float], wrong: list[float]) -> float:
    pairs = sum((a > b) + 0.5 * (a == b) for a in right for b in wrong)
    return pairs / (len(right) * len(wrong)) if right and wrong else float('nan')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('senone', 'bundle', 'lexicon', 'an4'):
        parser.add_argument(name)
    parser.add_argument('--set', choices=('dev', 'train'), default='dev')
    parser.add_argument('--case', choices=('lower', 'upper'), default='lower')
    parser.add_argument('--live', action='store_true', help='live means instead of those of whole recordings')
    options = parser.parse_args()
    etc = Path(options.an4) / 'etc'
    name = {'dev': 'an4_test_dev', 'train': 'an4_train'}[options.set]
    said = transcripts(etc / f'{name}.transcription')
    with tempfile.TemporaryDirectory() as work:
        grammar, listed, bundle = Path(work) / 'near.jsgf', Path(work) / 'list', Path(work) / 'bundle'
        grammar.write_text(GRAMMAR)
        ids = (etc / f'{name}.fileids').read_text().split()
        listed.write_text(''.join(f'{options.an4}/{i}.flac {Path(i).name}\n' for i in ids))
        graph = ['--model', options.bundle, '--out', str(bundle), '--lexicon', options.lexicon, '--jsgf', str(grammar)]
        subprocess.run([options.senone, 'graph', *graph, '--case', options.case], check=True, stdout=subprocess.DEVNULL)
        command = [options.senone, 'recognize', '--model', str(bundle), '--device', 'cpu', '--list', str(listed), '--json']
        command += ['--confidence', '--quiet', *(['--cmn', 'live'] if options.live else [])]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    scores: dict[bool, list[float]] = {True: [], False: []}
    confidences: dict[bool, list[float]] = {True: [], False: []}
    for result in map(json.loads, output.splitlines()):
        words = said[result['id']]
        score = result['out_of_grammar']
        scores[is_inside(words)].append(1 if score is None else score)
        heard = [word['word'].lower() for word in result['words']]
        for word, is_right in zip(result['words'], right_words(heard, words)):
            confidences[is_right].append(word['confidence'])
    inside, outside = scores[True], scores[False]
    print(f'{options.set}: {len(inside)} sentences inside the grammar, {len(outside)} outside')
    print('| threshold | false rejects, % | false accepts, % |\n|---|---|---|')
    for threshold in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        rejected = 100 * sum(score > threshold for score in inside) / len(inside)
        accepted = 100 * sum(score <= threshold for score in outside) / len(outside)
        print(f'| {threshold} | {rejected:.1f} | {accepted:.1f} |')
    area = area_under_roc(confidences[True], confidences[False])
    print(f'words: {len(confidences[True])} right, {len(confidences[False])} wrong, area under the ROC {area:.3f}')


if __name__ == '__main__':
    main()
