# SPDX-License-Identifier: Apache-2.0
"""A call: JSON messages and samples from the client, while results go to it. jambonz' protocol and Asterisk's are built on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Optional

from senone._events import Event

from ._pump import Pump
from ._refused import Refused
from ._service import Connection, Session
from ._socket import Socket, parsed


class Call(ABC):
    """One call. opening: the name of the message that opens the stream, in `take`."""

    opening: str

    def __init__(self, connection: Connection, socket: Socket) -> None:
        self._connection = connection
        self._socket = socket
        self._session: Optional[Session] = None
        self._pump = Pump(self.deliver)

    @abstractmethod
    async def take(self, message: dict[str, Any]) -> bool:
        """Takes a message; returns False at the last one. Raises Refused."""

    @abstractmethod
    async def deliver(self, event: Event) -> None:
        """Sends what the client wants of an event."""

    async def serve(self) -> None:
        """Serves the call up to its last result."""
        try:
            while (message := await self._socket.receive()) is not None:
                self._pump.check()
                if isinstance(message, bytes):
                    if self._session is None:
                        raise Refused(400, "malformed", f"audio came before {self.opening}")
                    await self._session.feed(message)
                elif not await self.take(parsed(message)):
                    break
            if self._session is not None:
                self._session.finish()
                await self._pump.end()
        finally:
            await self._pump.stop()
