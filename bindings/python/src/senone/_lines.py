# SPDX-License-Identifier: Apache-2.0
"""Encodes texts for the library."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Union

from ._errors import InvalidArgument

Lines = Union[str, bytes, Iterable[str]]


def joined(argument: str, lines: Lines) -> str | bytes:
    """Joins lines to a text. Raises InvalidArgument if an item is not a line."""
    if isinstance(lines, (str, bytes)):
        return lines
    if isinstance(lines, Mapping):  # its keys are lines, but its values would be lost
        raise InvalidArgument(f"{argument} is a mapping; it must be a string or a list of strings, which have no values")
    if not isinstance(lines, Iterable):
        raise InvalidArgument(f"{argument} is of type {type(lines).__name__}; it must be a string or a list of strings")
    items: list[str] = []
    for item in lines:
        if not isinstance(item, str) or "\n" in item:
            raise InvalidArgument(f"{argument} has {item!r}; each must be a string without line breaks")
        items.append(item)
    return "\n".join(items)


def normalised(text: str | bytes) -> str | bytes:
    """Returns a text in Unicode's normal form C, as the words of graphs are: libsenone compares bytes. Bytes stay."""
    return unicodedata.normalize("NFC", text) if isinstance(text, str) else text


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
