# SPDX-License-Identifier: Apache-2.0
"""A WebSocket with the limits of its connection, and the checks of the JSON that clients send."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Optional, Union

from aiohttp import WSMsgType, web

from ._refused import Gone, Refused
from ._service import Connection

_TOO_BIG = 1009


class Socket:
    """Messages of one client."""

    def __init__(self, connection: Connection, ws: web.WebSocketResponse, transport: Optional[asyncio.Transport]) -> None:
        self._connection = connection
        self._ws = ws
        self._transport = transport

    async def receive(self) -> Optional[Union[str, bytes]]:
        """Waits for a message. None: the conversation is to end, as the server stops. Raises Gone."""
        message = await self._connection.receive(self._ws.receive())
        if message is None:
            return None
        if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
            data: Union[str, bytes] = message.data
            return data
        if message.type == WSMsgType.ERROR:
            raise Gone("too_big" if getattr(message.data, "code", None) == _TOO_BIG else "malformed")  # aiohttp has closed
        raise Gone("left" if self._ws.close_code in (1000, 1001, 1005) else "vanished")

    async def send(self, message: dict[str, Any]) -> None:
        """Sends JSON. Raises Gone, Refused."""
        await self._connection.send(self._ws.send_str(encoded(message)))

    async def close(self, code: int, reason: str) -> None:
        """Closes, and waits a little for the client to do so."""
        await close(self._ws, self._transport, code, reason, self._connection.service.limits.lag_s)


async def close(ws: web.WebSocketResponse, transport: Optional[asyncio.Transport], code: int, reason: str, lag_s: float) -> None:
    """Closes a WebSocket. One whose client does not read what was sent before the close is cut after lag_s."""
    try:
        await asyncio.wait_for(ws.close(code=code, message=reason.encode()[:120]), lag_s)
    except asyncio.TimeoutError:
        if transport is not None:
            transport.abort()


def encoded(message: dict[str, Any]) -> str:
    """Returns a message as JSON in ASCII, since a text of the client's that it repeats may have half a surrogate pair. Raises
    Refused if it repeats a number that JSON does not have."""
    try:
        return json.dumps(message, allow_nan=False)
    except (ValueError, RecursionError):
        raise Refused(400, "malformed", "a value in the message cannot be repeated") from None


def parsed(message: Union[str, bytes]) -> dict[str, Any]:
    """Parses a message that must be a JSON object. Raises Refused."""
    try:
        found = json.loads(message)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused(400, "malformed", "a text message must be a JSON object")
    return found


def whole(values: dict[str, Any], name: str, default: int, least: int, most: int) -> int:
    """Returns a number of a message; whole ones may come as floats or text. Raises Refused."""
    value = values.get(name, default)
    try:
        number = float(value)
        if isinstance(value, bool) or number != int(number) or not least <= number <= most:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise Refused(400, "malformed", f"{name} is {str(value)[:50]!r}; it must be a whole number of {least}..{most}") from None
    return int(number)


def texts(value: Any, name: str) -> list[str]:
    """Returns a list of texts. Raises Refused."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Refused(400, "malformed", f"{name} must be a list of texts")
    return value
