# SPDX-License-Identifier: Apache-2.0
"""What the server refuses, and how the library's errors become that."""

from __future__ import annotations

import senone


class Refused(Exception):
    """A request that cannot be served. status: of HTTP. reason: a word for metrics and logs."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class Gone(Exception):
    """The client has left, or was given up. reason: a word for metrics and logs; code: of a WebSocket's close."""

    def __init__(self, reason: str, code: int = 1000) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


def refusal(error: senone.Error) -> Refused:
    """Returns the answer to an error of the library. Only the client's own mistakes are described to it; the log has the
    rest, which may name files of this machine."""
    if isinstance(error, (senone.BadFile, senone.BadAudio, senone.Unsupported, senone.InvalidArgument)):
        return Refused(400, "bad_request", str(error))
    if isinstance(error, senone.DeviceLost):
        return Refused(503, "device", "the device that recognised was lost, and with it this stream; connect again")
    if isinstance(error, senone.OutOfMemory):
        return Refused(503, "memory", "the server is out of memory; try again later")
    return Refused(500, "internal", "the server failed; its log says why")
