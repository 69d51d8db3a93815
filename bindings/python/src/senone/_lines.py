# SPDX-License-Identifier: Apache-2.0
"""Encodes texts for the library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from ._errors import InvalidArgument

Lines = Union[str, bytes, Iterable[str]]


def joined(argument: str, lines: Lines) -> str | bytes:
    """Joins lines to a text. Raises InvalidArgument if an item is not a line."""
    if isinstance(lines, (str, bytes)):
        return lines
    if not isinstance(lines, Iterable):
        raise InvalidArgument(f"{argument} is of type {type(lines).__name__}; it must be a string or a list of strings")
    items: list[str] = []
    for item in lines:
        if not isinstance(item, str) or "\n" in item:
            raise InvalidArgument(f"{argument} has {item!r}; each must be a string without line breaks")
        items.append(item)
    return "\n".join(items)


def utf8(argument: str, value: object) -> bytes:
    """Encodes a text for the library. Raises InvalidArgument."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise InvalidArgument(f"{argument} is of type {type(value).__name__}; it must be a string, or bytes of UTF-8")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{argument} cannot be written as UTF-8: {error}") from None
