# SPDX-License-Identifier: Apache-2.0
"""The HTTP server: who may ask, health, metrics, and the WebSockets that the protocols use."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Callable, Optional
from urllib.parse import urlsplit

from aiohttp import web

from . import _aeap, _files, _jambonz, _vosk
from ._door import Door
from ._log import log_failure
from ._options import is_loopback
from ._refused import Gone, Refused
from ._service import LAG, STOPPING, Connection, Service
from ._socket import Socket, close

Handler = Callable[[Connection, Socket, web.Request], Awaitable[None]]
ErrorOf = Callable[[str], dict[str, Any]]

_DONE, _GOING_AWAY, _POLICY, _INTERNAL, _TRY_LATER = 1000, 1001, 1008, 1011, 1013  # of a WebSocket's close

_PAGE = {"index.html": "text/html", "page.css": "text/css", "page.js": "text/javascript", "capture.js": "text/javascript"}
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; connect-src 'self' ws: wss:; img-src data:; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


class Web:
    """Routes requests to the protocols."""

    def __init__(self, service: Service, door: Door) -> None:
        self._service = service
        self.app = web.Application(middlewares=[door.enter])
        self.app.router.add_get("/", self._root)
        self.app.router.add_get("/page/{name}", self._page)
        self.app.router.add_get("/status", self._status)
        self.app.router.add_get("/health", self._health)
        self.app.router.add_get("/metrics", self._metrics)
        self.app.router.add_post("/recognize", self._recognize)
        self.app.router.add_get("/jambonz", self._jambonz)
        self.app.router.add_get("/aeap", self._aeap)

    async def _root(self, request: web.Request) -> web.StreamResponse:
        """Vosk's clients ask for this path, and browsers for the page."""
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return _file("index.html")
        return await self._websocket(request, "vosk", _vosk.serve, _vosk.error)

    async def _jambonz(self, request: web.Request) -> web.StreamResponse:
        return await self._websocket(request, "jambonz", _jambonz.serve, _jambonz.error)

    async def _aeap(self, request: web.Request) -> web.StreamResponse:
        return await self._websocket(request, "aeap", _aeap.serve, _aeap.error)

    async def _page(self, request: web.Request) -> web.Response:
        """Its files are open to everybody; what they ask for is not."""
        return _file(request.match_info["name"])

    async def _status(self, request: web.Request) -> web.Response:
        """The models and their load, for the page."""
        refused = self._refused(request)
        if refused is not None:
            return refused
        models = []
        for model in self._service.models.values():
            engines = [
                {
                    "device": engine.info.device_id,
                    "device_name": engine.info.device_name,
                    "streams": n,
                    "waiting_s": waiting_s,
                    "lost": lost,
                }
                for engine, n, waiting_s, lost in zip(model.engines, model.streams(), model.waiting_s(), model.lost())
            ]
            models.append({"name": model.name, "language": model.language, "grammar": model.is_grammar, "engines": engines})
        return web.json_response({"models": models, "connections": self._service.n_connections})

    async def _health(self, request: web.Request) -> web.Response:
        """Open to everybody, as balancers ask it."""
        service = self._service
        lost = [model.lost() for model in service.models.values()]
        status = "ok" if not any(map(any, lost)) else "lost" if any(map(all, lost)) else "degraded"
        if service.stopping:
            status = "stopping"
        found = {"status": status, "connections": service.n_connections, "models": list(service.models)}
        return web.json_response(found, status=200 if status in ("ok", "degraded") else 503)

    async def _metrics(self, request: web.Request) -> web.Response:
        refused = self._refused(request)
        if refused is not None:
            return refused
        return web.Response(body=self._service.metrics.text(), headers={"Content-Type": "text/plain; version=0.0.4"})

    async def _recognize(self, request: web.Request) -> web.StreamResponse:
        refused = self._refused(request)
        if refused is not None:
            return refused
        try:
            async with self._service.connection("http", request.remote or "") as connection:
                return await _files.serve(connection, request)
        except Refused as error:
            return _answer(error)
        except Gone as gone:
            return _answer(Refused(503 if gone.reason == STOPPING else 408, gone.reason, "the recording did not come in time"))

    async def _websocket(self, request: web.Request, protocol: str, serve: Handler, error_of: ErrorOf) -> web.StreamResponse:
        refused = self._refused(request)
        if refused is not None:
            return refused
        limits = self._service.limits
        ws = web.WebSocketResponse(
            max_msg_size=limits.message_bytes,
            compress=False,  # a small message may be a huge one then
            timeout=min(limits.lag_s, 10.0),
            protocols=("speech_to_text",) if protocol == "aeap" else (),
        )
        if not ws.can_prepare(request).ok:
            return web.json_response({"error": "this path is a WebSocket"}, status=426, headers={"Upgrade": "websocket"})
        try:
            async with self._service.connection(protocol, request.remote or "") as connection:
                await ws.prepare(request)
                await _converse(connection, Socket(connection, ws, request.transport), request, serve, error_of)
        except Refused as error:
            return _answer(error)  # before the WebSocket began
        except Gone as gone:
            if gone.reason == LAG and request.transport is not None:
                request.transport.abort()  # a close would wait behind what is not read
            else:
                await close(ws, request.transport, gone.code, gone.reason, limits.lag_s)
        return ws

    def _refused(self, request: web.Request) -> Optional[web.Response]:
        """Returns the answer to a request that is not allowed."""
        options = self._service.options
        host = request.headers.get("Host")
        if host is not None and not self._is_our_name(host):
            return _answer(self._service.refuse(Refused(403, "host", "the server has no such name; see --origin")))
        origin = request.headers.get("Origin")
        if origin is not None and not self._is_ours(origin, request.host):
            return _answer(self._service.refuse(Refused(403, "origin", "pages of other origins may not ask; see --origin")))
        if options.token is not None and not _has_token(request, options.token):
            answer = _answer(self._service.refuse(Refused(401, "token", "the request lacks the token")))
            answer.headers["WWW-Authenticate"] = "Bearer"
            return answer
        return None

    def _is_ours(self, origin: str, host: str) -> bool:
        """Returns False for pages of other sites, which a browser would let ask a server on its user's machine."""
        if origin in self._service.options.origins:
            return True
        with contextlib.suppress(ValueError):
            return urlsplit(origin).netloc == host
        return False

    def _is_our_name(self, host: str) -> bool:
        """Returns False for other names of a server for this machine alone than localhost, its number and those of --origin,
        since a page's name may be made to lead here, and a browser then sends no Origin."""
        options = self._service.options
        with contextlib.suppress(ValueError):
            name = urlsplit(f"//{host}").hostname or ""
            return not is_loopback(options.host) or is_loopback(name) or name in map(_name_of, options.origins)
        return False


