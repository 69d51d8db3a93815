# SPDX-License-Identifier: Apache-2.0
"""What all parts of the batch share: a recording to recognise, its result, the settings of workers, failures."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

Record = dict[str, Any]  # a result, as it is written: the names of `senone recognize --json`


class Failure(Exception):
    """Ends the run: a sentence for the user."""


class UsageFailure(Failure):
    """The command line makes no sense."""


class Item(NamedTuple):
    """A recording. number: its place in the input, from 0. path: as the system calls it, maybe no UTF-8."""

    number: int
    id: str
    path: str


@dataclass(frozen=True)
class Settings:
    """What a worker needs to know; plain values, as they travel between processes and hosts.

    jobs, threads: 0: by the device. stream: keyword arguments of `Engine.stream`.
    """

    model: str
    device: str | None
    fallback: str | None
    jobs: int
    threads: int
    raw_rate: int
    stream: dict[str, Any]


def printable(name: str) -> str:
    """A name that need not be UTF-8, as text that can be written."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def failed_record(item: Item, sentence: str) -> Record:
    """The result of a recording that cannot be recognised."""
    name, sentence = printable(item.path), printable(sentence)
    return {"id": item.id, "file": name, "error": sentence if sentence.startswith(name) else f"{name}: {sentence}"}


def n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))
