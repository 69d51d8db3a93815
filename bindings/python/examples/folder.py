# SPDX-License-Identifier: Apache-2.0
"""Recognises the recordings of a folder: python folder.py BUNDLE FOLDER. With a progress bar where tqdm is installed.

Prints `file<TAB>words` lines to stdout. Recordings: .wav and .raw, and with soundfile .flac, .ogg, .mp3, .sph.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import senone

SUFFIXES = {".wav", ".raw", ".flac", ".ogg", ".mp3", ".sph"}


def with_progress(results: Iterable[tuple[Path, str]], n: int) -> Iterator[tuple[Path, str]]:
    """Yields the same results and shows a bar on stderr, or prints a line from time to time."""
    try:
        tqdm: Any = importlib.import_module("tqdm")
    except ImportError:
        for number, result in enumerate(results, 1):
            if number % max(1, n // 10) == 0:
                print(f"{number} of {n}", file=sys.stderr)
            yield result
    else:
        yield from tqdm.tqdm(results, total=n, unit="recording")


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    paths = sorted(path for path in Path(sys.argv[2]).iterdir() if path.suffix.lower() in SUFFIXES)
    if not paths:
        sys.exit(f"folder: {sys.argv[2]}: no recordings ({', '.join(sorted(SUFFIXES))}) in it")
    n_jobs = os.cpu_count() or 1
    engine = senone.Engine(sys.argv[1], max_lanes=n_jobs)
    n_failed = 0

    def recognize(path: Path) -> tuple[Path, str]:
        nonlocal n_failed
        try:
            return path, engine.recognize(path, lattice_beam=0).text
        except senone.Error as error:
            n_failed += 1
            print(f"folder: {error}", file=sys.stderr)
            return path, ""

    with ThreadPoolExecutor(n_jobs) as pool:
        for path, text in with_progress(pool.map(recognize, paths), len(paths)):
            print(f"{path}\t{text}")
    return 1 if n_failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (senone.Error, OSError) as error:
        sys.exit(f"folder: {error}")
