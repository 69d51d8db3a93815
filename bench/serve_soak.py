#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve_soak.py BUNDLE RECORDING.wav... besieges senone.serve and checks that its good clients do not notice.

First each recording is recognised once by each protocol, on a quiet server: Vosk's, jambonz', Asterisk's, Wyoming and HTTP. Then
--clients of them speak at once, as people do, for --seconds, and each result must be the same byte for byte. Meanwhile --hostile
others send what is malformed, huge, slow or cut off, the bundles are loaded again every --reload-s, and a device of --devices may
be one that fails: its clients must be told so, and are served when they come again. At the end the server is told to stop while
all of them speak, and must let them finish. The memory of the last quarter must be that of the second one. Prints a line every
--report-s and the verdict; the exit status is 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import json
import logging
import os
import random
import signal
import statistics
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
import wave
from pathlib import Path
from typing import Any, Awaitable, Callable

import aiohttp

PIECE_S = 0.1
PAUSE_S = 1.0  # after each recording, for endpoints
WAIT_S = 60.0  # for an answer, before the client says that none came


class Lost(Exception):
    """The server said that the client's device was lost; it may come again."""


class Server:
    """The server, and what is seen of it from outside."""

    def __init__(self, options: argparse.Namespace) -> None:
        command = [sys.executable, "-m", "senone.serve", options.bundle, "--devices", options.devices, "--port", "0"]
        command += ["--wyoming-port", "0", "--connections", "1000", "--message-kb", "256", "--idle-s", "10", "--lag-s", "3"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.reasons: collections.Counter[str] = collections.Counter()
        self.messages: collections.Counter[str] = collections.Counter()
        self.strange: list[str] = []  # lines of the log that nobody should have to read
        self._listening = threading.Event()
        self.port = self.wyoming_port = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._listening.wait(600) or not self.port:
            sys.exit("serve_soak: the server did not start: " + "".join(self.strange))

    def _read(self) -> None:
        assert self.process.stderr is not None
        for text in self.process.stderr:
            try:
                line = json.loads(text)
            except ValueError:
                line = {"message": "text", "traceback": text}
            self.messages[line["message"]] += 1
            if line["message"] == "connection ended":
                self.reasons[line["reason"]] += 1
            if "traceback" in line:
                self.strange.append(text[:2000])
            if line["message"] == "listening":
                self.port, self.wyoming_port = line["port"], line["wyoming_port"]
                self._listening.set()
        self._listening.set()

    def memory_mb(self) -> float:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def n_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def n_threads(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def wait(self) -> int:
        status = self.process.wait(120)
        self._reader.join()
        return status


class Recording:
    """A recording as messages of 100 ms, with a pause, and as a file."""

    def __init__(self, path: str) -> None:
        with wave.open(path) as file:
            self.rate = file.getframerate()
            samples = file.readframes(file.getnframes()) + bytes(2 * int(PAUSE_S * self.rate))
        n_bytes = 2 * int(PIECE_S * self.rate)
        self.pieces = [samples[begin : begin + n_bytes] for begin in range(0, len(samples), n_bytes)]
        self.wav = Path(path).read_bytes()


async def speak(pieces: list[bytes], send: Callable[[bytes], Awaitable[Any]]) -> None:
    """Sends the pieces as they are spoken."""
    begin_s = time.monotonic()
    for number, piece in enumerate(pieces):
        await asyncio.sleep(begin_s + number * PIECE_S - time.monotonic())
        await send(piece)


class Clients:
    """The good clients. Each method plays a recording of one utterance by one protocol and returns what does not depend on time."""

    def __init__(self, server: Server, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session
        self.base = f"127.0.0.1:{server.port}"

    async def vosk(self, recording: Recording) -> str:
        words: list[Any] = []

        async def send(piece: bytes) -> None:
            await ws.send_bytes(piece)
            take(await self._reply(ws))

        def take(reply: dict[str, Any]) -> None:
            if "error" in reply:
                raise Lost if "lost" in reply["error"] else AssertionError(reply)
            words.extend(reply.get("result", []))

        async with self.session.ws_connect(f"ws://{self.base}/") as ws:
            await ws.send_json({"config": {"sample_rate": recording.rate}})
            await speak(recording.pieces, send)
            await ws.send_str('{"eof" : 1}')
            take(await self._reply(ws))
        return json.dumps(words)

    async def jambonz(self, recording: Recording) -> str:
        async with self.session.ws_connect(f"ws://{self.base}/jambonz") as ws:
            await ws.send_json({"type": "start", "language": "en", "sampleRateHz": recording.rate, "interimResults": True})
            await self._send_all(ws, recording, '{"type": "stop"}')
            replies = [json.loads(message.data) async for message in ws if message.type == aiohttp.WSMsgType.TEXT]
        if any(reply["type"] == "error" for reply in replies):
            raise Lost if any("lost" in reply.get("error", "") for reply in replies) else AssertionError(replies)
        assert ws.close_code == 1000, ws.close_code
        return json.dumps([reply for reply in replies if reply["is_final"]])

    async def aeap(self, recording: Recording) -> str:
        async with self.session.ws_connect(f"ws://{self.base}/aeap", protocols=("speech_to_text",)) as ws:
            kind = "slin16" if recording.rate == 16000 else "slin"
            await ws.send_json({"request": "setup", "id": "1", "codecs": [{"name": kind}]})
            reply = await self._reply(ws)
            if "error_msg" in reply:
                raise Lost if "lost" in reply["error_msg"] else AssertionError(reply)
            await self._send_all(ws, recording)
            while (reply := await self._reply(ws)).get("request") != "set":
                if "error_msg" in reply:
                    raise Lost if "lost" in reply["error_msg"] else AssertionError(reply)
        return json.dumps(reply["params"])

    async def wyoming(self, recording: Recording) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.wyoming_port)
        form = {"rate": recording.rate, "width": 2, "channels": 1}

        async def send(piece: bytes) -> None:
            head = {"type": "audio-chunk", "data": form, "payload_length": len(piece)}
            writer.write(json.dumps(head).encode() + b"\n" + piece)
            await writer.drain()

        async def talk() -> None:
            writer.write(b'{"type": "transcribe"}\n')
            await speak(recording.pieces, send)
            writer.write(b'{"type": "audio-stop"}\n')

        talking = asyncio.ensure_future(talk())
        try:
            while True:
                line = await asyncio.wait_for(reader.readline(), WAIT_S)
                event = json.loads(line)
                data = json.loads(await reader.readexactly(event["data_length"])) if event.get("data_length") else {}
                if event["type"] == "error":
                    raise Lost if data["code"] == "device" else AssertionError(data)
                if event["type"] == "transcript":
                    return json.dumps(data)
        finally:
            talking.cancel()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await talking
            writer.close()

    async def http(self, recording: Recording) -> str:
        async with self.session.post(f"http://{self.base}/recognize", data=recording.wav) as answer:
            if answer.status == 503:
                raise Lost
            assert answer.status == 200, await answer.text()
            return await answer.text()

    async def _send_all(self, ws: aiohttp.ClientWebSocketResponse, recording: Recording, end: str = "") -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):  # the reason can still be read
            await speak(recording.pieces, ws.send_bytes)
            if end:
                await ws.send_str(end)

    async def _reply(self, ws: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
        message = await asyncio.wait_for(ws.receive(), WAIT_S)
        assert message.type == aiohttp.WSMsgType.TEXT, (message.type, ws.close_code)
        found: dict[str, Any] = json.loads(message.data)
        return found


def frame(kind: int, data: bytes) -> bytes:
    """Returns a masked frame of a WebSocket, whatever the kind."""
    return bytes([kind]) + struct.pack("!BHI", 0x80 | 126, len(data), 0) + data


class Hostile:
    """One bad deed a call."""

    def __init__(self, server: Server, recordings: list[Recording]) -> None:
        self.server = server
        self.recordings = recordings
        self.n_deeds: collections.Counter[str] = collections.Counter()
        self._deeds = [getattr(self, name) for name in dir(self) if name.startswith("do_")]

    async def act(self, chance: random.Random) -> None:
        deed = chance.choice(self._deeds)
        port = self.server.wyoming_port if "wyoming" in deed.__name__ else self.server.port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            await deed(chance, reader, writer)
            self.n_deeds[deed.__name__[3:]] += 1
        except (ConnectionError, asyncio.IncompleteReadError):
            self.n_deeds[deed.__name__[3:]] += 1  # the server was faster
        finally:
            writer.transport.abort() if chance.random() < 0.5 else writer.close()

    async def _open(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> None:
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n".encode()
        )
        await reader.readuntil(b"\r\n\r\n")

    async def do_malformed_frames(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open(reader, writer, chance.choice(["/", "/jambonz", "/aeap"]))
        if chance.random() < 0.5:
            writer.write(frame(0x82, chance.choice(self.recordings).pieces[0]))
        writer.write(chance.randbytes(chance.randrange(1, 300)))
        await reader.read(4096)

    async def do_malformed_json(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open(reader, writer, chance.choice(["/", "/jambonz", "/aeap"]))
        texts = (b"{" * 9999, b'{"config": {"sample_rate": 1e999}}', b"\xff\xfe", b'{"request": "setup"}', b'{"type": "start"}' * 2)
        writer.write(frame(0x81, chance.choice(texts)))
        await reader.read(4096)

    async def do_huge_message(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open(reader, writer, "/")
        writer.write(b"\x82" + struct.pack("!BQI", 0x80 | 127, chance.choice([1 << 20, 1 << 40, 1 << 62]), 0))
        for _ in range(16):
            writer.write(bytes(1 << 16))
            await asyncio.wait_for(writer.drain(), WAIT_S)

    async def do_grammars(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open(reader, writer, "/")
        phrases = [f"{chance.choice(['ace', 'two', 'king', 'zork'])} of {chance.choice(['clubs', 'hearts'])}" for _ in range(50)]
        writer.write(frame(0x81, json.dumps({"config": {"phrase_list": phrases}}).encode()))
        writer.write(frame(0x82, chance.choice(self.recordings).pieces[0]))
        await reader.read(4096)

    async def do_vanish(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open(reader, writer, "/")
        for piece in chance.choice(self.recordings).pieces[: chance.randrange(1, 15)]:
            writer.write(frame(0x82, piece))
            await asyncio.sleep(PIECE_S / 2)

    async def do_send_slowly(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open(reader, writer, "/")
        for byte in frame(0x82, chance.choice(self.recordings).pieces[0])[:40]:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.5)

    async def do_read_nothing(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Long replies fill the buffers of both sides."""
        await self._open(reader, writer, "/aeap")
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        setup = {"request": "setup", "id": 1, "codecs": [{"name": "ulaw"}], "params": {"language": "x" * 60000}}
        writer.write(frame(0x81, json.dumps(setup).encode()))
        for _ in range(200):
            writer.write(frame(0x81, b'{"request": "get", "id": 2, "params": ["language"]}'))
        await asyncio.sleep(chance.uniform(1, 6))

    async def do_half_a_request(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(chance.choice([b"", b"GET / HT", b"POST /recognize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\nRIFF"]))
        await asyncio.sleep(chance.uniform(0.1, 15))

    async def do_bad_form(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = b"--x\r\nContent-Disposition: form-data; name*=" + chance.randbytes(30) + b"\r\n\r\n" + chance.randbytes(999) + b"\r\n--x--\r\n"
        head = "POST /recognize HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await reader.read(4096)

    async def do_bad_file(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = bytearray(chance.choice(self.recordings).wav)
        for _ in range(20):
            body[chance.randrange(min(100, len(body)))] = chance.randrange(256)
        query = urllib.parse.urlencode({"phrase": "zork", "endpoint": chance.choice(["off", "command", "?"])})
        writer.write(f"POST /recognize?{query} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await reader.read(4096)

    async def do_wyoming_garbage(self, chance: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (
            chance.randbytes(300) + b"\n",
            b'{"type": "audio-chunk", "payload_length": 99999999999}\n',
            b'{"type": "audio-chunk", "payload_length": 200000}\n' + bytes(1000),
            b'{"type": "audio-start", "data": {"rate": 8000}}\n{"type": "audio-stop"}\n',
            b"x" * 200000,
            b"",
        )
        writer.write(chance.choice(lines))
        await asyncio.wait([asyncio.ensure_future(reader.read(4096))], timeout=15)


class Siege:
    """The good and the bad at once, and what went wrong."""

    def __init__(self, options: argparse.Namespace, server: Server, session: aiohttp.ClientSession) -> None:
        self.options = options
        self.server = server
        self.recordings = [Recording(path) for path in options.recordings]
        self.clients = Clients(server, session)
        self.plays = [self.clients.vosk, self.clients.jambonz, self.clients.aeap, self.clients.wyoming, self.clients.http]
        self.hostile = Hostile(server, self.recordings)
        self.expected: dict[tuple[str, int], str] = {}
        self.begin_s = time.monotonic()
        self.wrong: list[str] = []
        self.n_results: collections.Counter[str] = collections.Counter()
        self.n_lost = 0
        self.memory_mb: list[float] = []
        self.end_s = 0.0

    async def listen(self) -> None:
        """The quiet run."""

        async def hear(play: Callable[[Recording], Awaitable[str]], number: int) -> None:
            for _ in range(20):  # a device that fails may be the first that is asked
                try:
                    self.expected[play.__name__, number] = await play(self.recordings[number])
                    return
                except Lost:
                    self.n_lost += 1
            raise AssertionError(f"{play.__name__} was never served")

        for play in self.plays:
            await asyncio.gather(*(hear(play, number) for number in range(len(self.recordings))))

    def _wrong(self, text: str) -> None:
        self.wrong.append(text)
        if len(self.wrong) <= 50:
            print(f"WRONG at {time.monotonic() - self.begin_s:.0f} s: {text}", flush=True)

    async def run(self) -> None:
        begin_s = self.begin_s = time.monotonic()
        self.end_s = begin_s + self.options.seconds
        tasks = [self._talk(random.Random(number)) for number in range(self.options.clients)]
        tasks += [self._harass(random.Random(-1 - number)) for number in range(self.options.hostile)]
        await asyncio.gather(*tasks, self._watch(begin_s))

    async def _talk(self, chance: random.Random) -> None:
        await asyncio.sleep(chance.random() * 2)
        while time.monotonic() < self.end_s:
            play, number = chance.choice(self.plays), chance.randrange(len(self.recordings))
            name = play.__name__
            try:
                found = await play(self.recordings[number])
                self.n_results[name] += 1
                if found != self.expected[name, number]:
                    self._wrong(f"{name}: {found[:300]} instead of {self.expected[name, number][:300]}")
            except Lost:
                self.n_lost += 1
            except (AssertionError, asyncio.TimeoutError, ConnectionError, aiohttp.ClientError, ValueError) as error:
                self._wrong(f"{name}: {error!r}"[:600])

    async def _harass(self, chance: random.Random) -> None:
        while time.monotonic() < self.end_s:
            try:
                await asyncio.wait_for(self.hostile.act(chance), WAIT_S)
            except (OSError, asyncio.TimeoutError, asyncio.LimitOverrunError) as error:
                self._wrong(f"the hostile: {error!r}")

    async def _watch(self, begin_s: float) -> None:
        options, next_reload_s, next_report_s = self.options, begin_s + self.options.reload_s, begin_s
        print("     s    MB  files threads  results  lost  wrong  deeds", flush=True)
        while (now_s := time.monotonic()) < self.end_s:
            self.memory_mb.append(self.server.memory_mb())
            if now_s >= next_reload_s:
                next_reload_s += options.reload_s
                self.server.process.send_signal(signal.SIGHUP)
            if now_s >= next_report_s:
                next_report_s += options.report_s
                print(self._line(now_s - begin_s), flush=True)
            await asyncio.sleep(1)
        print(self._line(time.monotonic() - begin_s), flush=True)
        self.server.process.send_signal(signal.SIGTERM)

    def _line(self, passed_s: float) -> str:
        counts = (self.n_results.total(), self.n_lost, len(self.wrong), self.hostile.n_deeds.total())
        files, threads = self.server.n_files(), self.server.n_threads()
        return f"{passed_s:6.0f} {self.memory_mb[-1]:5.0f} {files:6} {threads:7} " + "{:8} {:5} {:6} {:6}".format(*counts)

    def judge(self, status: int) -> None:
        quarter = len(self.memory_mb) // 4
        if quarter > 0:
            early, late = statistics.median(self.memory_mb[quarter : 2 * quarter]), statistics.median(self.memory_mb[-quarter:])
            print(f"memory: {early:.0f} MB in the second quarter, {late:.0f} MB in the last, {max(self.memory_mb):.0f} MB at most")
            if late > 1.1 * early + 8:
                self._wrong("the memory grows")
        print("results:", dict(self.n_results), "| told that the device was lost:", self.n_lost)
        print("deeds:", dict(self.hostile.n_deeds))
        print("ended:", dict(self.server.reasons))
        print("log:", dict(self.server.messages))
        for text in self.server.strange:
            self._wrong(f"log: {text}")
        if status != 0:
            self._wrong(f"the server ended with status {status}")
        print("all as on a quiet server" if not self.wrong else f"{len(self.wrong)} things were wrong")


async def besiege(options: argparse.Namespace) -> int:
    server = Server(options)
    try:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            siege = Siege(options, server, session)
            await siege.listen()
            await siege.run()
        siege.judge(await asyncio.get_running_loop().run_in_executor(None, server.wait))
        return 1 if siege.wrong else 0
    finally:
        if server.process.poll() is None:
            server.process.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle")
    parser.add_argument("recordings", nargs="+", help="WAV files of 16 bits, all of one rate")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--hostile", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--reload-s", type=float, default=60)
    parser.add_argument("--report-s", type=float, default=30)
    parser.add_argument("--devices", default="cpu", help="those of the server, separated by commas")
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # clients that send to who has closed
    return asyncio.run(besiege(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
