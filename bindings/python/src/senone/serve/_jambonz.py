# SPDX-License-Identifier: Apache-2.0
"""jambonz' protocol for custom speech recognisers: {"type": "start"}, samples of a call, {"type": "stop"}; transcriptions come
as they are found."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from senone._events import Event, EventKind

from ._call import Call
from ._refused import Refused
from ._results import confidence, is_heard
from ._service import Connection
from ._socket import Socket, texts, whole

_LATTICE_BEAM = 6.0  # for confidences and hints
_HINT_BOOST = 5.0  # natural log
_ENCODINGS = {"LINEAR16": "int16", "MULAW": "ulaw", "ALAW": "alaw"}
_MAX_ALTERNATIVES = 20
_ENDPOINTS = ("command", "dictation", "captions")


class _Call(Call):
    """One call."""

    opening = "start"

    def __init__(self, connection: Connection, socket: Socket) -> None:
        super().__init__(connection, socket)
        self._language = ""
        self._interim = False
        self._shown = ""

    async def take(self, message: dict[str, Any]) -> bool:
        kind: Any = message.get("type")
        if kind == "start":
            await self._start(message)
        elif kind != "stop":
            raise Refused(400, "malformed", "the type of a text message is start or stop")
        return bool(kind != "stop")

    async def _start(self, message: dict[str, Any]) -> None:
        """Opens the stream. Raises Refused."""
        if self._session is not None:
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
        self._session = await self._connection.open(
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
            await self._session.boost_always(hints, _HINT_BOOST)
        self._pump.start(self._session)

    async def deliver(self, event: Event) -> None:
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
    await _Call(connection, socket).serve()


def error(message: str) -> dict[str, Any]:
    """Returns the message of an error."""
    return {"type": "error", "error": message}
