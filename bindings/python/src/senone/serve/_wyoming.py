# SPDX-License-Identifier: Apache-2.0
"""The Wyoming protocol of Home Assistant's voice services: events of a line of JSON, more JSON and a payload, over TCP.

A conversation is transcribe, audio-start, audio-chunks and audio-stop. The transcript comes as soon as the first utterance
has ended, so that a microphone need not stop; what follows it is ignored until the next transcribe or audio-start. The reader
is written here because the one of the package wyoming takes events of any size.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any, Optional

import senone
from senone._events import Event, EventKind

from ._door import Door
from ._log import log_failure
from ._models import Model
from ._pump import Pump
from ._refused import Gone, Refused
from ._results import is_heard
from ._service import LAG, Connection, Service, Session
from ._socket import encoded, texts, whole

_VERSION = "1.10.0"  # of the protocol
_LINE_BYTES = 1 << 16
_PARTING_S = 2.0
_LATTICE_BEAM = 8.0  # for names and terms
_NAME_BOOST, _TERM_BOOST = 6.0, 4.0  # natural log
_SENSITIVITIES: dict[str, dict[str, int]] = {  # silence after which a command ends, where it may end and elsewhere
    "default": {},
    "relaxed": {"silence_at_end_ms": 1000, "silence_after_words_ms": 2000},
    "aggressive": {"silence_at_end_ms": 200, "silence_after_words_ms": 500},
}
_ATTRIBUTION = {"name": "Senone", "url": ""}


class _Wire:
    """Events of one client. line: that of the first one."""

    def __init__(
        self, connection: Connection, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._connection = connection
        self._line = line
        self._reader = reader
        self._writer = writer

    async def receive(self) -> Optional[tuple[str, dict[str, Any], bytes]]:
        """Waits for an event: its type, its data, its payload. None: the conversation is to end. Raises Gone, Refused."""
        return await self._connection.receive(self._read())

    async def _read(self) -> tuple[str, dict[str, Any], bytes]:
        try:
            line, self._line = self._line or await _line(self._reader), b""
            event = _object(line)
            data = event.get("data") or {}
            if not isinstance(data, dict):
                raise Refused(400, "malformed", "data must be a JSON object")
            n_data, n_payload = self._length(event, "data_length"), self._length(event, "payload_length")
            if n_data > 0:
                data = {**data, **_object(await self._reader.readexactly(n_data))}
            payload = await self._reader.readexactly(n_payload) if n_payload > 0 else b""
            return str(event.get("type")), data, payload
        except (asyncio.IncompleteReadError, OSError):
            raise Gone("vanished") from None

    def _length(self, event: dict[str, Any], name: str) -> int:
        if event.get(name) is None:
            return 0
        return whole(event, name, 0, 0, self._connection.service.limits.message_bytes)

    async def send(self, kind: str, data: Optional[dict[str, Any]] = None) -> None:
        """Sends an event. Raises Gone, Refused."""
        body = encoded(data).encode() if data else b""
        event: dict[str, Any] = {"type": kind, "version": _VERSION}
        if body:
            event["data_length"] = len(body)
        self._writer.write(json.dumps(event).encode() + b"\n" + body)
        await self._connection.send(self._writer.drain())


class _Conversation:
    """One client: what it has asked for, and the stream of its current utterance."""

    def __init__(self, connection: Connection, wire: _Wire) -> None:
        self._connection = connection
        self._service = connection.service
        self._wire = wire
        self._asked: dict[str, Any] = {}
        self._program: Optional[str] = None
        self._format = (16000, 1)
        self._session: Optional[Session] = None
        self._answered = True
        self._language: Optional[str] = None
        self._n_sent = 0  # words that were sent in chunks
        self._streams = False
        self.pump = Pump(self._deliver)

    async def take(self, kind: str, data: dict[str, Any], payload: bytes) -> None:
        """Takes an event of the client; unknown ones are ignored. Raises Refused, Gone."""
        self.pump.check()
        if kind == "describe":
            await self._wire.send("info", _info(self._service))
        elif kind == "ping":
            await self._wire.send("pong", {"text": data.get("text")})
        elif kind == "select-program":
            self._program = str(data.get("name"))
            self._service.model(self._program)
        elif kind == "transcribe":
            await self._drop()
            self._asked = data
        elif kind == "audio-start":
            await self._drop()
            self._format = _format(data)
            await self._open()
        elif kind == "audio-chunk":
            await self._hear(data, payload)
        elif kind == "audio-stop":
            await self.finish()

    async def finish(self) -> None:
        """Ends the audio, and answers if the utterance was not answered before."""
        if self._session is not None and not self._answered:
            self._session.finish()
            await self.pump.end()
        await self._drop()

    async def _hear(self, data: dict[str, Any], payload: bytes) -> None:
        if self._session is None:
            if self._asked.get("answered"):
                return  # the rest of what was answered
            self._format = _format(data)
            await self._open()
        elif _format(data) != self._format:
            raise Refused(400, "malformed", "the format of the audio has changed within it")
        if self._answered:
            await self._drop()
        elif self._session is not None:
            await self._session.feed(payload)

    async def _open(self) -> None:
        asked = self._asked
        asked.pop("answered", None)
        model = self._service.model(asked.get("name") or self._program, asked.get("language"))
        sensitivity = str(asked.get("vad_sensitivity") or "default")
        if sensitivity not in _SENSITIVITIES:
            raise Refused(400, "malformed", f"vad_sensitivity must be one of {', '.join(_SENSITIVITIES)}")
        names = texts(asked.get("transcript_names") or [], "transcript_names")
        terms = texts(asked.get("transcript_terms") or [], "transcript_terms")
        rate, n_channels = self._format
        self._language = asked.get("language") or model.language
        self._streams = not model.is_grammar and not names and not terms
        settings: dict[str, Any] = {
            "input": "int16",
            "rate": rate,
            "n_channels": n_channels,
            "endpoint": "command" if model.is_grammar else "dictation",
            "lattice_beam": _LATTICE_BEAM if names or terms else 0.0,
            "partial_interval_ms": self._service.options.partial_ms if self._streams else 0,
            **_SENSITIVITIES[sensitivity],
        }
        self._session = await self._connection.open(model, **settings)
        for phrases, bonus in ((names, _NAME_BOOST), (terms, _TERM_BOOST)):
            if phrases:
                await self._session.boost_always(phrases, bonus)
        self._answered, self._n_sent = False, 0
        self.pump.start(self._session)

    async def _drop(self) -> None:
        """Closes the stream; chunks that come without another audio-start are the rest of what it heard."""
        if self._session is not None:
            self._asked["answered"] = True
        await self.pump.stop()
        await self._connection.close_stream()
        self._session, self._answered = None, True

    async def _deliver(self, event: Event) -> None:
        if self._answered:
            return
        if event.kind == EventKind.PARTIAL and self._streams:
            await self._send_words([word.text for word in event.words[: event.n_stable_words]])
        elif event.kind == EventKind.FINAL and event.text:
            await self._answer(event)
        elif event.kind == EventKind.END:
            await self._answer(None)

    async def _answer(self, final: Optional[Event]) -> None:
        """Sends the transcript, which is empty if nothing or something else than the grammar was said."""
        text = final.text if final is not None and is_heard(final) else ""
        self._answered = True
        if self._streams and final is not None and text:
            await self._send_words([word.text for word in final.words])
        elif self._streams and self._n_sent == 0:
            await self._wire.send("transcript-start", {"language": self._language})
        await self._wire.send("transcript", {"text": text, "language": self._language})
        if self._streams:
            await self._wire.send("transcript-stop")

    async def _send_words(self, words: list[str]) -> None:
        """Sends the words that were not sent before, which no later event takes back."""
        more = words[self._n_sent :]
        if not more:
            return
        if self._n_sent == 0:
            await self._wire.send("transcript-start", {"language": self._language})
        await self._wire.send("transcript-chunk", {"text": (" " if self._n_sent > 0 else "") + " ".join(more)})
        self._n_sent += len(more)


class Wyoming:
    """The TCP server of the protocol."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._door = Door(service)
        self._server: Optional[asyncio.AbstractServer] = None

    async def start(self, host: str, port: int) -> int:
        """Listens, and returns the port."""
        self._server = await asyncio.start_server(self._serve, host, port, limit=_LINE_BYTES)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Listens no more."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = (writer.get_extra_info("peername") or [""])[0]
        self._door.came(writer.transport)
        try:
            line = await _line(reader)
            self._door.asked(writer.transport)
            async with self._service.connection("wyoming", peer) as connection:
                await _converse(connection, _Wire(connection, line, reader, writer))
        except Refused as refused:  # no room, or the first line is too long
            writer.write(b'{"type": "error", "data": ' + json.dumps({"text": str(refused), "code": refused.reason}).encode() + b"}\n")
        except Gone as gone:
            if gone.reason == LAG:
                writer.transport.abort()
        except Exception:
            pass  # was logged
        finally:
            try:
                await _part(reader, writer, self._service.limits.lag_s)
            finally:
                self._door.left(writer.transport)


