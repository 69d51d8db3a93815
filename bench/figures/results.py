# SPDX-License-Identifier: Apache-2.0
"""Reads the committed measurements, bench/results/*.json of `senone bench --json`, and other JSON beside this file.

A measurement that does not exist is Missing, with the reason. Nothing is interpolated."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class FiguresError(Exception):
    """A problem, as a sentence for the person who draws the figures."""


@dataclass(frozen=True)
class Missing:
    """Replaces a measurement that does not exist; `reason` is printed in its place."""

    reason: str


Value = float | Missing

NO_DEVICE_TIME = Missing('not measured: no device time')
NO_AMD_GPU = Missing('not measured: no AMD GPU')
NOT_PRINTED = Missing('the paper gives no number')
NO_PEER_FIGURE = Missing('not measured with this program')


def read_json(path: Path) -> dict[str, Any]:
    """Returns the object in a file; raises FiguresError if it is missing."""
    try:
        content = json.loads(path.read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise FiguresError(f'{path}: {error}') from error
    if not isinstance(content, dict):
        raise FiguresError(f'{path}: expected a JSON object')
    return content


class Run:
    """One output of `senone bench --json`."""

    def __init__(self, name: str, content: dict[str, Any]) -> None:
        self.name = name
        for key, kind in (('benchmark', str), ('options', dict), ('results', list)):
            if not isinstance(content.get(key), kind):
                raise FiguresError(f'{name}.json: "{key}" is missing or of another kind')
        self.benchmark: str = content['benchmark']
        self.options: dict[str, Any] = content['options']
        self.rows: list[dict[str, Any]] = content['results']

    def expect(self, benchmark: str, **options: object) -> Run:
        """Raises FiguresError if the run is of another benchmark or had other options."""
        if self.benchmark != benchmark:
            raise FiguresError(f'{self.name}.json: the benchmark is {self.benchmark}, expected {benchmark}')
        for key, expected in options.items():
            if self.options.get(key) != expected:
                raise FiguresError(f'{self.name}.json: {key} is {self.options.get(key)}, expected {expected}')
        return self

    def find(self, column: str, **row: object) -> float | None:
        """Returns the number in `column` of the row with these values; None if the row or its number is missing."""
        for candidate in self.rows:
            if all(candidate.get(key) == wanted for key, wanted in row.items()):
                number = candidate.get(column)
                if number is None:
                    return None
                if not isinstance(number, (int, float)) or isinstance(number, bool):
                    raise FiguresError(f'{self.name}.json: {column} is {number!r}, expected a number')
                return float(number)
        return None


class Results:
    """All runs of a folder by file name without `.json`. Every file is read at once, so that a broken one is noticed."""

    def __init__(self, folder: Path) -> None:
        self._runs = {path.stem: Run(path.stem, read_json(path)) for path in sorted(folder.glob('*.json'))}
        if not self._runs:
            raise FiguresError(f'{folder}: no measurements')

    def has(self, name: str) -> bool:
        """True if the run exists."""
        return name in self._runs

    def run(self, name: str) -> Run:
        """Returns a run; it must exist."""
        if name not in self._runs:
            raise FiguresError(f'{name}.json is missing among the measurements')
        return self._runs[name]

    def value(self, name: str, column: str, otherwise: Missing | None = None, **row: object) -> Value:
        """Returns a number of a run. If the run or the row is missing: `otherwise`, or FiguresError without it."""
        if otherwise is not None and name not in self._runs:
            return otherwise
        number = self.run(name).find(column, **row)
        if number is not None:
            return number
        if otherwise is None:
            raise FiguresError(f'{name}.json: no {column} where {row}')
        return otherwise

    def named(self, prefix: str) -> list[Run]:
        """Returns all runs whose names begin with `prefix`, sorted; at least one must exist."""
        found = [run for name, run in self._runs.items() if name.startswith(prefix)]
        if not found:
            raise FiguresError(f'{prefix}*.json is missing among the measurements')
        return found


def scaled(value: Value, factor: float) -> Value:
    """Converts a value to another unit."""
    return value if isinstance(value, Missing) else value * factor


def inverse(value: Value) -> Value:
    """Converts between a real-time factor and times real time."""
    return value if isinstance(value, Missing) else 1 / value
