# SPDX-License-Identifier: Apache-2.0
"""Vosk's WebSocket protocol. The client configures, sends samples, and gets exactly one reply for each message but a
configuration: the words so far, or the result of the utterances that have ended since the last reply. At {"eof": 1} it gets
the rest, and the connection ends."""

from __future__ import annotations

import json
from typing import Any, Optional

from aiohttp import web

from senone._events import Event, EventKind, Word

from ._models import UNKNOWN
from ._refused import Refused
from ._results import confidence, heard_words, is_heard, text_of
from ._service import Connection, Session
from ._socket import Socket, parsed, texts, whole

_RATES = (1000, 768000)
_MAX_ALTERNATIVES = 100
_LATTICE_BEAM, _ALTERNATIVES_BEAM = 6.0, 8.0  # for confidences; for alternatives


class _Recognizer:
    """The settings of one client, and its stream from the first samples on."""

    def __init__(self, connection: Connection, request: web.Request) -> None:
        self._connection = connection
        self._service = connection.service
        self._model: Optional[str] = None
        self._rate = 8000 if request.query.get("rate") is None else whole(dict(request.query), "rate", 8000, *_RATES)
        self._words = True
        self._partial_words = False
        self._n_alternatives = 0
        self._phrases: Optional[list[str]] = None
        self._session: Optional[Session] = None
        self._partial: Optional[Event] = None

    async def configure(self, config: Any) -> None:
        """Takes a configuration; one that comes after samples counts for a new stream."""
        if not isinstance(config, dict):
            raise Refused(400, "malformed", "config must be a JSON object")
        self._rate = whole(config, "sample_rate", self._rate, *_RATES)
        self._n_alternatives = whole(config, "max_alternatives", self._n_alternatives, 0, _MAX_ALTERNATIVES)
        self._words = bool(config.get("words", self._words))
        self._partial_words = bool(config.get("partial_words", self._partial_words))
        if "model" in config:
            self._model = self._service.model(str(config["model"])).name
        for name in ("phrase_list", "grammar"):
            if name in config:
                self._phrases = _phrases(config[name], name)
        if self._session is not None:
            await self._connection.close_stream()
            self._session = None

    async def hear(self, samples: bytes) -> dict[str, Any]:
        """Feeds samples and returns the reply."""
        session = self._session or await self._open()
        await session.feed(samples)
        finals = []
        for event in session.ready():
            if event.kind == EventKind.FINAL:
                finals.append(event)
                self._partial = None
            elif event.kind in (EventKind.PARTIAL, EventKind.PROBABLY_FINISHED):
                self._partial = event
        return self._result(finals) if finals else self._so_far()

    async def end(self) -> dict[str, Any]:
        """Ends the audio and returns what is left of it."""
        session = self._session
        self._partial = None
        return self._result([] if session is None else await session.finals())

    async def reset(self) -> dict[str, Any]:
        """As `end`; what comes later is a new stream's."""
        reply = await self.end()
        if self._session is not None:
            self._session.reset()
        return reply

    async def _open(self) -> Session:
        model = self._service.model(self._model)  # a reload may have replaced it since it was named
        config: dict[str, Any] = {
            "input": "int16",
            "rate": self._rate,
            "endpoint": "command" if self._phrases is not None or model.is_grammar else "dictation",
            "partial_interval_ms": self._service.options.partial_ms,
        }
        if self._words or self._n_alternatives > 0:
            config["lattice_beam"] = _ALTERNATIVES_BEAM if self._n_alternatives > 0 else _LATTICE_BEAM
            config["n_best"] = max(1, self._n_alternatives)
        self._session = await self._connection.open(model, phrases=self._phrases, **config)
        return self._session

    def _so_far(self) -> dict[str, Any]:
        partial = self._partial
        if partial is None or not is_heard(partial):
            return {"partial": ""}
        reply: dict[str, Any] = {"partial": partial.text}
        if self._partial_words:
            reply["partial_result"] = [_word(word) for word in partial.words]
        return reply

    def _result(self, finals: list[Event]) -> dict[str, Any]:
        rejected = any(final.rejected for final in finals) and UNKNOWN in (self._phrases or [])
        if self._n_alternatives > 0:
            return {"alternatives": self._alternatives(finals) or [{"confidence": 0.0, "text": UNKNOWN if rejected else ""}]}
        words = heard_words(finals)
        reply: dict[str, Any] = {"result": [_word(word) for word in words]} if self._words and words else {}
        reply["text"] = text_of(finals) or (UNKNOWN if rejected else "")
        return reply

    def _alternatives(self, finals: list[Event]) -> list[dict[str, Any]]:
        """Of one utterance; several that ended at once have one alternative, the best words of all."""
        heard = [final for final in finals if is_heard(final)]
        if len(heard) == 1:
            return [self._alternative(each.text, list(each.words)) for each in heard[0].alternatives]
        return [self._alternative(text_of(heard), heard_words(heard))] if heard else []

    def _alternative(self, text: str, words: list[Word]) -> dict[str, Any]:
        found: dict[str, Any] = {"confidence": round(confidence(words), 6), "text": text}
        if self._words:
            found["result"] = [_word(word) for word in words]
        return found


async def serve(connection: Connection, socket: Socket, request: web.Request) -> None:
    """Serves one client."""
    recognizer = _Recognizer(connection, request)
    while (message := await socket.receive()) is not None:
        if isinstance(message, bytes):
            await socket.send(await recognizer.hear(message))
            continue
        command = parsed(message)
        if "config" in command:
            await recognizer.configure(command["config"])
        elif command.get("eof"):
            break
        elif command.get("reset"):
            await socket.send(await recognizer.reset())
        else:
            raise Refused(400, "malformed", 'a text message is one of {"config": ...}, {"eof": 1} and {"reset": 1}')
    await socket.send(await recognizer.end())


def error(message: str) -> dict[str, Any]:
    """Returns the last message before a close; Vosk itself has none."""
    return {"error": message}


def _phrases(value: Any, name: str) -> Optional[list[str]]:
    """Returns the phrases of a list, which may also come as its JSON text; an empty one is no grammar."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise Refused(400, "malformed", f"{name} must be a list of texts") from None
    return texts(value, name) or None


def _word(word: Word) -> dict[str, Any]:
    found: dict[str, Any] = {"end": round(word.end_s, 6), "start": round(word.start_s, 6), "word": word.text}
    if word.confidence >= 0:
        found["conf"] = round(word.confidence, 6)
    return found
