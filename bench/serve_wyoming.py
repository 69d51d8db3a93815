#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve_wyoming.py BUNDLE RECORDING.wav... [--others SPEECH.wav...] measures senone.serve by the client of the package wyoming.

--connections clients connect and stay. --speaking of them at a time play a recording as it is spoken and then silence, without
an end, as a microphone does that nobody stops, until the transcript comes. The latency is from sending the end of the last word
to the transcript. Each of --others is speech that the grammar does not hold, so that its transcript must be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
import warnings
import wave

import senone
from serve import percentile, serving

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # audioop, before Python 3.13
    from wyoming.asr import Transcribe, Transcript
    from wyoming.audio import AudioChunk, AudioStart
    from wyoming.client import AsyncTcpClient
    from wyoming.info import Describe, Info

PIECE_S = 0.064  # as Home Assistant sends
LONGEST_S = 60.0


class Speech:
    """A recording, the transcript that must come, and the end of its last word; None: that of the other speech is not known."""

    def __init__(self, engine: senone.Engine, path: str, is_other: bool) -> None:
        with wave.open(path) as file:
            self.rate = file.getframerate()
            self.samples = file.readframes(file.getnframes())
        final = engine.recognize(self.samples + bytes(2 * self.rate), rate=self.rate, input="int16")
        if is_other != (final.rejected or not final.text):
            sys.exit(f"serve_wyoming: {path} is {'not rejected' if is_other else 'rejected'}: {final.text!r}")
        self.text = "" if is_other else final.text
        self.end_s = None if is_other else final.words[-1].end_s


async def speak(client: AsyncTcpClient, speech: Speech) -> tuple[str, float | None]:
    """Plays the speech and then silence until the transcript comes; returns it and the latency."""
    n_bytes = 2 * int(PIECE_S * speech.rate)
    await client.write_event(Transcribe(language="en").event())
    await client.write_event(AudioStart(speech.rate, 2, 1).event())
    begin_s = time.monotonic()
    sent_s = None

    async def talk() -> None:
        nonlocal sent_s
        for number in range(int(LONGEST_S / PIECE_S)):
            await asyncio.sleep(begin_s + number * PIECE_S - time.monotonic())
            piece = speech.samples[number * n_bytes : (number + 1) * n_bytes].ljust(n_bytes, b"\0")
            await client.write_event(AudioChunk(speech.rate, 2, 1, piece).event())
            if sent_s is None and speech.end_s is not None and (number + 1) * PIECE_S >= speech.end_s:
                sent_s = time.monotonic()

    talking = asyncio.ensure_future(talk())
    try:
        while True:
            event = await asyncio.wait_for(client.read_event(), LONGEST_S)
            assert event is not None, "the server has closed"
            if Transcript.is_type(event.type):
                return Transcript.from_event(event).text, None if sent_s is None else time.monotonic() - sent_s
    finally:
        talking.cancel()


async def run(port: int, options: argparse.Namespace, speeches: list[Speech]) -> tuple[list[float], list[str]]:
    latencies: list[float] = []
    wrong: list[str] = []
    all_there, turn = asyncio.Barrier(options.connections), asyncio.Semaphore(options.speaking)

    async def client(number: int) -> None:
        async with AsyncTcpClient("127.0.0.1", port) as client:
            await client.write_event(Describe().event())
            event = await client.read_event()
            assert event is not None and Info.is_type(event.type), event
            await all_there.wait()
            for speech in (speeches[(number + k) % len(speeches)] for k in range(options.rounds)):
                async with turn:
                    text, latency_s = await speak(client, speech)
                if text != speech.text:
                    wrong.append(f"{text!r} instead of {speech.text!r}")
                if latency_s is not None:
                    latencies.append(1000 * latency_s)

    await asyncio.gather(*(client(number) for number in range(options.connections)))
    return latencies, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle")
    parser.add_argument("recordings", nargs="+", help="WAV files of 16 bits with a sentence of the grammar")
    parser.add_argument("--others", nargs="*", default=[], help="and with other speech")
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--speaking", type=int, default=25)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with senone.Engine(options.bundle, device="cpu") as engine:
        speeches = [Speech(engine, path, False) for path in options.recordings]
        speeches += [Speech(engine, path, True) for path in options.others]
    with serving(options.bundle, options.connections + 1, "--wyoming-port", "0", "--idle-s", "3600") as server:
        latencies, wrong = asyncio.run(run(server.log["wyoming_port"], options, speeches))
        memory_mb = server.memory_mb()
    n = options.connections * options.rounds
    print(f"{n} transcripts by {options.connections} connections, {options.speaking} at a time: {len(wrong)} wrong, {memory_mb:.0f} MB")
    print(f"latency ms: median {statistics.median(latencies):.0f}, 99 % {percentile(latencies, 0.99):.0f}, most {max(latencies):.0f}")
    for each in wrong[:10]:
        print("WRONG", each)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
