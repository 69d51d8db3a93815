# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class for each asr_status, each also the built-in exception that fits it."""

from __future__ import annotations

from enum import IntEnum

from ._library import lib, text
from ._terms import in_python


class Status(IntEnum):
    """The values of asr_status."""

    OK = 0
    INVALID_ARGUMENT = -1
    INVALID_STATE = -2
    NOT_FOUND = -3
    BAD_FILE = -4
    BAD_AUDIO = -5
    UNSUPPORTED = -6
    NO_DEVICE = -7
    DEVICE_LOST = -8
    OUT_OF_MEMORY = -9
    IO = -10
    TIMEOUT = -11
    CANCELLED = -12
    INTERNAL = -13
    BUSY = -14


class Error(Exception):
    """A call of the library failed. ``str(error)`` is its message: the cause, the file or argument, and the remedy."""

    status: Status = Status.INTERNAL


class InvalidArgument(Error, ValueError):
    """An argument is missing or out of its range."""

    status = Status.INVALID_ARGUMENT


class InvalidState(Error, RuntimeError):
    """A call out of order, such as feeding a stream that was finished or closed."""

    status = Status.INVALID_STATE


class NotFound(Error, FileNotFoundError):
    """A file, a device or a plugin does not exist."""

    status = Status.NOT_FOUND


class BadFile(Error, ValueError):
    """A file is damaged, cut short, or of another format or version."""

    status = Status.BAD_FILE


class BadAudio(Error, ValueError):
    """Samples or rows are not finite, or there is no audio at all."""

    status = Status.BAD_AUDIO


class Unsupported(Error, NotImplementedError):
    """Valid, but not possible with this version or this back end."""

    status = Status.UNSUPPORTED


class NoDevice(Error, RuntimeError):
    """No back end, or not the named one, has a usable device."""

    status = Status.NO_DEVICE


class DeviceLost(Error, RuntimeError):
    """The device failed while in use; streams on it end, the process goes on."""

    status = Status.DEVICE_LOST


class OutOfMemory(Error, MemoryError):
    """Memory is exhausted on the host or the device."""

    status = Status.OUT_OF_MEMORY


class IoFailure(Error, OSError):
    """Reading or writing failed."""

    status = Status.IO


class Timeout(Error, TimeoutError):
    """The time of a wait has passed."""

    status = Status.TIMEOUT


class Cancelled(Error):
    """The stream was cancelled."""

    status = Status.CANCELLED


class InternalError(Error, RuntimeError):
    """A defect of the library."""

    status = Status.INTERNAL


class Busy(Error, BlockingIOError):
    """A call that never blocks would have to."""

    status = Status.BUSY


_CLASSES: dict[int, type[Error]] = {
    int(kind.status): kind
    for kind in (
        InvalidArgument,
        InvalidState,
        NotFound,
        BadFile,
        BadAudio,
        Unsupported,
        NoDevice,
        DeviceLost,
        OutOfMemory,
        IoFailure,
        Timeout,
        Cancelled,
        InternalError,
        Busy,
    )
}


def error_of(status: int, message: str) -> Error:
    """Returns the exception for a status; an unknown status of a later library gives an Error that names it."""
    kind = _CLASSES.get(status)
    message = in_python(message)
    if kind is not None:
        return kind(message)
    return Error(in_python(f"{text(lib.asr_status_text(status))} ({status}): {message}"))


def check(status: int) -> None:
    """Raises the exception of this thread's failed call."""
    if status != 0:
        raise error_of(status, text(lib.asr_last_error()))
