# SPDX-License-Identifier: Apache-2.0
"""Forwards the library's messages to ``logging.getLogger("senone")``, from any thread."""

from __future__ import annotations

import atexit
import ctypes
import logging

from ._library import LogFunction, lib, text
from ._terms import in_python

logger = logging.getLogger("senone")
logger.addHandler(logging.NullHandler())

_LEVELS = {0: logging.ERROR, 1: logging.WARNING, 2: logging.INFO, 3: logging.DEBUG}
_DEBUG = 3


def _receive(level: int, message: bytes, _user_data: int | None) -> None:
    try:
        logger.log(_LEVELS.get(level, logging.DEBUG), "%s", in_python(text(message)))
    except Exception:  # from a handler; must not cross into the library
        pass


_receiver = LogFunction(_receive)  # lives as long as the library may call it


def start_logging() -> None:
    """Called once, on import. Stops the library's messages before the interpreter ends."""
    lib.asr_set_log(_receiver, _DEBUG, None)
    atexit.register(lib.asr_set_log, ctypes.cast(0, LogFunction), 0, None)
