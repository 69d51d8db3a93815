# SPDX-License-Identifier: Apache-2.0
"""Recordings by HTTP: POST /recognize with the file as the body or in a form, and JSON, SRT, WebVTT or text as the answer."""

from __future__ import annotations

import asyncio
from array import array
from typing import Any, Awaitable, Iterator, Optional, TypeVar

from aiohttp import BadContentDispositionHeader, BadContentDispositionParam, BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError

import senone
from senone._audio import Recording
from senone._decoder import FORMATS, MIX, Decoder
from senone._events import Event

from ._refused import Gone, Refused
from ._results import file_json, subtitles, text_of
from ._service import Connection
from ._socket import whole

_T = TypeVar("_T")

_TYPES = {
    "json": "application/json",
    "srt": "application/x-subrip",
    "vtt": "text/vtt",
    "text": "text/plain",
}
_ACCEPTED = {**{kind: form for form, kind in _TYPES.items()}, "text/srt": "srt", "application/srt": "srt"}
_FIELD_BYTES = 1 << 20  # of all fields of a form together
_FIELDS = frozenset(
    ("channel", "channels", "confidence", "encoding", "endpoint", "format", "language", "model", "nbest", "phrase", "rate")
)
_BROKEN = (HttpProcessingError, web.RequestPayloadError, LookupError, ValueError, AssertionError)  # of aiohttp
_UPLOADS = 8  # recordings of the greatest size that may be in memory together
_PRESENCE_S = 0.5
_HEAD_BYTES = 1 << 16


class _Upload:
    """The recording and the settings of a request. Bytes in memory are counted for all requests together."""

    n_held = 0

    def __init__(self, connection: Connection, request: web.Request) -> None:
        self._connection = connection
        self._request = request
        self._body = bytearray()
        self._n_field_bytes = 0
        self._n_counted = 0
        self.values: dict[str, Any] = dict(request.query)
        self.phrases = list(request.query.getall("phrase", []))

    async def read(self) -> bytes:
        """Reads the request. Raises Refused, Gone."""
        limit = self._connection.service.limits.file_bytes
        if (self._request.content_length or 0) > limit + _FIELD_BYTES:
            raise Refused(413, "too_big", f"the recording has more than {limit} bytes")
        if self._request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Refused(415, "format", "the server takes no Content-Encoding")
        try:
            if self._request.content_type.startswith("multipart/"):
                await self._read_form()
            else:
                while chunk := await self._receive(self._request.content.readany()):
                    self._take(chunk)
        except OSError:
            raise Gone("vanished") from None
        except (BadContentDispositionHeader, BadContentDispositionParam):
            raise Refused(400, "malformed", "the Content-Disposition of a part of the form cannot be read") from None
        except _BROKEN as error:
            raise Refused(400, "malformed", f"the request cannot be read: {str(error)[:200]}") from None
        if not self._body:
            raise Refused(400, "malformed", "the request has no recording")
        return bytes(self._body)

    def release(self) -> None:
        """Takes the bytes out of the count."""
        _Upload.n_held -= self._n_counted
        self._n_counted = 0

    async def _read_form(self) -> None:
        form = await self._request.multipart()
        while (part := await self._receive(form.next())) is not None:
            if not isinstance(part, BodyPartReader):
                raise Refused(400, "malformed", "the form has a form in it")
            await self._read_part(part)

    async def _read_part(self, part: BodyPartReader) -> None:
        if part.filename is not None or part.name in ("file", "audio"):
            while chunk := await self._receive(part.read_chunk()):
                self._take(chunk)
            return
        value = bytearray()
        while chunk := await self._receive(part.read_chunk()):
            self._n_field_bytes += len(chunk)
            if self._n_field_bytes > _FIELD_BYTES:
                raise Refused(413, "too_big", f"the fields of the form have more than {_FIELD_BYTES} bytes")
            if part.name in _FIELDS:
                self._hold(len(chunk))
                value += chunk
        text = value.decode("utf-8", "replace").strip()
        if part.name == "phrase":
            self.phrases.append(text)
            if len(self.phrases) > self._connection.service.limits.phrases:
                raise Refused(413, "too_big", "the form has too many phrases")
        elif part.name in _FIELDS:
            self.values[part.name] = text

    async def _receive(self, read: Awaitable[_T]) -> _T:
        found = await self._connection.receive(read)
        if found is None and self._connection.reason == "stopping":
            raise Gone("stopping")
        return found  # type: ignore[return-value]  # None is the end of a form

    def _take(self, chunk: bytes) -> None:
        limit = self._connection.service.limits.file_bytes
        if len(self._body) + len(chunk) > limit:
            raise Refused(413, "too_big", f"the recording has more than {limit} bytes")
        self._hold(len(chunk))
        self._body += chunk

    def _hold(self, n: int) -> None:
        """Counts n bytes that stay in memory. Raises Refused."""
        if _Upload.n_held + n > _UPLOADS * self._connection.service.limits.file_bytes:
            raise Refused(503, "full", "other recordings take all the room; try again later")
        self._n_counted += n
        _Upload.n_held += n


