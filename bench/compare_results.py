#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_results.py EXPECTED FOUND [--some]
Compares two outputs of `senone recognize --json`. Words, their times and flags must be equal, costs within 1e-4 (relative),
confidences within 0.01. With --some FOUND may lack utterances, else none may be missing or in another order. Prints a line; the
exit status is 1 if anything differs."""
import json
import sys

COST_TOLERANCE = 1e-4
CONFIDENCE_TOLERANCE = 0.01


def read_results(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file if line.strip()]


def exact_part(result):
    words = [(word['word'], word['start_s'], word['end_s']) for word in result['words']]
    return words, result['text'], result['audio_s'], result['reached_final'], result['beam_died']


def relative(a, b):
    return abs(a - b) / max(1, abs(a), abs(b))


class Comparison:
    def __init__(self):
        self.cost = self.confidence = 0
        self.differing = []

    def add(self, expected, found):
        if 'error' in found or 'error' in expected:
            self.differing.append(f"{found['id']}: {found.get('error', 'expected an error')}")
        elif exact_part(expected) != exact_part(found):
            self.differing.append(f"{found['id']}: '{found['text']}' instead of '{expected['text']}', or other times")
        else:
            for cost in ('graph_cost', 'acoustic_cost'):
                self.cost = max(self.cost, relative(expected[cost], found[cost]))
            for a, b in zip(expected['words'], found['words']):
                self.confidence = max(self.confidence, abs(a.get('confidence', 0) - b.get('confidence', 0)))


def main():
    expected, found = (read_results(path) for path in sys.argv[1:3])
    if '--some' in sys.argv[3:]:
        wanted = {result['id'] for result in found}
        expected = [result for result in expected if result['id'] in wanted]
    comparison = Comparison()
    if not found or [r['id'] for r in expected] != [r['id'] for r in found]:
        comparison.differing.append(f'{len(found)} utterances instead of {len(expected)}, or in another order')
    else:
        for pair in zip(expected, found):
            comparison.add(*pair)
    n_same = len(found) - len(comparison.differing)
    print(f'words and times of {n_same} of {len(expected)} equal, costs within {comparison.cost:.1e}, '
          f'confidences within {comparison.confidence:.1e}', '; '.join([''] + comparison.differing[:3]), sep='')
    within = comparison.cost <= COST_TOLERANCE and comparison.confidence <= CONFIDENCE_TOLERANCE
    sys.exit(0 if within and not comparison.differing else 1)


if __name__ == '__main__':
    main()
