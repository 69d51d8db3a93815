#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accuracy.py SENONE BUNDLE REF --beams 6,8,... --all ARGUMENTS --short ARGUMENTS --set NAME --model NAME
Recognises the same recordings at several beams on one core. Prints one JSON object like those of `senone bench --json`: word
error rate, real-time factor and peak memory of each beam. --all are the arguments of `senone recognize` for all recordings,
--short those for a short one. `rtf` is the processor time of all threads per second of audio, the least of the repeats. It
equals the elapsed time if one thread has a core for itself. Loading is excluded: the time is that of all recordings less that
of the short one. bench/figures draws `*_accuracy_*.json` as figure 7 of Vaněk et al. 2012a."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

SUMMARY = re.compile(r'(\d+) utterances, ([0-9.]+) s of audio in ([0-9.]+) s, real-time factor [0-9.]+, on (\S+) \((.*)\)')


@dataclass(frozen=True)
class Spent:
    """Resources used by one process."""

    audio_s: float
    wall_s: float
    processor_s: float
    peak_memory_mb: float
    device: str
    driver: str


def recognize(senone: str, arguments: list[str]) -> Spent:
    """Runs `senone recognize` and parses the last line of its output."""
    process = subprocess.Popen([senone, 'recognize', *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    printed = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    summary = SUMMARY.search(printed)
    if process.returncode != 0 or summary is None:
        sys.exit(f'accuracy.py: senone recognize failed (status {process.returncode}):\n{printed}')
    return Spent(
        float(summary[2]),
        float(summary[3]),
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024 / 1e6,
        summary[4],
        summary[5],
    )


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def measure(options: argparse.Namespace, beam: float) -> tuple[dict[str, Any], Spent]:
    """Returns the row of one beam, and the fastest run on all recordings."""
    given = ['--model', options.bundle, '--device', 'cpu', '--beam', str(beam), '--threads', '1', '--jobs', '1']
    given += ['--selection', options.selection] if options.selection else []
    with tempfile.TemporaryDirectory() as work:
        hyp = f'{work}/hyp'
        runs = [recognize(options.senone, [*given, '--hyp', hyp, *options.all]) for _ in range(options.repeats)]
        short_runs = [
            recognize(options.senone, [*given, '--hyp', f'{work}/short', *options.short]) for _ in range(options.repeats)
        ]
        errors = json.loads(output_of(options.senone, 'wer', '--json', '--ignore-case', options.ref, hyp))
    least, short = (min(spent, key=lambda run: run.processor_s) for spent in (runs, short_runs))
    rtf = (least.processor_s - short.processor_s) / (least.audio_s - short.audio_s)
    row = {
        'beam': beam,
        'wer_percent': errors['wer_percent'],
        'rtf': rtf,
        'rtf_wall': min(run.wall_s / run.audio_s for run in runs),
        'peak_memory_mb': least.peak_memory_mb,
    }
    return row, least


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description='word error rates and real-time factors at several beams')
    parser.add_argument('senone')
    parser.add_argument('bundle')
    parser.add_argument('ref')
    parser.add_argument('--beams', required=True, type=lambda text: [float(beam) for beam in text.split(',')])
    parser.add_argument('--all', required=True, type=shlex.split)
    parser.add_argument('--short', required=True, type=shlex.split)
    parser.add_argument('--repeats', type=int, default=2)
    parser.add_argument('--set', required=True, help='name of the recordings')
    parser.add_argument('--model', required=True, help='name of the acoustic and language models')
    parser.add_argument('--selection', default='', help='argument of `senone recognize`; default: all states are scored')
    parser.add_argument('--note', action='append', default=[])
    return parser.parse_args()


def main() -> None:
    options = parse()
    rows = []
    for beam in options.beams:
        row, spent = measure(options, beam)
        rows.append(row)
        print(row, file=sys.stderr)
    info = json.loads(output_of(options.senone, 'info', options.bundle, '--json'))
    print(
        json.dumps(
            {
                'benchmark': 'accuracy',
                'device': spent.device,
                'driver': spent.driver,
                'cpu': spent.driver,
                'date': datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ'),
                'version': output_of(options.senone, '--version').split()[-1],
                'options': {
                    'threads': 1,
                    'repeats': options.repeats,
                    'set': options.set,
                    'model': options.model,
                    'selection': options.selection,
                    'audio_s': spent.audio_s,
                    'gaussians': info['acoustic']['gaussians'],
                    'states': info['graph']['states'],
                    'arcs': info['graph']['arcs'],
                    'graph_mb': info['files']['graph.bin'] / 1e6,
                    'max_active': info['decoding']['max_active'],
                },
                'results': rows,
                'notes': [
                    'rtf: processor seconds for a second of audio, loading not counted; rtf_wall: time taken',
                    *options.note,
                ],
            },
            indent=2,
        )
    )


if __name__ == '__main__':
    main()
