# SPDX-License-Identifier: Apache-2.0
"""Accepts sockets. aiohttp waits without an end for the first request of each, so the silent ones are ended here."""

from __future__ import annotations

import asyncio
from typing import Optional, cast

from aiohttp import web
from aiohttp.typedefs import Handler

from ._options import Options
from ._service import Service

_BACKLOG = 128  # asyncio accepts so many in a row, even if it is out of files
_HANDSHAKE_S = 10.0  # of TLS at most; until then a socket takes 300 kB, and no place
_OTHERS = 64  # sockets of balancers, of pages, and of those that are told that there is no room


class Door:
    """The sockets of a port: how many there are, and which have not asked for anything yet, for only those that have are
    connections of the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._max_sockets = 2 * service.limits.connections + _OTHERS
        self._n_sockets = 0
        self._silent: dict[asyncio.WriteTransport, asyncio.TimerHandle] = {}  # the oldest first
        self._server: Optional[asyncio.AbstractServer] = None

    async def listen(self, server: web.Server, options: Options) -> int:
        """Listens for HTTP, and returns the port."""
        self._server = await asyncio.get_running_loop().create_server(
            lambda: _Guest(self, server()),
            options.host,
            options.port,
            ssl=options.tls,
            ssl_handshake_timeout=min(_HANDSHAKE_S, options.limits.idle_s) if options.tls is not None else None,
            backlog=_BACKLOG,
        )
        return int(self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Listens no more."""
        if self._server is not None:
            self._server.close()

    @web.middleware
    async def enter(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Sees each request, once its head is complete."""
        self.asked(request.transport)
        return await handler(request)

    def came(self, transport: asyncio.WriteTransport) -> None:
        """A socket was accepted. Beyond the limit it takes the place of the one that has been silent for longest."""
        self._n_sockets += 1
        loop = asyncio.get_running_loop()
        self._silent[transport] = loop.call_later(self._service.limits.idle_s, self._dismiss, transport)
        if self._n_sockets > self._max_sockets:
            self._dismiss(next(iter(self._silent)))

    def left(self, transport: Optional[asyncio.WriteTransport]) -> None:
        """A socket was closed."""
        self._n_sockets -= 1
        self.asked(transport)

    def asked(self, transport: Optional[asyncio.BaseTransport]) -> None:
        """The client has asked for something, or has left."""
        timer = self._silent.pop(cast(asyncio.WriteTransport, transport), None)
        if timer is not None:
            timer.cancel()

    def _dismiss(self, transport: asyncio.WriteTransport) -> None:
        self._service.metrics.refused.labels("silent").inc()
        self.asked(transport)
        transport.abort()


class _Guest(asyncio.Protocol):
    """One socket: tells the door of its beginning and end, and passes everything on to aiohttp's protocol."""

    def __init__(self, door: Door, protocol: asyncio.Protocol) -> None:
        self._door = door
        self._transport: Optional[asyncio.Transport] = None
        self._protocol = protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._protocol.connection_made(transport)
        self._door.came(self._transport)

    def connection_lost(self, error: Optional[Exception]) -> None:
        self._door.left(self._transport)
        self._protocol.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        self._protocol.data_received(data)

    def eof_received(self) -> Optional[bool]:
        return self._protocol.eof_received()

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()
