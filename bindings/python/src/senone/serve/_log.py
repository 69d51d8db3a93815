# SPDX-License-Identifier: Apache-2.0
"""Logs as JSON, a line for each event, on standard error. What people say is never logged."""

from __future__ import annotations

import errno
import json
import logging
import sys
import time
import traceback
import warnings

from aiohttp import BadContentDispositionHeader, BadContentDispositionParam, web
from aiohttp.http_exceptions import HttpProcessingError

_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_SELDOM_S = 10.0

logger = logging.getLogger("senone.serve")


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        ms = int(record.created * 1000) % 1000
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{ms:03}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(line, ensure_ascii=True, default=str)


def _is_ours(record: logging.LogRecord) -> bool:
    """Returns False for requests that are no HTTP or have a broken body: who sends such could fill the log."""
    return not (record.exc_info and isinstance(record.exc_info[1], (HttpProcessingError, web.RequestPayloadError)))


class _Seldom(logging.Filter):
    """Passes, in ten seconds, one of the errors of a process that has no more files or memory, for each accept makes one."""

    def __init__(self) -> None:
        super().__init__()
        self._next_s = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, OSError) or error.errno not in _EXHAUSTED:
            return True
        now_s = time.monotonic()
        if now_s < self._next_s:
            return False
        self._next_s = now_s + _SELDOM_S
        return True


def start_logging() -> None:
    """Sends the messages of the library, of aiohttp and of the server to standard error. What aiohttp would warn of in a form is
    raised instead, and refused (_files.py)."""
    for category in (BadContentDispositionHeader, BadContentDispositionParam):
        warnings.filterwarnings("error", category=category)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json())
    logging.getLogger("aiohttp.server").addFilter(_is_ours)
    logging.getLogger("asyncio").addFilter(_Seldom())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logger.setLevel(logging.INFO)


def log(message: str, **fields: object) -> None:
    """Logs an event with its fields."""
    logger.info(message, extra={"fields": fields})


def log_error(message: str, **fields: object) -> None:
    """Logs what somebody must look after."""
    logger.error(message, extra={"fields": fields})


def log_failure(message: str, **fields: object) -> None:
    """Logs the exception being handled."""
    logger.error(message, exc_info=True, extra={"fields": fields})