async def serve(connection: Connection, request: web.Request) -> web.StreamResponse:
    """Answers one request. Raises Refused, Gone."""
    upload = _Upload(connection, request)
    try:
        data = await upload.read()
        form = _form(upload.values.get("format"), request.headers.get("Accept", ""))
        finals, warnings = await _recognize(connection, request, upload, data, form)
    finally:
        upload.release()
    if form == "json":
        return web.json_response(file_json(finals, connection.audio_s, warnings))
    text = text_of(finals) + "\n" if form == "text" else subtitles(finals, form == "vtt")
    return web.Response(text=text, content_type=_TYPES[form], charset="utf-8")


async def _recognize(
    connection: Connection, request: web.Request, upload: _Upload, data: bytes, form: str
) -> tuple[list[Event], list[str]]:
    service, values = connection.service, upload.values
    model = service.model(values.get("model"), values.get("language"))
    try:
        recording = await service.run(_open, data, values, request.content_type, service.options.libsndfile)
    except senone.Error as error:
        raise connection.failed(error) from None
    with recording:
        session = await connection.open(
            model,
            phrases=upload.phrases or None,
            input="float",
            rate=recording.rate,
            **_settings(values, form == "json"),
        )
        pieces = iter(recording)
        try:
            while (piece := await service.run(_next, pieces)) is not None:
                await _present(request, session.feed_samples(piece, len(piece)))
        except senone.Error as error:
            raise connection.failed(error) from None
        finals = await _present(request, session.finals())
        return finals, recording.warnings


def _settings(values: dict[str, Any], is_json: bool) -> dict[str, Any]:
    """Returns the settings of the stream: those of `senone recognize`, so that its words are the same."""
    endpoint = str(values.get("endpoint", "off"))
    if endpoint not in ("off", "command", "dictation", "captions"):
        raise Refused(400, "malformed", "endpoint must be one of off, command, dictation, captions")
    n_best = whole(values, "nbest", 1, 1, 100)
    settings: dict[str, Any] = {"endpoint": endpoint, "n_best": n_best}
    if whole(values, "confidence", 1 if is_json or n_best > 1 else 0, 0, 1):
        settings["lattice_beam"] = 8.0
    elif n_best > 1:
        raise Refused(400, "malformed", "nbest needs confidence=1")
    return settings


def _open(data: bytes, values: dict[str, Any], content_type: str, libsndfile: bool) -> Recording:
    """Opens the recording. Samples without a header need to be described. Raises Refused, senone.Error."""
    channel = values.get("channel", "mix")
    number = MIX if channel == "mix" else whole(values, "channel", 0, 0, 63)
    if "encoding" in values or "rate" in values:
        encoding = str(values.get("encoding", "s16le"))
        if encoding not in FORMATS or encoding.startswith("file"):
            known = ", ".join(name for name in FORMATS if not name.startswith("file"))
            raise Refused(400, "malformed", f"encoding must be one of {known}")
        return Recording(
            data,
            whole(values, "rate", 16000, 1000, 768000),
            raw_format=encoding,
            raw_channels=whole(values, "channels", 1, 1, 64),
            channel=number,
        )
    if not libsndfile and _is_other(data):
        raise Refused(415, "format", "the server takes WAV and AU, and samples with rate=; --libsndfile allows others")
    return Recording(data, channel=number)


def _is_other(data: bytes) -> bool:
    """Returns True for a file that only libsndfile may read, if anything does."""
    decoder = Decoder("file", 16000, 1, MIX)
    try:
        decoder.push(data[:_HEAD_BYTES])
    except senone.Error:
        pass
    finally:
        is_other = decoder.info().is_other
        decoder.close()
    return is_other


def _next(pieces: Iterator[array[float]]) -> Optional[array[float]]:
    return next(pieces, None)


async def _present(request: web.Request, work: Awaitable[_T]) -> _T:
    """Waits for the work while the client is there. Raises Gone."""
    task = asyncio.ensure_future(work)
    try:
        while True:
            done, _ = await asyncio.wait({task}, timeout=_PRESENCE_S)
            if done:
                return task.result()
            if request.transport is None or request.transport.is_closing():
                raise Gone("vanished")
    finally:
        task.cancel()


def _form(asked: Optional[str], accept: str) -> str:
    """Returns the form of the answer: what is asked for, or else the first of the Accept header that there is."""
    if asked is not None:
        if asked not in _TYPES:
            raise Refused(400, "malformed", f"format must be one of {', '.join(_TYPES)}")
        return asked
    for each in accept.lower().split(","):
        form = _ACCEPTED.get(each.partition(";")[0].strip())
        if form is not None:
            return form
    return "json"
