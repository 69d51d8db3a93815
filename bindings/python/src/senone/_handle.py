# SPDX-License-Identifier: Apache-2.0
"""Owners of the library's objects: each is closed once, and never while another thread uses it."""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Any, Callable, TypeVar

from . import _closer
from ._errors import InvalidState

_Self = TypeVar("_Self", bound="Owner")


class Handle:
    """A pointer that ``with handle as pointer`` lends for one call.
    close() waits for calls in progress, so that asr_close is the last call of a stream on any thread. A forked process must not
    use, nor free, its parent's objects.
    """

    def __init__(self, pointer: int, free: Callable[[int], None], closed: str) -> None:
        _closer.start()
        self._pointer: int | None = pointer
        self._free = free
        self._closed_message = closed
        self._process = os.getpid()
        self._n_users = 0
        self._changed = threading.Condition(threading.Lock())

    @property
    def foreign(self) -> bool:
        """True in a process that was forked from the object's: its threads, which may hold locks, are not there."""
        return self._process != os.getpid()

    @property
    def closed(self) -> bool:
        """True once no new use may begin."""
        return self._pointer is None

    def __enter__(self) -> int:
        if self.foreign:
            raise InvalidState("this process was forked; load an engine in the process that uses it")
        with self._changed:
            if self._pointer is None:
                raise InvalidState(self._closed_message)
            self._n_users += 1
            return self._pointer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._changed:
            self._n_users -= 1
            if self._n_users == 0:
                self._changed.notify_all()

    def close(self) -> None:
        """Frees the object after calls in progress; does nothing the second time, nor in a forked process."""
        if self.foreign:
            return
        with self._changed:
            pointer, self._pointer = self._pointer, None
            while self._n_users > 0:
                self._changed.wait()
        if pointer is not None:
            self._free(pointer)

    def close_soon(self, in_callback: Callable[[], bool] = lambda: False) -> None:
        """`close` for finalizers, which must not wait: another thread frees the object. in_callback: tells that thread whether
        the object waits for a callback."""
        if not self.foreign:
            _closer.hand_over(_closer.Closing(self.close, in_callback))


class Uncopied:
    """An object that copies and pickles refuse, since two objects would close one handle."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled; open another")


class Owner(Uncopied):
    """An object that owns a handle: closed by close(), at the end of a ``with`` block, or with its last reference."""

    _handle: Handle

    def close(self) -> None:
        """Frees the contents of the object after calls in progress. May be called again."""
        self._handle.close()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_handle"):  # not if it failed to open
            self._handle.close_soon()
