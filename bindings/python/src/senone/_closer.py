# SPDX-License-Identifier: Apache-2.0
"""Closes the objects of collected owners. A collection may happen on any thread, wherever it allocates, and under any lock of
the program or of the interpreter; closing waits for callbacks and for log messages, which may want that lock. So a finalizer
only hands over."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from typing import Callable, NamedTuple, Optional


class Closing(NamedTuple):
    """close: frees the object; may wait. in_callback: tells whether a callback is running that close would wait for."""

    close: Callable[[], None]
    in_callback: Callable[[], bool]


class _Closer:
    """One thread that closes objects in turn. An object that has to wait for its callback gets a thread of its own, so that it
    delays no other."""

    def __init__(self) -> None:
        # SimpleQueue.put is the one that may be interrupted by itself: it is written for finalizers.
        self._queue: queue.SimpleQueue[Optional[Closing]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.RLock()  # a finalizer of the program may open an object here
        self._has_ended = False

    def start(self) -> None:
        """Starts the thread unless it runs. Not for finalizers: threading has locks."""
        if self._thread is not None or self._has_ended:
            return
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="senone closer", daemon=True)
                with contextlib.suppress(RuntimeError):  # no thread can be started now: the next object tries again
                    thread.start()
                    self._thread = thread

    def hand_over(self, closing: Closing) -> None:
        """Has an object closed soon. Neither waits nor locks, except once the interpreter ends: then no callback can come, and
        an object whose callback has not returned stays."""
        if not self._has_ended:
            self._queue.put(closing)
        elif not closing.in_callback():
            closing.close()

    def end(self, longest_s: float) -> None:
        """Waits until everything was closed that was handed over, and has later objects closed at once."""
        self._queue.put(None)
        if self._thread is None:
            self._has_ended = True
            while (closing := self._queue.get()) is not None:
                self.hand_over(closing)
        else:
            self._thread.join(longest_s)
            self._has_ended = True

    def _run(self) -> None:
        while (closing := self._queue.get()) is not None:
            if closing.in_callback():
                with contextlib.suppress(RuntimeError):  # no thread: the object waits here after all
                    threading.Thread(target=closing.close, name="senone closer", daemon=True).start()
                    continue
            closing.close()


_closer = _Closer()


def start() -> None:
    """Called before an object is made that a finalizer may hand over."""
    _closer.start()


def hand_over(closing: Closing) -> None:
    """For finalizers."""
    _closer.hand_over(closing)


def end(longest_s: float) -> None:
    """Called when the interpreter ends, after all streams were handed over. longest_s: to wait for callbacks."""
    _closer.end(longest_s)


def _begin_anew() -> None:
    """In a forked process, which has neither the thread nor objects to close."""
    global _closer
    _closer = _Closer()


os.register_at_fork(after_in_child=_begin_anew)