async def _converse(
    connection: Connection, socket: Socket, request: web.Request, serve: Handler, error_of: ErrorOf
) -> None:
    """Serves one WebSocket and tells the client what ends it. Raises Gone."""
    try:
        await serve(connection, socket, request)
        await socket.close(_GOING_AWAY if connection.reason == STOPPING else _DONE, connection.reason)
    except Refused as refused:
        connection.reason = refused.reason
        await socket.send(error_of(str(refused)))
        await socket.close(_code(refused), refused.reason)
    except (Gone, asyncio.CancelledError):
        raise
    except Exception:
        log_failure("a connection failed", connection=connection.number)
        raise


def _name_of(origin: str) -> str:
    return urlsplit(origin).hostname or ""


def _code(refused: Refused) -> int:
    return _TRY_LATER if refused.status == 503 else _INTERNAL if refused.status >= 500 else _POLICY


def _file(name: str) -> web.Response:
    """Returns a file of the page."""
    kind = _PAGE.get(name)
    if kind is None:
        return web.json_response({"error": "there is no such file"}, status=404)
    text = (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")
    return web.Response(text=text, content_type=kind, charset="utf-8", headers=_PAGE_HEADERS)


def _has_token(request: web.Request, token: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        given = request.query.get("token", "")
    return hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode())


def _answer(refused: Refused) -> web.Response:
    headers = {"Retry-After": "1"} if refused.status == 503 else {}
    answer = web.json_response({"error": str(refused)}, status=refused.status, headers=headers)
    answer.force_close()  # the rest of a recording may follow, which is no request
    return answer
