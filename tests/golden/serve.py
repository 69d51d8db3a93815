# SPDX-License-Identifier: Apache-2.0
"""serve.py BUNDLE WHOLE STREAMS RECORDING... compares what clients of senone.serve hear with the results of the command: those of
whole recordings in the file WHOLE and those of streams in STREAMS, as JSON lines. serve.sh calls it."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import wave
from collections import defaultdict
from pathlib import Path
from typing import Any

import aiohttp

COPIES = 4  # of each recording, at once


def words_of(path: str) -> dict[str, str]:
    """Returns the words of each recording, without those of rejected utterances."""
    texts: dict[str, list[str]] = defaultdict(list)
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        result = json.loads(line)
        texts[result["file"]] += [] if result.get("rejected") or not result["text"] else [result["text"]]
    return {file: " ".join(found) for file, found in texts.items()}


async def by_vosk(session: aiohttp.ClientSession, url: str, path: str) -> str:
    with wave.open(path) as file:
        rate, data = file.getframerate(), file.readframes(file.getnframes())
    texts = []
    async with session.ws_connect(url) as ws:
        await ws.send_json({"config": {"sample_rate": rate}})
        for begin in range(0, len(data), 8000):
            await ws.send_bytes(data[begin : begin + 8000])
            texts.append((await ws.receive_json()).get("text", ""))
        await ws.send_str('{"eof" : 1}')
        last = await ws.receive_json()
        if not last["text"] and "result" in last:
            raise AssertionError(f"{path}: words without a text: {last}")
        texts.append(last["text"])
    return " ".join(text for text in texts if text)


async def by_http(session: aiohttp.ClientSession, url: str, path: str) -> str:
    async with session.post(f"{url}/recognize", data=Path(path).read_bytes()) as answer:
        found: dict[str, Any] = await answer.json()
        return str(found["text"])


async def by_wyoming(port: int, path: str) -> str:
    """Returns the transcript of a recording of one utterance."""
    with wave.open(path) as file:
        rate, data = file.getframerate(), file.readframes(file.getnframes())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    form = {"rate": rate, "width": 2, "channels": 1}
    for kind, payload in (("transcribe", b""), ("audio-start", b""), ("audio-chunk", data), ("audio-stop", b"")):
        writer.write(json.dumps({"type": kind, "data": form, "payload_length": len(payload)}).encode() + b"\n" + payload)
    event: dict[str, Any] = {}
    while event.get("type") != "transcript":
        event = json.loads(await reader.readline())
        data = await reader.readexactly(event.get("data_length", 0))
    writer.close()
    return str(json.loads(data)["text"])


async def compare(url: str, wyoming_port: int, whole: dict[str, str], streams: dict[str, str], paths: list[str]) -> None:
    async with aiohttp.ClientSession() as session:
        heard = await asyncio.gather(*(by_vosk(session, url, path) for path in paths * COPIES))
        assert heard == [streams.get(path, "") for path in paths] * COPIES, heard
        heard = await asyncio.gather(*(by_http(session, url, path) for path in paths * COPIES))
        assert heard == [whole[path] for path in paths] * COPIES, heard
        single = [path for path in paths if "cards" in path or not streams.get(path)]
        heard = await asyncio.gather(*(by_wyoming(wyoming_port, path) for path in single * COPIES))
        assert heard == [streams.get(path, "") for path in single] * COPIES, heard
    n_empty = sum(not streams.get(path) for path in paths)
    assert 0 < n_empty < len(paths), streams
    print(f"{len(paths)} recordings, {COPIES} times each by each protocol: the words of the command; {n_empty} are rejected")


def main() -> None:
    bundle, whole, streams, *paths = sys.argv[1:]
    command = [sys.executable, "-m", "senone.serve", bundle, "--devices", "cpu", "--port", "0", "--wyoming-port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        for line in server.stderr:
            log = json.loads(line)
            if log["message"] == "listening":
                break
        url = f"http://127.0.0.1:{log['port']}"
        asyncio.run(compare(url, log["wyoming_port"], words_of(whole), words_of(streams), paths))
        server.send_signal(signal.SIGTERM)
        server.stderr.read()
        assert server.wait(60) == 0
    finally:
        server.kill()


if __name__ == "__main__":
    main()
