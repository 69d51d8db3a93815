# SPDX-License-Identifier: Apache-2.0
"""Recognises a recording on many streams at once in one thread: python many_streams.py BUNDLE RECORDING [STREAMS]

500 streams unless a number is given. Each is fed 100 ms at a time, as 500 callers would be, but as fast as it goes.
"""

from __future__ import annotations

import asyncio
import sys
import time

import senone


async def recognize(engine: senone.Engine, path: str) -> str:
    """Plays one caller."""
    samples, rate = senone.read_audio(path, int(engine.info.sample_rate_hz))
    async with engine.stream(rate=rate, n_channels=1 if samples.ndim == 1 else samples.shape[1]) as stream:
        for begin in range(0, len(samples), rate // 10):
            stream.feed(samples[begin : begin + rate // 10])
            await asyncio.sleep(0)  # lets the other callers run
        return (await stream.result_async()).text


async def run(bundle: str, path: str, n_streams: int) -> None:
    engine = senone.Engine(bundle, max_lanes=min(n_streams, 512))
    samples, rate = senone.read_audio(path, int(engine.info.sample_rate_hz))
    begin_s = time.monotonic()
    texts = await asyncio.gather(*(recognize(engine, path) for _ in range(n_streams)))
    seconds = time.monotonic() - begin_s
    audio_s = n_streams * len(samples) / rate
    for text in sorted(set(texts)):
        print(f"{texts.count(text)} streams: {text}")
    print(f"{audio_s:.0f} s of audio in {seconds:.2f} s, {audio_s / seconds:.0f} times real time, on {engine.info.device_name}")


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    asyncio.run(run(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) == 4 else 500))


if __name__ == "__main__":
    try:
        main()
    except senone.Error as error:
        sys.exit(f"many_streams: {error}")