async def _converse(connection: Connection, wire: _Wire) -> None:
    conversation = _Conversation(connection, wire)
    try:
        while (event := await wire.receive()) is not None:
            await conversation.take(*event)
        await conversation.finish()
    except Refused as refused:
        connection.reason = refused.reason
        await wire.send("error", {"text": str(refused), "code": refused.reason})
    except (Gone, asyncio.CancelledError):
        raise
    except Exception:
        log_failure("a connection failed", connection=connection.number)
        raise
    finally:
        await conversation.pump.stop()


def _format(data: dict[str, Any]) -> tuple[int, int]:
    """Returns the rate and the channels of 16-bit samples. Raises Refused."""
    if whole(data, "width", 2, 1, 8) != 2:
        raise Refused(400, "malformed", "width must be 2, for 16-bit samples")
    return whole(data, "rate", 16000, 1000, 768000), whole(data, "channels", 1, 1, 64)


def _info(service: Service) -> dict[str, Any]:
    """Returns what there is: a program for each model, the default first."""
    return {"asr": [_program(model) for model in service.models.values()]}


def _program(model: Model) -> dict[str, Any]:
    artifact = {
        "name": model.name,
        "attribution": _ATTRIBUTION,
        "installed": True,
        "description": "a grammar" if model.is_grammar else "a language model",
        "version": senone.__version__,
    }
    return {
        **artifact,
        "models": [{**artifact, "languages": [model.language]}],
        "supports_transcript_streaming": not model.is_grammar,
        "requires_external_vad": False,
        "prefers_auto_gain_enabled": False,
        "prefers_noise_reduction_enabled": False,
    }


async def _part(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, lag_s: float) -> None:
    """Closes a socket. What still comes is read first, for a close with unread bytes resets the connection, and the client may
    lose the error that it was sent."""
    with contextlib.suppress(asyncio.TimeoutError, OSError):
        writer.write_eof()
        await asyncio.wait_for(_skip(reader), min(_PARTING_S, lag_s))
    writer.close()
    try:
        await asyncio.wait_for(writer.wait_closed(), lag_s)
    except asyncio.TimeoutError:  # the client does not read the rest
        writer.transport.abort()
    except OSError:
        pass  # it has vanished


async def _skip(reader: asyncio.StreamReader) -> None:
    while await reader.read(_LINE_BYTES):
        pass


async def _line(reader: asyncio.StreamReader) -> bytes:
    """Reads the line of an event. Raises Gone, Refused."""
    try:
        line = await reader.readline()
    except ValueError:
        raise Refused(400, "too_big", f"the line of an event has more than {_LINE_BYTES} bytes") from None
    except OSError:
        raise Gone("vanished") from None
    if not line:
        raise Gone("left")
    return line


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused(400, "malformed", "an event must begin with a JSON object")
    return found
