# SPDX-License-Identifier: Apache-2.0
"""Types shared by all parts of the batch: a recording to recognise, its result, the settings of workers, failures."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

Record = dict[str, Any]  # a result as written: the names of `senone recognize --json`


class Failure(Exception):
    """Ends the run with a message for the user."""


class UsageFailure(Failure):
    """The command line is invalid."""


class Item(NamedTuple):
    """A recording. number: its index in the input, from 0. path: the system's name, perhaps not UTF-8. fault: what is wrong with
    the line that should name it, or "". Such a line is a result of its own, an error, under the place of the line as its id."""

    number: int
    id: str
    path: str
    fault: str = ""


@dataclass(frozen=True)
class Settings:
    """Settings of a worker; plain values, as they travel between processes and hosts.
    jobs, threads: 0: chosen by the device. raw_rate to channel: as of `senone._audio.Recording`. max_hours: of a recording, of
    which the rest is left out. stream: keyword arguments of `Engine.stream`.
    """

    model: str
    device: str | None
    fallback: str | None
    jobs: int
    threads: int
    raw_rate: int
    raw_format: str | None
    raw_channels: int
    channel: int
    max_hours: float
    stream: dict[str, Any]


# Control characters, separators of lines and paragraphs, characters that change the direction of text, and blanks and characters
# of no width that nobody sees, without joiners.
_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f\u2060\u2066-\u2069\u3000\ufeff]"
)
_LETTERS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """Converts text with names for a message: to one line that a terminal shows as it is, as the library does. Backslashes stay,
    so that applying it twice gives the same."""

    def shown(found: re.Match[str]) -> str:
        code = ord(found[0])
        return _LETTERS.get(found[0], f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}")

    return _OBEYED.sub(shown, as_text(text))


def as_text(name: str) -> str:
    """Converts a name that need not be UTF-8 to text that can be written as a result."""
    errors = "surrogateescape" if is_name(name) else "backslashreplace"
    return name.encode("utf-8", errors).decode("utf-8", "backslashreplace")


def is_name(name: str) -> bool:
    """Returns False for text that no file's name can be: with surrogates that stand for no byte."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def failed_record(item: Item, message: str) -> Record:
    """Returns the result of a recording that cannot be recognised."""
    name, message = printable(item.path), printable(message)
    return {"id": item.id, "file": as_text(item.path), "error": message if message.startswith(name) else f"{name}: {message}"}


def n_cores() -> int:
    """Returns the cores that this process may use."""
    return len(os.sched_getaffinity(0))
