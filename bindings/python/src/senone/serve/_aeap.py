# SPDX-License-Identifier: Apache-2.0
"""Asterisk's external application protocol for speech to text (AEAP, res_speech_aeap): requests and responses as JSON, audio as
binary messages, and a "set" request of the server for each result."""

from __future__ import annotations

import uuid
from typing import Any

from aiohttp import web

from senone._events import Event, EventKind

from ._call import Call
from ._refused import Refused
from ._results import confidence, is_heard
from ._service import Connection
from ._socket import Socket, texts

_LATTICE_BEAM = 6.0  # for confidences
_CODECS = {"ulaw": ("ulaw", 8000), "alaw": ("alaw", 8000), "slin": ("int16", 8000), "slin16": ("int16", 16000)}
_MAX_RESULTS = 100  # that Asterisk may still ask for
_N_BEST = 5
_KEPT = ("model", "grammar")  # parameters that a later setup needs


class _Dialog(Call):
    """One channel of Asterisk."""

    opening = "setup"

    def __init__(self, connection: Connection, socket: Socket) -> None:
        super().__init__(connection, socket)
        self._codec = ""
        self._language = ""
        self._is_n_best = False
        self._results: list[dict[str, Any]] = []
        self._params: dict[str, Any] = {}

    async def take(self, message: dict[str, Any]) -> bool:
        """Answers a request; responses to the server's own need nothing."""
        if "request" not in message:
            return True
        response: dict[str, Any] = {"response": message["request"], "id": message.get("id")}
        try:
            if message["request"] == "setup":
                await self._setup(message, response)
            elif message["request"] == "set":
                self._set(message.get("params"))
            elif message["request"] == "get":
                self._get(message.get("params"), response)
            else:
                raise Refused(400, "malformed", "the requests are setup, set and get")
        except Refused as refused:
            if refused.status >= 500:
                raise
            response["error_msg"] = str(refused)
        await self._socket.send(response)
        return True

    async def _setup(self, message: dict[str, Any], response: dict[str, Any]) -> None:
        offered = message.get("codecs")
        names = [each.get("name") for each in offered if isinstance(each, dict)] if isinstance(offered, list) else []
        known = [name for name in names if isinstance(name, str) and name in _CODECS]
        if not known:
            raise Refused(400, "malformed", f"the codecs are {', '.join(_CODECS)}")
        self._set(message.get("params"))
        self._codec = known[0]
        service = self._connection.service
        model = service.model(self._params.get("model"), self._language)
        kind, rate = _CODECS[self._codec]
        grammar = self._params.get("grammar")
        phrases = grammar.split("|") if isinstance(grammar, str) else texts(grammar, "grammar") if grammar else None
        await self._pump.stop()
        self._session = None  # if the new one is refused, the old one is closed
        self._session = await self._connection.open(
            model,
            phrases=phrases,
            input=kind,
            rate=rate,
            endpoint="command" if phrases or model.is_grammar else "dictation",
            lattice_beam=_LATTICE_BEAM,
            n_best=_N_BEST,
        )
        self._pump.start(self._session)
        response["codecs"] = [{"name": self._codec}]

    def _set(self, params: Any) -> None:
        if params is None:
            return
        if not isinstance(params, dict):
            raise Refused(400, "malformed", "params must be a JSON object")
        self._params.update({name: params[name] for name in _KEPT if name in params})
        if "language" in params:
            self._language = str(params["language"])
        if "results_type" in params:
            self._is_n_best = params["results_type"] == "nbest"

    def _get(self, names: Any, response: dict[str, Any]) -> None:
        found: dict[str, Any] = {}
        for name in texts(names, "params"):
            if name == "results":
                found[name], self._results = self._results, []
            elif name == "codec":
                found["codecs"] = [{"name": self._codec}]
            elif name == "language":
                found[name] = self._language
        response["params"] = found

    async def deliver(self, event: Event) -> None:
        if event.kind != EventKind.FINAL or not is_heard(event):
            return
        alternatives = event.alternatives if self._is_n_best else event.alternatives[:1]
        results = [{"text": each.text, "score": round(100 * confidence(each.words))} for each in alternatives]
        self._results = (self._results + results)[-_MAX_RESULTS:]
        await self._socket.send({"request": "set", "id": str(uuid.uuid4()), "params": {"results": results}})


async def serve(connection: Connection, socket: Socket, request: web.Request) -> None:
    """Serves one channel; Asterisk closes."""
    await _Dialog(connection, socket).serve()


def error(message: str) -> dict[str, Any]:
    """Returns the last message before a close."""
    return {"response": "error", "id": "", "error_msg": message}
