#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve.py BUNDLE --streams 50,100 RECORDING.wav... measures senone.serve through clients of Vosk's protocol.

Each client sends the recordings as they are spoken, with a second of silence after each, from another one on and at another
time. The latency is from sending the end of an utterance's last word to the arrival of its result, so it holds the silence
that the endpoint waits for. The columns of cores are of the server's process alone, processor time for a second of wall time:
all of it, and that of the thread of the interpreter. "clients" is what the clients took, "others" what all other processes of
the machine took meanwhile. "late" is how late the clients were at the 99th percentile: where it is over some milliseconds, the
machine had no processor left for them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import threading
import time
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import senone


class Client(asyncio.Protocol):
    """Sends messages when told, and notes when results come. It does no more than that, to leave the processor to the server."""

    def __init__(self, parts: list[bytes], ends_s: list[float], rate: int, piece_s: float, words: bool) -> None:
        data = b"".join(parts)
        n_bytes = 2 * int(rate * piece_s)
        self.pieces = [data[i : i + n_bytes] for i in range(0, len(data), n_bytes)]
        self.rate = rate
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
        self._send(1, json.dumps({"config": {"sample_rate": self.rate, "words": self.words}}).encode())

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


def ends_of(engine: senone.Engine, data: bytes, rate: int) -> list[float]:
    """Returns the ends of the last words of the utterances."""
    with engine.stream(input="int16", rate=rate, endpoint="command") as stream:
        stream.feed(data)
    return [event.words[-1].end_s for event in stream if event.kind == senone.EventKind.FINAL and event.text and not event.rejected]


async def play(port: int, clients: list[Client]) -> list[float]:
    """Lets the clients speak in real time, each from another moment on. Returns how late each message was, in seconds."""
    loop = asyncio.get_running_loop()
    for client in clients:
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)
    piece_s = clients[0].piece_s
    begins_s = [time.monotonic() + random.Random(i).random() * piece_s for i in range(len(clients))]
    n_pieces = max(len(client.pieces) for client in clients) + 1
    late_s = []
    for step in range(n_pieces):
        for client, begin_s in sorted(zip(clients, begins_s), key=lambda pair: pair[1]):
            wait_s = begin_s + step * piece_s - time.monotonic()
            if wait_s > 0.002:
                await asyncio.sleep(wait_s)
            late_s.append(max(0.0, time.monotonic() - begin_s - step * piece_s))
            client.send_piece()
        await asyncio.sleep(0)
    await asyncio.wait([client.done for client in clients], timeout=30)
    return late_s


class Server:
    """A server in a process of its own, and what it takes."""

    def __init__(self, process: subprocess.Popen[str], log: dict[str, Any]) -> None:
        self.process = process
        self.log = log  # its line "listening"

    def cpu_s(self, task: str = "") -> float:
        """Returns the processor time of the process, or of one of its threads."""
        fields = Path(f"/proc/{self.process.pid}{task}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def loop_s(self) -> float:
        """Returns the processor time of the thread of the interpreter's loop."""
        return self.cpu_s(f"/task/{self.process.pid}")

    def memory_mb(self) -> float:
        """Returns the resident memory."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextlib.contextmanager
def serving(bundle: str, n_connections: int, *options: str) -> Iterator[Server]:
    """Starts a server on the CPU, and ends it."""
    command = [sys.executable, "-m", "senone.serve", bundle, "--devices", "cpu", "--port", "0"]
    process = subprocess.Popen([*command, "--connections", str(n_connections), *options], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    log = next(log for log in map(json.loads, process.stderr) if log["message"] == "listening")
    reader = threading.Thread(target=process.stderr.read)
    reader.start()
    try:
        yield Server(process, log)
    finally:
        process.terminate()
        process.wait()
        reader.join()


def machine_s() -> float:
    """Returns the time for which processors were not idle."""
    fields = list(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9]))
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def measure(options: argparse.Namespace, n: int, rate: int, orders: list[list[bytes]], ends: list[list[float]]) -> dict[str, Any]:
    """Returns a row of the table: n streams on a server of their own."""
    async def run(port: int) -> tuple[list[Client], list[float]]:
        clients = [Client(orders[i % len(orders)], ends[i % len(ends)], rate, options.piece_ms / 1000, options.words) for i in range(n)]
        return clients, await play(port, clients)

    with serving(options.bundle, n + 1) as server:
        before = [server.cpu_s(), server.loop_s(), time.process_time(), machine_s(), time.monotonic()]
        clients, late_s = asyncio.run(run(server.log["port"]))
        after = [server.cpu_s(), server.loop_s(), time.process_time(), machine_s(), time.monotonic()]
        used = [end - begin for begin, end in zip(before, after)]
        cores, loop, own, machine = (each / used[4] for each in used[:4])
        row: dict[str, Any] = {
            "streams": n,
            "cores": round(cores, 3),
            "interpreter_cores": round(loop, 3),
            "client_cores": round(own, 3),
            "other_cores": round(max(0.0, machine - cores - own), 3),
            "memory_mb": round(server.memory_mb()),
            "late_ms": round(1000 * percentile(late_s, 0.99)),
        }
    latencies = [1000 * each for client in clients for each in client.latencies_s()]
    row["lost"] = sum(not client.latencies_s() for client in clients)
    row["results"] = len(latencies)
    if latencies:
        row |= {"median_ms": round(statistics.median(latencies)), "high_ms": round(percentile(latencies, 0.99))}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle")
    parser.add_argument("recordings", nargs="+", help="WAV files of 16 bits, all of one rate")
    parser.add_argument("--streams", default="10,50,100")
    parser.add_argument("--piece-ms", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1, help="how often each client plays all recordings")
    parser.add_argument("--words", action="store_true", help="ask for the words' times and confidences, which need lattices")
    parser.add_argument("--json", metavar="FILE", help="also write the rows to this file")
    options = parser.parse_args()
    parts = []
    for path in options.recordings:
        with wave.open(path) as file:
            rate = file.getframerate()
            parts.append(file.readframes(file.getnframes()) + bytes(2 * rate))
    engine = senone.Engine(options.bundle, device="cpu")
    orders = [(parts[i:] + parts[:i]) * options.rounds for i in range(len(parts))]
    ends = [ends_of(engine, b"".join(order), rate) for order in orders]
    engine.close()
    columns = ("streams", "results", "lost", "median_ms", "high_ms", "cores", "interpreter_cores", "client_cores", "other_cores", "memory_mb", "late_ms")
    print("streams results lost median   99 %  cores   loop clients others   MB  late")
    rows = []
    for n in map(int, options.streams.split(",")):
        rows.append(measure(options, n, rate, orders, ends))
        print(" ".join(f"{rows[-1].get(column, '-'):>6}" for column in columns), flush=True)
    if options.json:
        known = {"rate": rate, "piece_ms": options.piece_ms, "words": options.words, "rounds": options.rounds}
        report = {"benchmark": "serve", "device": "cpu:0", "cpu": processor(), "cores": os.cpu_count(), "version": senone.__version__}
        report |= {"date": time.strftime("%Y-%m-%d"), "options": known, "results": rows}
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


if __name__ == "__main__":
    main()
