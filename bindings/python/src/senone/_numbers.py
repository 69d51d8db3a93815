# SPDX-License-Identifier: Apache-2.0
"""Conversions of numeric arguments."""

from __future__ import annotations

import operator

from ._errors import InvalidArgument


def real(name: str, value: object) -> float:
    """Converts a number to float. Raises InvalidArgument."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{name} is {value!r}; it must be a number") from None


def uint32(name: str, value: int) -> int:
    """Checks a whole number for the library. Raises InvalidArgument."""
    if not isinstance(value, int) or not 0 <= value < 2**32:
        raise InvalidArgument(f"{name} is {value!r}; it must be a whole number of 0..{2**32 - 1}")
    return value


def whole(name: str, value: object) -> int:
    """Returns a whole number of any type. Raises InvalidArgument."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidArgument(f"{name} is {value!r}; it must be a whole number") from None
