#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve.py BUNDLE --streams 50,100 RECORDING.wav... measures senone.serve through clients of Vosk's protocol.

Each client sends the recordings as they are spoken, with a second of silence after each, from another one on and at another
time. The latency is from sending the end of an utterance's last word to the arrival of its result, so it holds the silence
that the endpoint waits for. The last columns are of the server's process alone: processor time for a second of wall time,
and resident memory. The clients need about as much processor time again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import struct
import subprocess
import sys
import threading
import time
import wave
from pathlib import Path
from typing import Any

import senone


class Client(asyncio.Protocol):
    """Sends messages when told, and notes when results come. It does no more than that, to leave the processor to the server."""

    def __init__(self, parts: list[bytes], ends_s: list[float], piece_s: float, words: bool) -> None:
        data = b"".join(parts)
        self.pieces = [data[i : i + int(32000 * piece_s)] for i in range(0, len(data), int(32000 * piece_s))]
        self.ends_s = ends_s
        self.piece_s = piece_s
        self.words = words
        self.sent_s: list[float] = []
        self.results: list[tuple[float, dict[str, Any]]] = []
        self.n_replies = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._buffer = b""
        self._open = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
        )
        self._send(1, json.dumps({"config": {"sample_rate": 16000, "words": self.words}}).encode())

    def send_piece(self) -> None:
        """Sends the next piece, or the end."""
        if len(self.sent_s) < len(self.pieces):
            self._send(2, self.pieces[len(self.sent_s)])
            self.sent_s.append(time.monotonic())
        elif len(self.sent_s) == len(self.pieces):
            self._send(1, b'{"eof" : 1}')
            self.sent_s.append(time.monotonic())

    def _send(self, kind: int, data: bytes) -> None:
        size = bytes([0x80 | len(data)]) if len(data) < 126 else struct.pack("!BH", 0x80 | 126, len(data))
        self.transport.write(bytes([0x80 | kind]) + size + bytes(4) + data)

    def data_received(self, data: bytes) -> None:
        now_s = time.monotonic()
        self._buffer += data
        if not self._open:
            head, found, self._buffer = self._buffer.partition(b"\r\n\r\n")
            if not found:
                self._buffer = head
                return
            assert b" 101 " in head, head
            self._open = True
        while len(self._buffer) >= 2:
            n, begin = self._buffer[1], 2
            if n == 126:
                n, begin = int.from_bytes(self._buffer[2:4], "big"), 4
            if len(self._buffer) < begin + n:
                return
            frame, self._buffer = self._buffer[begin : begin + n], self._buffer[begin + n :]
            if not frame.startswith(b'{"partial"') and frame.startswith(b"{"):
                self.results.append((now_s, json.loads(frame)))
            self.n_replies += 1

    def connection_lost(self, error: Any) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def latencies_s(self) -> list[float]:
        """Of the utterances, in order; none if another number of results came than the library finds."""
        heard = [(at_s, result) for at_s, result in self.results if result.get("text")]
        if len(heard) != len(self.ends_s):
            return []
        pieces = [min(int(end_s / self.piece_s), len(self.pieces) - 1) for end_s in self.ends_s]
        return [at_s - self.sent_s[piece] for (at_s, _), piece in zip(heard, pieces)]


def ends_of(engine: senone.Engine, data: bytes) -> list[float]:
    """Returns the ends of the last words of the utterances."""
    with engine.stream(input="int16", rate=16000, endpoint="command") as stream:
        stream.feed(data)
    return [event.words[-1].end_s for event in stream if event.kind == senone.EventKind.FINAL and event.text and not event.rejected]


async def play(port: int, clients: list[Client]) -> None:
    """Lets the clients speak in real time, each from another moment on."""
    loop = asyncio.get_running_loop()
    for client in clients:
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)
    piece_s = clients[0].piece_s
    begins_s = [time.monotonic() + random.Random(i).random() * piece_s for i in range(len(clients))]
    n_pieces = max(len(client.pieces) for client in clients) + 1
    for step in range(n_pieces):
        for client, begin_s in sorted(zip(clients, begins_s), key=lambda pair: pair[1]):
            wait_s = begin_s + step * piece_s - time.monotonic()
            if wait_s > 0.002:
                await asyncio.sleep(wait_s)
            client.send_piece()
        await asyncio.sleep(0)
    await asyncio.wait([client.done for client in clients], timeout=30)


def cpu_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--streams", default="10,50,100")
    parser.add_argument("--piece-ms", type=int, default=100)
    parser.add_argument("--words", action="store_true", help="ask for the words' times and confidences, which need lattices")
    options = parser.parse_args()
    parts = []
    for path in options.recordings:
        with wave.open(path) as file:
            parts.append(file.readframes(file.getnframes()) + bytes(32000))
    engine = senone.Engine(options.bundle, device="cpu")
    orders = [parts[i:] + parts[:i] for i in range(len(parts))]
    ends = [ends_of(engine, b"".join(order)) for order in orders]
    engine.close()
    print("streams  results  median ms    99 %  lost  cores  MB")
    for n in map(int, options.streams.split(",")):
        command = [sys.executable, "-m", "senone.serve", options.bundle, "--devices", "cpu", "--port", "0"]
        server = subprocess.Popen([*command, "--connections", str(n)], stderr=subprocess.PIPE, text=True)
        assert server.stderr is not None
        log = next(log for log in map(json.loads, server.stderr) if log["message"] == "listening")
        reader = threading.Thread(target=server.stderr.read)
        reader.start()

        async def run() -> list[Client]:
            clients = [Client(orders[i % len(orders)], ends[i % len(ends)], options.piece_ms / 1000, options.words) for i in range(n)]
            await play(log["port"], clients)
            return clients

        before_s, begin_s = cpu_s(server.pid), time.monotonic()
        clients = asyncio.run(run())
        cores = (cpu_s(server.pid) - before_s) / (time.monotonic() - begin_s)
        memory = resident_mb(server.pid)
        server.terminate()
        server.wait()
        reader.join()
        latencies = sorted(1000 * each for client in clients for each in client.latencies_s())
        lost = sum(not client.latencies_s() for client in clients)
        if latencies:
            median, high = latencies[len(latencies) // 2], latencies[min(len(latencies) - 1, int(0.99 * len(latencies)))]
            print(f"{n:7}  {len(latencies):7}  {median:9.0f}  {high:6.0f}  {lost:4}  {cores:5.2f}  {memory:.0f}", flush=True)
        else:
            print(f"{n:7}  no client had the results of the library", flush=True)


if __name__ == "__main__":
    main()
