# SPDX-License-Identifier: Apache-2.0
"""Common code of the tests of senone.serve: a server in a process of its own, recordings, and clients of the protocols."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import wave
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import senone
from common import BUNDLE, TONES, engine, samples

try:
    import aiohttp
    import prometheus_client  # noqa: F401
except ImportError as error:
    raise unittest.SkipTest(f"{error.name} is missing; ./dev setup test installs python3-{error.name}") from None

WAIT_S = 300.0  # for what takes much less; machines differ


class Server:
    """``python -m senone.serve`` with the tone bundle, and the model without a graph, for grammars of clients."""

    def __init__(
        self,
        *options: str,
        models: tuple[str, ...] = (f"tones={BUNDLE}", f"model={TONES}/model"),
        environment: dict[str, str] | None = None,
    ) -> None:
        command = [sys.executable, "-m", "senone.serve", *models, "--devices", "cpu", "--threads", "2", "--port", "0"]
        if f"model={TONES}/model" in models:
            command += ["--lexicon", f"model={TONES}/tones.dict"]
        command += ["--wyoming-port", "0", "--idle-s", "3600", "--lag-s", "3600", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        atexit.register(self.process.kill)  # of a test that fails before stop()
        self.log: list[dict[str, Any]] = []
        self.port = self.wyoming_port = 0
        self._listening = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._listening.wait(WAIT_S) or self.port == 0:
            self.process.kill()
            raise AssertionError(f"the server did not start: {self.log}")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def threads(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def resident_mb(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def logged(self, message: str) -> list[dict[str, Any]]:
        return [line for line in list(self.log) if line.get("message") == message]

    def stop(self) -> int:
        """Ends the server as a service manager does, and returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()
        return status

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            try:
                self.log.append(json.loads(line))
            except ValueError:
                self.log.append({"text": line})
            if self.log[-1].get("message") == "listening":
                self.port, self.wyoming_port = self.log[-1]["port"], self.log[-1]["wyoming_port"]
                self._listening.set()
        self._listening.set()


def recording(number: int) -> Any:
    """Returns one of many recordings of different words: int16 samples with silence around and between utterances."""
    names = ("low_mid_high", "high_low", "low")
    pause = np.zeros(16000 * 2, np.int16)
    parts = [pause[:4000]]
    for digit in range(1 + number % 3):
        parts += [samples(names[(number // 3 ** (digit + 1) + digit) % 3]), pause]
    return np.concatenate(parts)


def words_of_library(audio: Any, rate: int = 16000) -> str:
    """Returns the words of a stream with the settings of a dictation, which the server must find too."""
    with engine().stream(input="int16", rate=rate, endpoint="dictation", lattice_beam=6) as stream:
        stream.feed(audio)
    return " ".join(event.text for event in stream if event.kind == senone.EventKind.FINAL and event.text)


def as_wav(audio: Any, rate: int = 16000) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, rate, 0, "NONE", ""))
        writer.writeframes(audio.tobytes())
    return file.getvalue()


class Vosk:
    """A client of Vosk's WebSocket protocol, written from its description: a reply is awaited after each message."""

    def __init__(self, ws: Any) -> None:
        self.ws = ws
        self.texts: list[str] = []
        self.partials: list[str] = []
        self.results: list[dict[str, Any]] = []

    async def configure(self, **config: Any) -> None:
        await self.ws.send_str(json.dumps({"config": config}))

    async def reply(self) -> dict[str, Any]:
        message = await asyncio.wait_for(self.ws.receive(), WAIT_S)
        assert message.type == aiohttp.WSMsgType.TEXT, (message, self.ws.close_code)
        reply: dict[str, Any] = json.loads(message.data)
        if "partial" in reply:
            self.partials.append(reply["partial"])
        else:
            self.results.append(reply)
            if reply.get("text"):
                self.texts.append(reply["text"])
        return reply

    async def hear(self, audio: Any, n_bytes: int = 8000) -> None:
        data = audio.tobytes()
        for begin in range(0, len(data), n_bytes):
            await self.ws.send_bytes(data[begin : begin + n_bytes])
            await self.reply()

    async def end(self) -> str:
        """Ends the audio; returns all words."""
        await self.ws.send_str('{"eof" : 1}')
        await self.reply()
        return " ".join(self.texts)


@contextlib.asynccontextmanager
async def vosk(server: Server, **options: Any) -> AsyncIterator[Vosk]:
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{server.url}/", **options) as ws:
        yield Vosk(ws)


async def closing(ws: Any) -> int:
    """Reads up to the close and returns its code."""
    while True:
        message = await asyncio.wait_for(ws.receive(), WAIT_S)
        if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            return int(ws.close_code)


class WyomingClient:
    """A client of the Wyoming protocol, written from its description."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, kind: str, data: dict[str, Any] | None = None, payload: bytes = b"") -> None:
        body = json.dumps(data or {}).encode()
        header = {"type": kind, "data_length": len(body), "payload_length": len(payload)}
        self.writer.write(json.dumps(header).encode() + b"\n" + body + payload)
        await self.writer.drain()

    async def hear(self, audio: Any, rate: int = 16000, n_samples: int = 1024) -> None:
        form = {"rate": rate, "width": 2, "channels": 1}
        await self.send("audio-start", form)
        for begin in range(0, len(audio), n_samples):
            await self.send("audio-chunk", form, audio[begin : begin + n_samples].tobytes())
        await self.send("audio-stop")

    async def receive(self, wanted: str | None = None) -> dict[str, Any]:
        """Returns the next event, or the next of a type."""
        while True:
            line = await asyncio.wait_for(self.reader.readline(), WAIT_S)
            if not line:
                raise EOFError
            event: dict[str, Any] = json.loads(line)
            if event.get("data_length"):
                event["data"] = json.loads(await self.reader.readexactly(event["data_length"]))
            if wanted is None or event["type"] == wanted:
                return event


@contextlib.asynccontextmanager
async def wyoming(server: Server) -> AsyncIterator[WyomingClient]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.wyoming_port)
    try:
        yield WyomingClient(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def until(condition: Any) -> None:
    """Waits until something becomes true."""
    end_s = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end_s
        await asyncio.sleep(0.01)
