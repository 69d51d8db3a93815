#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bursts.py SENONE BUNDLE LEXICON AN4 [--case lower|upper] [--seed N] [--recordings FILE ...]
Makes bursts of noise of many kinds, each in a stream of its own with the grammar of near_miss.py, and prints for how many of
them SPEECH_START comes. Then recordings of speech, AN4 dev, and others if you name them: prints after how much audio it comes,
which is fed in pieces of 20 ms. Two runs with the same seed compare two builds of the library, whose path is in the environment
variable SENONE_LIBRARY; PYTHONPATH holds bindings/python/src.
BUNDLE: a model as `senone import` makes it; it is not changed. AN4: the folder with etc/ and the recordings."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import senone
from near_miss import GRAMMAR

RATE = 16000
Samples = Any  # an array of one dimension


def coloured(random: np.random.Generator, n: int, slope: float) -> Samples:
    """Noise whose power falls with the frequency to the power of slope: white 0, pink 1, brown 2."""
    spectrum = np.fft.rfft(random.standard_normal(n))
    frequency = np.fft.rfftfreq(n, 1 / RATE)
    frequency[0] = frequency[1]
    return np.fft.irfft(spectrum * frequency ** (-slope / 2), n)


def any_noise(random: np.random.Generator, n: int) -> Samples:
    return coloured(random, n, random.choice([0, 0.5, 1, 1.5, 2]))


def band(samples: Samples, low_hz: float, high_hz: float) -> Samples:
    spectrum = np.fft.rfft(samples)
    frequency = np.fft.rfftfreq(len(samples), 1 / RATE)
    spectrum[(frequency < low_hz) | (frequency > high_hz)] = 0
    return np.fft.irfft(spectrum, len(samples))


def resonance(samples: Samples, centre_hz: Samples, q: float) -> Samples:
    """A band-pass filter of order 2 whose centre may move."""
    omega = 2 * np.pi * np.broadcast_to(centre_hz, len(samples)) / RATE
    alpha = np.sin(omega) / (2 * q)
    filtered = np.empty(len(samples))
    z1 = z2 = 0.0
    for i, x in enumerate(samples):
        scale = 1 + alpha[i]
        filtered[i] = y = alpha[i] / scale * x + z1
        z1 = z2 + 2 * np.cos(omega[i]) / scale * y
        z2 = -alpha[i] / scale * x - (1 - alpha[i]) / scale * y
    return filtered / filtered.std()


def decay(n: int, seconds: float) -> Samples:
    return np.exp(-np.arange(n) / RATE / seconds)


def decaying(random: np.random.Generator, n: int) -> Samples:
    return any_noise(random, n) * decay(n, random.uniform(0.03, 0.2))


def knocks(random: np.random.Generator, n: int) -> Samples:
    samples = np.zeros(n)
    for _ in range(random.integers(2, 8)):
        at = random.integers(0, n - 800)
        m = min(n - at, 4000)
        samples[at : at + m] += coloured(random, m, 1) * decay(m, random.uniform(0.005, 0.04))
    return samples


def resonant_knocks(random: np.random.Generator, n: int) -> Samples:
    samples = np.zeros(n)
    for _ in range(random.integers(1, 6)):
        at = random.integers(0, n - 1600)
        m = min(n - at, 4800)
        knock = resonance(random.standard_normal(m), random.uniform(200, 3000), random.uniform(2, 15))
        samples[at : at + m] += knock * decay(m, random.uniform(0.005, 0.06))
    return samples


def rattle(random: np.random.Generator, n: int) -> Samples:
    samples = np.zeros(n)
    period, at = int(RATE / random.uniform(15, 60)), 0
    while at < n:
        m = min(n - at, 2000)
        samples[at : at + m] += random.standard_normal(m) * decay(m, random.uniform(0.003, 0.02))
        at += int(period * random.uniform(0.7, 1.3))
    return samples


def octaves(random: np.random.Generator, n: int) -> Samples:
    low_hz = random.uniform(100, 3000)
    return band(any_noise(random, n), low_hz, low_hz * random.uniform(1.5, 4))


def third(random: np.random.Generator, n: int) -> Samples:
    low_hz = random.uniform(100, 4000)
    return band(any_noise(random, n), low_hz, 1.26 * low_hz)


def two_bands(random: np.random.Generator, n: int) -> Samples:
    low_hz, high_hz, samples = random.uniform(200, 1200), random.uniform(1500, 5000), any_noise(random, n)
    low, high = band(samples, low_hz, 1.5 * low_hz), band(samples, high_hz, 1.4 * high_hz)
    return low / low.std() + random.uniform(0.2, 1) * high / high.std()


