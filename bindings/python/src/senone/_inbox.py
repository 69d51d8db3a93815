# SPDX-License-Identifier: Apache-2.0
"""Inboxes for the library's events: one per stream, read by threads, by coroutines or by the user's callback."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import threading
import time
import weakref
from collections import deque
from typing import Callable, Optional

from ._errors import InvalidArgument, Timeout
from ._events import Event, EventKind, take_event
from ._library import EventFunction
from ._numbers import real

EventCallback = Callable[[Event], None]

_State = tuple[deque[Event], bool, Optional[BaseException]]  # events, ended, failure

_numbers = itertools.count(1)
_inboxes: weakref.WeakValueDictionary[int, Inbox] = weakref.WeakValueDictionary()  # key: user_data


class Inbox:
    """A queue of events. The stream holds it; the library only knows its number, so that an unreferenced stream can be
    collected."""

    def __init__(self, callback: EventCallback | None) -> None:
        self.number = next(_numbers)
        self.failure: BaseException | None = None  # exception of the callback
        self.thread: int | None = None  # the library's thread in `put`, which runs the callback
        self.ended = False  # END was taken or passed to the callback
        self._callback = callback
        self._discards = False
        self._awaits_ready = False
        self._events: deque[Event] = deque()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._changed = threading.Condition(threading.Lock())
        _inboxes[self.number] = self

    def put(self, event: Event) -> bool:
        """Called on the library's thread. Returns False if the callback raised, so that the stream is cancelled."""
        # Set before _discards is looked at. So after drop() no callback runs, or busy() tells of it.
        self.thread = threading.get_ident()
        try:
            return self._put(event)
        finally:
            self.thread = None

    def busy(self) -> bool:
        """Tells whether the library's thread is in `put`."""
        return self.thread is not None

    def drop(self) -> None:
        """Drops all later events. For finalizers: takes no lock, which this thread may hold."""
        self._discards = True

    def _put(self, event: Event) -> bool:
        if self._discards or self._is_old(event):
            return True
        raised = False
        if self._callback is not None and self.failure is None:
            try:
                self._callback(event)
            except BaseException as error:
                self.failure, raised = error, True
        with self._changed:
            if self._callback is None:
                # Untaken events must not accumulate with the audio: a PARTIAL replaces the one before.
                if event.kind == EventKind.PARTIAL and self._events and self._events[-1].kind == EventKind.PARTIAL:
                    self._events.pop()
                self._events.append(event)
            elif event.kind == EventKind.END:
                self.ended = True
            self._wake_readers()
        return not raised

    def begin_again(self) -> _State:
        """Drops all events until the next READY, which the stream's reset sends. Returns the argument of `go_on`."""
        with self._changed:
            before = (self._events, self.ended, self.failure)
            self._events = deque()
            self.ended, self.failure, self._awaits_ready = False, None, True
        return before

    def go_on(self, before: _State) -> None:
        """Undoes `begin_again` after a failed reset."""
        with self._changed:
            self._events, self.ended, self.failure = before
            self._awaits_ready = False
            self._changed.notify_all()

    def _is_old(self, event: Event) -> bool:
        with self._changed:
            if event.kind == EventKind.READY:
                self._awaits_ready = False
            return self._awaits_ready

    def discard(self) -> None:
        """Drops all present and future events, and wakes waiting readers."""
        self.drop()
        with self._changed:
            self._events.clear()
            self.ended = True
            self._wake_readers()

    def take_ready(self) -> Event | None:
        """Returns the next event if there is one."""
        with self._changed:
            return self._take()

    def take(self, timeout_s: float | None) -> Event | None:
        """Waits for the next event; None after END. Raises Timeout."""
        with self._changed:
            self._wait(lambda: bool(self._events) or self.ended, timeout_s)
            return self._take()

    def wait_ended(self, timeout_s: float | None) -> None:
        """Waits until END was passed to the callback. Raises Timeout."""
        with self._changed:
            self._wait(lambda: self.ended, timeout_s)

    async def take_async(self) -> Event | None:
        """`take` for coroutines: does not block the event loop."""
        loop = asyncio.get_running_loop()
        while True:
            with self._changed:
                if self._events or self.ended:
                    return self._take()
                future: asyncio.Future[None] = loop.create_future()
                self._waiting.append((loop, future))
            try:
                await future
            finally:
                with self._changed, contextlib.suppress(ValueError):
                    self._waiting.remove((loop, future))

    def _wake_readers(self) -> None:
        """Wakes threads and coroutines. Called with the lock."""
        self._changed.notify_all()
        waiting, self._waiting = self._waiting, []
        for loop, future in waiting:
            with contextlib.suppress(RuntimeError):  # the loop was closed
                loop.call_soon_threadsafe(_wake, future)

    def _take(self) -> Optional[Event]:
        if not self._events:
            return None
        event = self._events.popleft()
        self.ended = event.kind == EventKind.END
        return event

    def _wait(self, ready: Callable[[], bool], timeout_s: float | None) -> None:
        timeout_s = _limit(timeout_s)
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not ready():
            left_s = None if end_s is None else end_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                raise Timeout(f"no event within {timeout_s:g} s")
            self._changed.wait(left_s)


def _limit(timeout: object) -> float | None:
    """Converts a timeout in seconds; None, and a time longer than threads can wait, mean no limit. Raises InvalidArgument."""
    if timeout is None:
        return None
    seconds = real("timeout", timeout)
    if math.isnan(seconds):
        raise InvalidArgument("timeout is nan; it must be seconds, or None for no limit")
    return None if seconds >= threading.TIMEOUT_MAX else seconds


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _receive(stream: int, event: int, number: int) -> None:
    from ._library import lib

    taken = take_event(event)
    inbox = _inboxes.get(number)
    if inbox is not None and not inbox.put(taken):
        lib.asr_cancel(stream)


receive = EventFunction(_receive)  # asr_stream_config.callback of every stream; lives as long as the library may call it
