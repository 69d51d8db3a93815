# SPDX-License-Identifier: Apache-2.0
"""One source of audio."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import os
import threading
import time
import weakref
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from . import _closer
from ._audio import as_audio, as_rows, check_begin
from ._config import StreamConfig, encoded, native_config
from ._device_scores import DeviceScores, Leases, device_scores, is_on_device, left_over
from ._errors import InvalidArgument, InvalidState, check
from ._events import Event, EventKind, Result
from ._handle import Handle, Uncopied
from ._inbox import EventCallback, Inbox, receive
from ._library import asr_stream_stats, lib
from ._lines import Lines, joined, normalised, utf8
from ._numbers import real

_open: weakref.WeakSet[Stream] = weakref.WeakSet()
_gate = threading.Condition()  # guards the names around it; a lock that a collection of garbage may take again
_n_opening = 0
_n_live = 0  # streams that the library has
_ending = False  # the interpreter is
_LONGEST_CLOSING_S = 30.0


@contextlib.contextmanager
def _opening() -> Iterator[None]:
    """Lets a stream be opened and enter `_open`, unless the interpreter is ending."""
    global _n_opening
    with _gate:
        if _ending:
            raise InvalidState("the interpreter is ending; open streams before")
        _n_opening += 1
    try:
        yield
    finally:
        with _gate:
            _n_opening -= 1
            _gate.notify_all()


def _final_of(event: Event) -> Result | None:
    if event.error is not None:
        raise event.error
    return event if isinstance(event, Result) else None


def _checked(final: Result | None) -> Result:
    if final is None:
        raise InvalidState("the stream has ended and its FINAL event was taken")
    return final


_KINDS = {"float": "float32", "int16": "int16", "ulaw": "uint8", "alaw": "uint8"}  # of the memory of samples


@dataclass(frozen=True)
class StreamStats:
    """How far a stream is behind its input.
    fed_s: audio that was fed, or rows as time. searched_s: how much of it has been searched, or dropped as background; with cmn
    "batch" nothing before `finish`, after END all. waiting_s: the difference.
    """

    fed_s: float
    searched_s: float
    waiting_s: float


class Stream(Uncopied):
    """One source of audio and its events, made by `Engine.stream`.
    ``for event in stream`` and ``async for event in stream`` take events, wait for each, and end after END. `next`, `ready`,
    and, for all at once, `result` take them, too; or a callback gets them. Their order is READY, then SPEECH_START,
    PARTIAL (with partial_interval_ms), ENDPOINT, FINAL, then END; an ERROR may replace any of them, followed by END. The next
    PARTIAL replaces one that was not taken.
    As a context manager it finishes at the end of the block, and its events may still be taken afterwards. With a callback it
    also waits for END and closes. After an exception in the block it is closed. An unreferenced stream is closed. Until then
    a stream keeps its memory, so that `reset` can begin it again.
    """

    def __init__(self, engine: Handle, row_length: int, config: StreamConfig, callback: EventCallback | None) -> None:
        if callback is not None and not callable(callback):
            raise InvalidArgument(f"callback is {callback!r}; it must be a function of an event, or None")
        global _n_live
        native = native_config(config)
        self._input = config.get("input", "float")
        self._has_fed = False
        self._n_channels = int(native.n_channels)
        self._row_length = row_length
        self._memory = config.get("rows_memory", "host")
        self._leases = Leases()
        self._has_callback = callback is not None
        self._has_endpoint = config.get("endpoint", "off") != "off"
        self._finished = False
        self._last_state: bytes | None = None  # set while END was the last event taken
        self._inbox = Inbox(callback)
        native.callback = receive
        native.user_data = self._inbox.number
        pointer = ctypes.c_void_p()
        speaker = config.get("speaker")
        with _opening(), contextlib.ExitStack() as lent:
            opened = lent.enter_context(engine)
            if speaker is not None:
                native.speaker = lent.enter_context(speaker._handle)
            check(lib.asr_open(opened, ctypes.byref(native), ctypes.byref(pointer)))
            assert pointer.value is not None
            self._handle = Handle(pointer.value, _close, "the stream was closed; open another")
            with _gate:
                _n_live += 1
                _open.add(self)

    # ---- state ------------------------------------------------------------------------------------------------------

    def state(self) -> bytes:
        """Returns the learned state of the normalisation (speaker, microphone and level), for `set_state` of a later stream.
        It covers the audio so far, and all of it once FINAL or END was taken. Raises InvalidState if the stream keeps none (it
        does with cmn "live"), or was closed before its END.
        """
        if self._last_state is not None:
            return self._last_state
        n = ctypes.c_size_t()
        with self._handle as pointer:
            check(lib.asr_stream_get_state(pointer, None, 0, ctypes.byref(n)))
            room = ctypes.create_string_buffer(n.value)
            check(lib.asr_stream_get_state(pointer, room, n.value, ctypes.byref(n)))
        return room.raw

    def set_state(self, state: bytes) -> None:
        """Starts the stream from the `state` of an earlier one, before the first `feed`. Raises InvalidArgument (no state, or
        one of another front end), Unsupported (of another version), InvalidState (after `feed`, or the stream keeps none)."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise InvalidArgument(f"state is {state!r}; it must be the bytes of an earlier stream's state")
        data = bytes(state)
        with self._handle as pointer:
            check(lib.asr_stream_set_state(pointer, data, len(data)))

    def stats(self) -> StreamStats:
        """How far the stream is behind its input. Does not wait. Raises InvalidState (closed)."""
        found = asr_stream_stats(size=ctypes.sizeof(asr_stream_stats))
        with self._handle as pointer:
            check(lib.asr_stream_get_stats(pointer, ctypes.byref(found)))
        return StreamStats(found.fed_s, found.searched_s, found.waiting_s)

    # ---- audio ------------------------------------------------------------------------------------------------------

    def feed(self, values: Any) -> None:
        """Appends audio or rows, and returns as soon as they are copied.
        values: audio: an array [n], or [n, n_channels], of int16, or of float32 or float64 with full scale -1..1. Or bytes,
        bytearrays, memoryviews and array.arrays of these types, channels interleaved. Bytes are 16-bit samples, or, with
        input "ulaw" or "alaw", those of G.711.
        With a rows_memory of a device: a tensor [T, n_states] in its memory, by DLPack, which is kept until it was searched.
        Features: [T, n_feature_dims], log-likelihoods: [T, n_states]. The result does not depend on how a signal is cut into
        calls. Blocks while the backlog is over max_backlog_ms, except in a callback. Raises InvalidArgument, InvalidState (after
        finish or close), BadAudio (a value is not finite; nothing of this call is taken), OutOfMemory, or the exception of the
        ERROR event if the stream has failed. This one, `finish` and the other calls below raise the callback's own exception if
        that ended the stream.
        """
        if self._memory != "host":
            return self._check(self._feed_device(values))
        self._check(self._feed_with(lib.asr_feed, values))

    def try_feed(self, values: Any) -> None:
        """`feed` that never blocks: raises Busy, with nothing taken, if `feed` would block."""
        self._check(self._feed_with(lib.asr_try_feed, values))

    def _feed_with(self, function: Any, values: Any) -> int:
        if self._input in ("features", "loglikes"):
            rows, n = as_rows(values, self._row_length)
            owner, address = rows, rows.ctypes.data
        else:
            if not self._has_fed:
                check_begin(values)
            owner, address, n = as_audio(values, self._n_channels, _KINDS[self._input])
        with self._handle as pointer:
            status: int = function(pointer, address, n)
        self._has_fed = True
        del owner  # kept alive until here
        return status

    def _feed_device(self, values: Any) -> int:
        if not isinstance(values, DeviceScores):
            if not is_on_device(values):
                raise InvalidArgument(f"rows_memory is {self._memory!r}, but the rows are on the host")
            values = device_scores(values)
        if len(values.shape) != 2 or values.shape[1] != self._row_length:
            raise InvalidArgument(f"rows have the shape {values.shape}; this stream needs [T, {self._row_length}]")
        with self._handle as pointer:
            status: int = values.feed_to(pointer, self._leases)
        return status

    async def feed_async(self, values: Any) -> None:
        """`feed` for coroutines: does not block the event loop while the backlog is too long."""
        await asyncio.get_running_loop().run_in_executor(None, self.feed, values)

    def end_utterance(self) -> None:
        """Ends the current utterance with the audio fed before, like an endpoint; its last few frames belong to the next. Does
        not block. Raises InvalidState if the stream has no `endpoint` or was finished, or the exception of the ERROR event if
        the stream has failed."""
        with self._handle as pointer:
            self._check(lib.asr_end_utterance(pointer))

    def cancel_utterance(self) -> None:
        """Drops the current utterance, with all audio fed before; later audio belongs to the next. Does not block. If
        SPEECH_START has come, ENDPOINT and a FINAL without words and with Flag.CANCELLED follow. Raises as `end_utterance`."""
        with self._handle as pointer:
            self._check(lib.asr_cancel_utterance(pointer))

    def set_graph(self, name: str) -> None:
        """Chooses the graph of the next utterance, by its name in the engine (`Engine.add_graph`); "" is the bundle's own.
        Without `endpoint` it must come before the first `feed`, or after `reset`. Otherwise the next utterance is the first
        whose sound is fed later; one that began before and has no words by then is dropped. Raises NotFound, InvalidState, or
        the exception of the ERROR event if the stream has failed.
        """
        with self._handle as pointer:
            self._check(lib.asr_set_graph(pointer, encoded("name", name)))

    def boost(self, phrases: Lines | None, bonus: float = 5.0) -> None:
        """Boosts phrases, one per line of a text or the items of a list, for the current utterance, or else the next one.
        Each occurrence of a phrase makes a path of the lattice cheaper by bonus (natural log, -1000..1000; 3..8 is usual). The
        stream needs a `lattice_beam`; phrases that its lattices do not contain cannot be boosted. Words may be written in
        another case than the graph's. Calls add up; None removes all boosts. Raises NotFound (words that the graph
        lacks; see the setting allow_unknown_boosts), InvalidArgument, InvalidState, Unsupported (over 1 MiB waits),
        OutOfMemory, or the exception of the ERROR event if the stream has failed.
        """
        data = None if phrases is None else utf8("phrases", normalised(joined("phrases", phrases)))
        with self._handle as pointer:
            self._check(lib.asr_boost(pointer, data, 0 if data is None else len(data), real("bonus", bonus)))

    def reset(self) -> None:
        """Resets the stream to its state when opened, also after `finish` or `cancel`: clock, means, utterances. Unfinished
        work and pending events are dropped; READY is the next event. Also after END or ERROR. Raises DeviceLost, OutOfMemory, or
        InvalidState after `close`. With a callback, the end of a ``with`` block closes."""
        with self._handle as pointer:
            before = self._inbox.begin_again()
            try:
                check(lib.asr_reset(pointer))
            except BaseException:
                self._inbox.go_on(before)
                raise
        self._finished, self._last_state = False, None

    def finish(self) -> None:
        """Declares the audio complete; FINAL and END follow. Does not block. Raises InvalidState if it was called before, or
        the exception of the ERROR event if the stream has failed."""
        with self._handle as pointer:
            self._check(lib.asr_finish(pointer))
        self._finished = True

    def cancel(self) -> None:
        """Stops the work as soon as possible: an ERROR event with Cancelled and END follow. Does not block."""
        with self._handle as pointer:
            check(lib.asr_cancel(pointer))

    # ---- events -----------------------------------------------------------------------------------------------------

    def next(self, timeout: float | None = None) -> Event | None:
        """Waits for the next event and takes it; None after END. timeout: seconds; None: no limit. Raises Timeout; InvalidState
        if the stream has a callback."""
        self._check_no_callback()
        return self._taken(self._inbox.take(timeout))

    def ready(self) -> Iterator[Event]:
        """Takes the available events, without waiting. Raises InvalidState if the stream has a callback."""
        self._check_no_callback()
        while (event := self._taken(self._inbox.take_ready())) is not None:
            yield event

    def __iter__(self) -> Iterator[Event]:
        """Waits for each event, up to and including END."""
        while (event := self.next()) is not None:
            yield event

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Waits for each event without blocking the event loop, up to and including END."""
        self._check_no_callback()
        while (event := self._taken(await self._inbox.take_async())) is not None:
            yield event

    def result(self, timeout: float | None = None) -> Result:
        """Finishes the stream if necessary, takes events up to END and returns the FINAL one.
        timeout: seconds per event. Raises Timeout, the exception of an ERROR event, InvalidArgument (a ValueError) if the
        stream has an endpoint, or InvalidState if it has a callback or its FINAL was taken before.
        """
        self._check_one_result()
        self._finish_once()
        found: Result | None = None
        while (event := self.next(timeout)) is not None:
            found = _final_of(event) or found
        return _checked(found)

    async def result_async(self) -> Result:
        """`result` for coroutines."""
        self._check_one_result()
        self._finish_once()
        found: Result | None = None
        async for event in self:
            found = _final_of(event) or found
        return _checked(found)

    def wait(self, timeout: float | None = None) -> None:
        """With a callback: waits until END was passed to it, and raises the callback's exception. timeout: seconds. Raises
        Timeout; InvalidState without a callback."""
        if not self._has_callback:
            raise InvalidState("the stream has no callback; take its events")
        if self._in_callback():
            raise InvalidState("a callback cannot wait for its own end")
        self._inbox.wait_ended(timeout)
        if self._inbox.failure is not None:
            raise self._inbox.failure

    # ---- end --------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the stream, finished or not: waits for a running callback, discards events, frees everything. May be called
        again, but raises InvalidState in the stream's own callback."""
        if self._in_callback():
            raise InvalidState("close was called in the stream's own callback, which it would wait for; use cancel")
        if self._handle.foreign:
            return
        self._cancel_discarding()
        self._handle.close()
        left_over.add(*self._leases.take_all())

    def _close_soon(self) -> None:
        """`close` by another thread, for the end of the interpreter."""
        if not self._handle.foreign:
            self._cancel_discarding()
            self._handle.close_soon(self._inbox.busy)

    def _cancel_discarding(self) -> None:
        self._inbox.discard()
        with contextlib.suppress(InvalidState):  # already closed
            self.cancel()  # makes a blocked feed return

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self.close()
            return
        self._finish_once()
        if self._has_callback and not self._handle.closed:
            self.wait()
            self.close()

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.__exit__, kind, error, traceback)

    def __del__(self) -> None:
        if hasattr(self, "_handle"):  # not if it failed to open
            self._inbox.drop()
            self._handle.close_soon(self._inbox.busy)

    def _check(self, status: int) -> None:
        """Raises the callback's exception, which has cancelled the stream, or that of the status."""
        if status != 0 and self._inbox.failure is not None:
            raise self._inbox.failure
        check(status)

    def _in_callback(self) -> bool:
        return self._inbox.thread == threading.get_ident()

    def _check_no_callback(self) -> None:
        if self._has_callback:
            raise InvalidState("the stream has a callback, which gets its events")

    def _check_one_result(self) -> None:
        if self._has_endpoint:
            raise InvalidArgument(
                "a stream with endpoints has a result for each utterance; iterate over its events (for event in stream)"
            )

    def _finish_once(self) -> None:
        """Finishes the stream unless it was finished, was closed, or has failed, which its events report."""
        if self._finished or self._handle.closed or self._inbox.ended:
            return
        self._finished = True
        with self._handle as pointer:
            lib.asr_finish(pointer)

    def _taken(self, event: Event | None) -> Event | None:
        """Keeps the learned state at END, for `state` after `close`."""
        if event is not None and event.kind == EventKind.END:
            with contextlib.suppress(InvalidState):  # the stream keeps none
                self._last_state = self.state()
        return event


def _close_all() -> None:
    """Closes all streams before the interpreter ends, so that no thread of the library calls into it afterwards, unless a
    callback does not return. Daemon threads may still be opening some."""
    global _ending
    with _gate:
        _ending = True
        while _n_opening > 0:
            _gate.wait()
        streams = list(_open)
    end_s = time.monotonic() + _LONGEST_CLOSING_S
    # Streams in a callback come last: closing waits for it, and it may want what the ending thread holds.
    for stream in sorted(streams, key=lambda stream: stream._inbox.busy()):
        stream._close_soon()
    _closer.end(_LONGEST_CLOSING_S)
    with _gate:  # other threads may still be closing some
        _gate.wait_for(lambda: _n_live <= 0, max(0.0, end_s - time.monotonic()))


def _close(pointer: int) -> None:
    """Frees a stream. No callback comes afterwards."""
    global _n_live
    lib.asr_close(pointer)
    with _gate:
        _n_live -= 1
        _gate.notify_all()


def _forget_parents() -> None:
    """In a forked process: the streams are its parent's, and a thread that is not here may hold the lock."""
    global _gate, _n_opening, _n_live, _open
    _gate, _n_opening, _n_live, _open = threading.Condition(), 0, 0, weakref.WeakSet()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_parents)