def formants(random: np.random.Generator, n: int) -> Samples:
    samples, centres = any_noise(random, n), ((300, 900, 1), (900, 2500, 0.6), (2500, 3500, 0.3))
    return sum(gain * resonance(samples, random.uniform(a, b), random.uniform(3, 10)) for a, b, gain in centres)


def swept(random: np.random.Generator, n: int) -> Samples:
    centre_hz = np.linspace(random.uniform(200, 3000), random.uniform(200, 3000), n)
    return resonance(any_noise(random, n), centre_hz, random.uniform(1, 8))


def pulsing(random: np.random.Generator, n: int) -> Samples:
    rate_hz = random.uniform(3, 60)
    return any_noise(random, n) * (1 + random.uniform(0.3, 1) * np.sin(2 * np.pi * rate_hz * np.arange(n) / RATE))


KINDS: dict[str, tuple[int, Callable[[np.random.Generator, int], Samples]]] = {
    'white to brown noise': (50, any_noise),
    'decaying noise': (50, decaying),
    'noise in a band of 0.6 to 2 octaves': (50, octaves),
    'knocks': (50, knocks),
    'noise in a third of an octave': (40, third),
    'noise in two bands': (40, two_bands),
    'noise above 0.5 to 4 kHz': (40, lambda random, n: band(any_noise(random, n), random.uniform(500, 4000), RATE / 2)),
    'noise below 0.2 to 2.5 kHz': (40, lambda random, n: band(any_noise(random, n), 30, random.uniform(200, 2500))),
    'noise with three resonances': (40, formants),
    'noise through a moving resonance': (40, swept),
    'noise that pulses 3 to 60 times a second': (40, pulsing),
    'knocks with a resonance': (40, resonant_knocks),
    'rattle': (40, rattle),
}


def burst(random: np.random.Generator, make: Callable[[np.random.Generator, int], Samples]) -> Samples:
    """Returns a burst of 0.15 to 0.9 s with 2 s of quiet noise before it, and 1.5 s behind."""
    n = int(RATE * random.uniform(0.15, 0.9))
    samples = make(random, n)
    samples *= random.choice([300, 1000, 3000]) / samples.std()
    samples[:80] *= np.linspace(0, 1, 80)
    samples[-80:] *= np.linspace(1, 0, 80)
    whole = 10 * random.standard_normal(3 * RATE + RATE // 2 + n)
    whole[2 * RATE : 2 * RATE + n] += samples
    return np.clip(np.round(whole), -32768, 32767).astype(np.int16)


def settle(engine: senone.Engine) -> None:
    """Waits until the engine has done what it can with the audio so far."""
    before = None
    while before != (before := engine.stats()):
        time.sleep(0.003)


def start_of(engine: senone.Engine, samples: Samples, rate: int, step_s: float) -> float | None:
    """Returns how much audio was fed, in pieces of step_s, when SPEECH_START came. None: it did not come."""
    with engine.stream(endpoint='command', rate=rate) as stream:
        for begin in range(0, len(samples), int(rate * step_s)):
            end = begin + int(rate * step_s)
            stream.feed(samples[begin:end])
            settle(engine)
            if any(event.kind == senone.EventKind.SPEECH_START for event in stream.ready()):
                return end / rate
        stream.finish()
        started = any(event.kind == senone.EventKind.SPEECH_START for event in stream)
    return len(samples) / rate if started else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('senone', 'bundle', 'lexicon', 'an4'):
        parser.add_argument(name)
    parser.add_argument('--case', choices=('lower', 'upper'), default='lower')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--recordings', nargs='*', default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        grammar, bundle = Path(work) / 'near.jsgf', Path(work) / 'bundle'
        grammar.write_text(GRAMMAR)
        graph = ['--model', options.bundle, '--out', str(bundle), '--lexicon', options.lexicon, '--jsgf', str(grammar)]
        subprocess.run([options.senone, 'graph', *graph, '--case', options.case], check=True, stdout=subprocess.DEVNULL)
        engine = senone.Engine(bundle, device='cpu')
        random = np.random.default_rng(options.seed)
        for kind, (n, make) in KINDS.items():
            n_started = sum(start_of(engine, burst(random, make), RATE, 10) is not None for _ in range(n))
            print(f'{kind}: SPEECH_START for {n_started} of {n}', flush=True)
        ids = (Path(options.an4) / 'etc' / 'an4_test_dev.fileids').read_text().split()
        for path in [f'{options.an4}/{id}.flac' for id in ids] + options.recordings:
            samples, rate = senone.read_audio(path)
            at_s = start_of(engine, samples, rate, 0.02)
            print(f'{path}: ' + ('no SPEECH_START' if at_s is None else f'SPEECH_START after {at_s:.2f} s'), flush=True)


if __name__ == '__main__':
    main()
