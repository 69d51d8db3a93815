# SPDX-License-Identifier: Apache-2.0
"""jambonz' protocol for custom speech recognisers: {"type": "start"}, samples of a call, {"type": "stop"}; transcriptions come
as they are found."""

from __future__ import annotations

from typing import Any, Optional

from aiohttp import web

from senone._events import Event, EventKind

from ._pump import Pump
from ._refused import Refused
from ._results import confidence, is_heard
from ._service import Connection, Session
from ._socket import Socket, parsed, texts, whole

_LATTICE_BEAM = 6.0  # for confidences and hints
_HINT_BOOST = 5.0  # natural log
_ENCODINGS = {"LINEAR16": "int16", "MULAW": "ulaw", "ALAW": "alaw"}
_MAX_ALTERNATIVES = 20
_ENDPOINTS = ("command", "dictation", "captions")


class _Call:
    """One call."""

    def __init__(self, connection: Connection, socket: Socket) -> None:
        self._connection = connection
        self._socket = socket
        self._language = ""
        self._interim = False
        self._shown = ""
        self.session: Optional[Session] = None
        self.pump = Pump(self._deliver)

    async def start(self, message: dict[str, Any]) -> None:
        """Opens the stream. Raises Refused."""
        if self.session is not None:
            raise Refused(400, "malformed", "start came twice")
        options = message.get("options") or {}
        if not isinstance(options, dict):
            raise Refused(400, "malformed", "options must be a JSON object")
        self._language = str(message.get("language") or "")
        self._interim = bool(message.get("interimResults"))
        encoding = str(message.get("encoding") or "LINEAR16").upper()
        if encoding not in _ENCODINGS:
            raise Refused(400, "malformed", f"encoding must be one of {', '.join(_ENCODINGS)}")
        service = self._connection.service
        model = service.model(options.get("model"), self._language)
        srgs, phrases = options.get("srgs"), options.get("grammar")
        if srgs is not None and not isinstance(srgs, str):
            raise Refused(400, "malformed", "srgs must be a text")
        has_grammar = srgs is not None or phrases is not None or model.is_grammar
        endpoint = options.get("endpoint") or ("command" if has_grammar else "dictation")
        if endpoint not in _ENDPOINTS:
            raise Refused(400, "malformed", f"endpoint must be one of {', '.join(_ENDPOINTS)}")
        self.session = await self._connection.open(
            model,
            phrases=None if phrases is None else texts(phrases, "grammar"),
            srgs=srgs,
            input=_ENCODINGS[encoding],
            rate=whole(message, "sampleRateHz", 8000, 1000, 768000),
            endpoint=endpoint,
            lattice_beam=_LATTICE_BEAM,
            n_best=whole(options, "alternatives", 1, 1, _MAX_ALTERNATIVES),
            partial_interval_ms=service.options.partial_ms if self._interim else 0,
        )
        hints = texts(options["hints"], "hints") if options.get("hints") else []
        if hints:
            await self.session.boost_always(hints, _HINT_BOOST)
        self.pump.start(self.session)

    async def _deliver(self, event: Event) -> None:
        if event.kind == EventKind.FINAL:
            self._shown = ""
            if is_heard(event):
                alternatives = [(each.text, confidence(each.words)) for each in event.alternatives]
                await self._send(True, alternatives)
        elif event.kind == EventKind.PARTIAL and self._interim and is_heard(event) and event.text != self._shown:
            self._shown = event.text
            await self._send(False, [(event.text, 1.0 - event.out_of_grammar if event.out_of_grammar >= 0 else 0.0)])

    async def _send(self, is_final: bool, alternatives: list[tuple[str, float]]) -> None:
        await self._socket.send(
            {
                "type": "transcription",
                "is_final": is_final,
                "alternatives": [{"confidence": round(sure, 6), "transcript": text} for text, sure in alternatives],
                "language": self._language,
                "channel": 1,
            }
        )


async def serve(connection: Connection, socket: Socket, request: web.Request) -> None:
    """Serves one call."""
    call = _Call(connection, socket)
    try:
        while (message := await socket.receive()) is not None:
            call.pump.check()
            if isinstance(message, bytes):
                if call.session is None:
                    raise Refused(400, "malformed", "audio came before start")
                await call.session.feed(message)
                continue
            command = parsed(message)
            if command.get("type") == "start":
                await call.start(command)
            elif command.get("type") == "stop":
                break
            else:
                raise Refused(400, "malformed", "the type of a text message is start or stop")
        if call.session is not None:
            call.session.finish()
            await call.pump.end()
    finally:
        await call.pump.stop()


def error(message: str) -> dict[str, Any]:
    """Returns the message of an error."""
    return {"type": "error", "error": message}
