# SPDX-License-Identifier: Apache-2.0
"""SIGINT, SIGTERM and SIGHUP end the batch by an exception, but never in the middle of a result."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from typing import Any, NoReturn

_n_writing = 0
_pending: int | None = None


class Interrupted(BaseException):
    """A signal ends the run."""

    def __init__(self, number: int) -> None:
        self.number = number


def end_on_signals() -> None:
    """Raises Interrupted at the first signal and ignores later ones. Signals that the parent (such as nohup) ignores stay
    ignored."""
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]

    def end(number: int, frame: Any) -> None:
        global _pending
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        if _n_writing:
            _pending = number
        else:
            raise Interrupted(number)

    for each in numbers:
        signal.signal(each, end)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delays a signal that comes in the block to the block's end."""
    global _n_writing, _pending
    _n_writing += 1
    try:
        yield
    finally:
        _n_writing -= 1
    if _n_writing == 0 and _pending is not None:
        number, _pending = _pending, None
        raise Interrupted(number)


def die_of(number: int) -> NoReturn:
    """Ends the process as the signal would have."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    raise SystemExit(128 + number)
