# SPDX-License-Identifier: Apache-2.0
"""Tests senone.serve with real clients of its protocols: words, limits, hostile clients, stop and reload."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import io
import json
import logging
import os
import signal
import socket
import struct
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import senone
from common import BUNDLE, SENTENCE, TONES, engine, samples
from serve_common import WAIT_S, Server, as_wav, closing, recording, until, vosk, words_of_library, wyoming

import aiohttp


class Case(unittest.IsolatedAsyncioTestCase):
    """Tests that share a server."""

    options: ClassVar[tuple[str, ...]] = ()
    server: ClassVar[Server]

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Server(*cls.options)

    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)  # which is slow, and prints how slow the machine is

    @classmethod
    def tearDownClass(cls) -> None:
        status = cls.server.stop()
        failures = [line for line in cls.server.log if "traceback" in line or "text" in line]
        assert (status, failures) == (0, []), (status, failures)


class Words(Case):
    async def test_each_message_has_one_reply(self) -> None:
        async with vosk(self.server) as client:
            await client.configure(sample_rate=16000)
            audio = np.concatenate([samples(), np.zeros(48000, np.int16), samples("low")])
            await client.hear(audio)
            n_messages = -(-2 * len(audio) // 8000)
            self.assertEqual(len(client.partials) + len(client.results), n_messages)
            self.assertEqual(await client.end(), f"{SENTENCE} low")
            self.assertEqual(await closing(client.ws), 1000)
            first = client.results[0]
            self.assertEqual([word["word"] for word in first["result"]], SENTENCE.split())
            for word in first["result"]:
                self.assertLess(word["start"], word["end"])
                self.assertTrue(0 <= word["conf"] <= 1)
            for partial in client.partials:
                self.assertTrue(SENTENCE.startswith(partial) or "low".startswith(partial), partial)

    async def test_32_clients_beside_hostile_ones(self) -> None:
        before = (self.server.threads(), self.server.open_files())

        async def speak(number: int) -> str:
            async with vosk(self.server) as client:
                await client.configure(sample_rate=16000, words=number % 2 == 0)
                await client.hear(recording(number), 3201 + 97 * number)
                return await client.end()

        stop = asyncio.Event()
        hostile = [asyncio.ensure_future(self._harass(kind, stop)) for kind in range(5)]
        heard = await asyncio.gather(*(speak(number) for number in range(32)))
        stop.set()
        await asyncio.gather(*hostile)
        expected = [words_of_library(recording(number)) for number in range(32)]
        self.assertEqual(heard, expected)
        self.assertGreater(len(set(expected)), 8)
        await until(lambda: self.server.open_files() <= before[1])
        self.assertLessEqual(self.server.threads(), before[0] + 9)  # four of the pool, the closer, two callbacks of each engine

    async def _harass(self, kind: int, stop: asyncio.Event) -> None:
        """Connects again and again, and misbehaves."""
        while not stop.is_set():
            async with vosk(self.server) as client:
                if kind == 0:
                    await client.ws.send_str("{" * 1000)
                    self.assertEqual(await closing(client.ws), 1008)
                elif kind == 1:
                    with contextlib.suppress(OSError):
                        await client.ws.send_bytes(bytes(2 << 20))
                    # The rest that the server does not read may reset the connection before the reason has arrived.
                    self.assertIn(await closing(client.ws), (1006, 1009))
                elif kind == 2:  # vanishes in the middle of a word
                    await client.ws.send_bytes(samples().tobytes()[:9001])
                    client.ws._response.connection.transport.abort()
                elif kind == 3:
                    await client.configure(sample_rate="nothing")
                    self.assertEqual(await closing(client.ws), 1008)
                else:
                    reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
                    writer.write(b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\xff\xfe\r\n\r\n" + os.urandom(5000))
                    await reader.read(100)
                    writer.close()

    async def test_settings(self) -> None:
        async with vosk(self.server) as client:
            await client.configure(sample_rate="16000", words=False)
            await client.hear(samples())
            self.assertEqual(await client.end(), SENTENCE)
            self.assertNotIn("result", client.results[-1])
        async with vosk(self.server) as client:
            await client.configure(sample_rate=16000, max_alternatives=3)
            await client.hear(samples())
            await client.end()
            best = client.results[-1]["alternatives"][0]
            self.assertEqual(best["text"], SENTENCE)
            self.assertTrue(0 < best["confidence"] <= 1)
            self.assertEqual([word["word"] for word in best["result"]], SENTENCE.split())
        async with vosk(self.server) as client:
            await client.configure(sample_rate=8000)
            await client.hear(samples()[::2])
            self.assertEqual(await client.end(), words_of_library(samples()[::2], 8000))

    async def test_partial_words(self) -> None:
        async with vosk(self.server) as client:
            await client.configure(sample_rate=16000, partial_words=True)
            data = samples().tobytes()
            found = []
            for begin in range(0, len(data), 3200):
                await client.ws.send_bytes(data[begin : begin + 3200])
                await asyncio.sleep(0.05)
                found.append((await client.reply()).get("partial_result", []))
            self.assertTrue(any(found))
            self.assertEqual(await client.end(), SENTENCE)

    async def test_reset_begins_again(self) -> None:
        async with vosk(self.server) as client:
            await client.configure(sample_rate=16000)
            for _ in range(3):
                await client.hear(samples())
                await client.ws.send_str('{"reset" : 1}')
                await client.reply()
            self.assertEqual(client.texts, [SENTENCE] * 3)
            self.assertEqual(client.results[0], client.results[2])
            self.assertEqual(await client.end(), " ".join([SENTENCE] * 3))
            self.assertEqual(client.results[-1], {"text": ""})

    async def test_nothing_said(self) -> None:
        async with vosk(self.server) as client:
            self.assertEqual(await client.end(), "")
        async with vosk(self.server) as client:
            await client.configure(sample_rate=16000, max_alternatives=2)
            await client.hear(np.zeros(32000, np.int16))
            await client.end()
            self.assertEqual(client.results, [{"alternatives": [{"confidence": 0.0, "text": ""}]}])

    async def test_grammars_of_clients(self) -> None:
        for phrases, said, heard in (
            (["low", "high", "mid", "[unk]"], "low_mid_high", SENTENCE),
            (["low mid", "high", 'z<&"rk'], "low_mid_high", SENTENCE),
            (["high", "low"], "high_low", "high low"),
        ):
            async with vosk(self.server) as client:
                await client.configure(sample_rate=16000, model="model", phrase_list=phrases)
                await client.hear(samples(said))
                self.assertEqual(await client.end(), heard)
        for config in (
            {"model": "model", "phrase_list": ["[unk]"]},
            {"model": "model", "phrase_list": ["zork"]},
            {"model": "model", "phrase_list": ["low"] * 2001},
            {"model": "tones", "phrase_list": ["low"]},  # without --lexicon
            {"model": "model"},  # has no graph of its own
        ):
            async with vosk(self.server) as client:
                await client.configure(sample_rate=16000, **config)
                await client.ws.send_bytes(bytes(100))
                self.assertEqual(await closing(client.ws), 1008, config)

    async def test_mistakes_are_told(self) -> None:
        for message, told in (
            ("[1]", "must be a JSON object"),
            ('{"config": []}', "config must be"),
            ('{"config": {"sample_rate": 3}}', "sample_rate is '3'; it must be a whole number of 1000..768000"),
            ('{"config": {"max_alternatives": "x"}}', "max_alternatives is 'x'"),
            ('{"config": {"phrase_list": [1]}}', "phrase_list must be a list of texts"),
            ('{"config": {"model": "zork"}}', "there is no model 'zork'; there are tones, model"),
            ('{"hello": 1}', "a text message is one of"),
            ("[" * 100000, "must be a JSON object"),
        ):
            async with vosk(self.server) as client:
                await client.ws.send_str(message)
                self.assertIn(told, (await client.reply())["error"])
                self.assertEqual(await closing(client.ws), 1008)


class Files(Case):
    async def _post(self, data: Any, status: int = 200, accept: str = "*/*", **query: Any) -> Any:
        async with aiohttp.ClientSession() as session:
            headers = {"Accept": accept}
            async with session.post(f"{self.server.url}/recognize", params=query, data=data, headers=headers) as answer:
                self.assertEqual(answer.status, status, await answer.text())
                return await (answer.json() if answer.content_type == "application/json" else answer.text())

    async def test_forms(self) -> None:
        expected = engine().recognize(samples(), lattice_beam=8)
        found = await self._post(as_wav(samples()))
        self.assertEqual((found["text"], found["audio_s"]), (SENTENCE, round(len(samples()) / 16000, 3)))
        words = [(word["word"], word["start_s"], word["end_s"]) for word in found["utterances"][0]["words"]]
        self.assertEqual(words, [(word.text, round(word.start_s, 3), round(word.end_s, 3)) for word in expected.words])
        self.assertEqual(await self._post(as_wav(samples()), accept="text/plain"), f"{SENTENCE}\n")
        srt = await self._post(as_wav(samples()), accept="text/html, application/x-subrip;q=0.9")
        self.assertRegex(srt, rf"^1\n00:00:00,\d\d\d --> 00:00:0\d,\d\d\d\n{SENTENCE}\n\n$")
        vtt = await self._post(as_wav(samples()), format="vtt")
        self.assertRegex(vtt, rf"^WEBVTT\n\n00:00:00\.\d\d\d --> 00:00:0\d\.\d\d\d\n{SENTENCE}\n\n$")

    async def test_samples_and_forms_of_pages(self) -> None:
        self.assertEqual((await self._post(samples().tobytes(), rate=16000))["text"], SENTENCE)
        stereo = np.stack([samples(), samples()], 1).tobytes()
        self.assertEqual((await self._post(stereo, rate=16000, channels=2, channel=1))["text"], SENTENCE)
        form = aiohttp.FormData()
        form.add_field("model", "model")
        form.add_field("file", as_wav(samples()), filename="a.wav")
        for phrase in ("low", "mid high"):
            form.add_field("phrase", phrase)
        self.assertEqual((await self._post(form))["text"], SENTENCE)
        many = np.concatenate([samples(), np.zeros(48000, np.int16), samples("low")])
        found = await self._post(as_wav(many), endpoint="dictation")
        self.assertEqual([each["text"] for each in found["utterances"]], [SENTENCE, "low"])

    async def test_mistakes_are_told(self) -> None:
        for data, status, query in (
            (b"", 400, {}),
            (b"hello, world" * 1000, 400, {}),
            (b"fLaC" + bytes(1000), 415, {}),
            (as_wav(samples()), 404, {"model": "zork"}),
            (as_wav(samples()), 400, {"format": "zork"}),
            (as_wav(samples()), 400, {"endpoint": "zork"}),
            (as_wav(samples()), 400, {"nbest": "101"}),
            (as_wav(samples()), 400, {"channel": "7"}),
            (bytes(100), 400, {"rate": "7"}),
            (bytes(100), 400, {"rate": "8000", "encoding": "zork"}),
            (as_wav(samples())[:44], 400, {}),
        ):
            self.assertIn("error", await self._post(data, status, **query), query)

    async def test_broken_bodies(self) -> None:
        form = "multipart/form-data; boundary=x"
        named = b"--x\r\nContent-Disposition: form-data; name"
        good = named + b"=file\r\n\r\n" + as_wav(samples()) + b"\r\n--x--\r\n"
        for head, body, status in (
            ("Content-Encoding: gzip", b"zork", 415),
            ("Content-Encoding: gzip", gzip.compress(bytes(1 << 20)), 415),
            ("Content-Type: multipart/form-data", b"zork", 400),
            (f"Content-Type: {form}", b"--x\r\nA: " + b"b" * 100000 + b"\r\n\r\n", 400),
            (f"Content-Type: {form}", b"--x\r\n" + b"A: b\r\n" * 40000 + b"\r\n", 400),
            (f"Content-Type: {form}", named + b"*=xx''%ff\r\n\r\nzork\r\n" + good, 400),
            (f"Content-Type: {form}", b"--x\r\nContent-Disposition: @\r\n\r\nzork\r\n" + good, 400),
            (f"Content-Type: {form}", named + b"=file\r\n\r\nzork", 400),
        ):
            with self.subTest(head=head, body=body[:40]):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
                writer.write(f"POST /recognize HTTP/1.1\r\nHost: localhost\r\n{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode())
                writer.write(body)
                self.assertIn(f" {status} ".encode(), await asyncio.wait_for(reader.readline(), WAIT_S))
                writer.close()
        n_ended = len(self.server.logged("connection ended"))
        _, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        writer.write(b"POST /recognize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nRIFF")
        await asyncio.sleep(0.1)
        writer.transport.abort()
        await until(lambda: len(self.server.logged("connection ended")) > n_ended)

    async def test_fields_of_a_form_have_one_limit(self) -> None:
        for name in ("phrase", "zork"):
            form = aiohttp.FormData()
            for _ in range(5):
                form.add_field(name, "x" * (1 << 18))
            form.add_field("file", as_wav(samples()), filename="a.wav")
            self.assertIn("the fields of the form", (await self._post(form, 413))["error"])

    async def test_32_at_once(self) -> None:
        expected = [engine().recognize(recording(number)).text for number in range(32)]
        found = await asyncio.gather(*(self._post(as_wav(recording(number))) for number in range(32)))
        self.assertEqual([each["text"] for each in found], expected)

    async def test_health_and_metrics(self) -> None:
        await self._post(as_wav(samples()))
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{self.server.url}/health") as answer:
                self.assertEqual((await answer.json())["status"], "ok")
            async with session.get(f"{self.server.url}/metrics") as answer:
                text = await answer.text()
        for name in ('senone_results_total{kind="heard",protocol="http"}', "senone_engine_busy_seconds_total", "process_open_fds"):
            self.assertIn(name, text)


class Wyoming(Case):
    async def test_conversation(self) -> None:
        async with wyoming(self.server) as client:
            await client.send("describe")
            programs = (await client.receive("info"))["data"]["asr"]
            self.assertEqual([program["name"] for program in programs], ["tones", "model"])
            self.assertEqual(programs[0]["models"][0]["languages"], ["en"])
            for text in ("x", "\ud800"):
                await client.send("ping", {"text": text})
                self.assertEqual((await client.receive("pong"))["data"], {"text": text})
            for name in ("low_mid_high", "high_low"):
                await client.send("transcribe", {"language": "en-GB", "name": "tones"})
                await client.hear(samples(name))
                self.assertEqual((await client.receive("transcript"))["data"]["text"], name.replace("_", " "))
            await client.send("transcribe")
            await client.hear(np.zeros(16000, np.int16))
            self.assertEqual((await client.receive("transcript"))["data"]["text"], "")

    async def test_words_come_before_the_transcript(self) -> None:
        async with wyoming(self.server) as client:
            await client.send("transcribe")
            await client.hear(samples())
            events = []
            while not events or events[-1]["type"] != "transcript-stop":
                events.append(await client.receive())
            self.assertEqual(events[0]["type"], "transcript-start")
            chunks = [event["data"]["text"] for event in events if event["type"] == "transcript-chunk"]
            self.assertEqual("".join(chunks), SENTENCE)
            self.assertEqual(events[-2]["data"]["text"], SENTENCE)

    async def test_an_endless_microphone(self) -> None:
        async with wyoming(self.server) as client:
            form = {"rate": 16000, "width": 2, "channels": 1}
            for sensitivity in ("default", "aggressive", "relaxed"):
                await client.send("transcribe", {"vad_sensitivity": sensitivity, "transcript_names": ["mid high", "zork", ""]})
                await client.send("audio-start", form)
                ended = asyncio.ensure_future(client.receive("transcript"))
                await client.send("audio-chunk", form, samples().tobytes())
                while not ended.done():
                    await client.send("audio-chunk", form, bytes(3200))
                    await asyncio.sleep(0)
                self.assertEqual((await ended)["data"]["text"], SENTENCE)

    async def test_mistakes_are_told(self) -> None:
        for line in (
            b"hello\n",
            b"[]\n",
            b'{"type": "audio-chunk", "payload_length": 99999999999}\n',
            b'{"type": "audio-chunk", "data_length": -1}\n',
            b'{"type": "audio-start", "data": {"width": 4}}\n',
            b'{"type": "select-program", "data": {"name": "zork"}}\n',
            b'{"type": "transcribe", "data": {"vad_sensitivity": "zork"}}\n{"type": "audio-start"}\n',
            b'{"type": "transcribe", "data": {"name": ["x"]}}\n{"type": "audio-start"}\n',
            b'{"type": "transcribe", "data": {"language": 5}}\n{"type": "audio-start"}\n',
            b'{"type": "ping", "data": {"text": NaN}}\n',
            b"x" * 100000,
        ):
            async with wyoming(self.server) as client:
                client.writer.write(line)
                self.assertTrue((await client.receive("error"))["data"]["text"], line[:50])
                with self.assertRaises((EOFError, ConnectionError)):
                    await client.receive()

    async def test_an_error_reaches_who_is_still_sending(self) -> None:
        """More than the buffers between both hold, sent after the mistake; unread, it would reset the connection."""
        async with wyoming(self.server) as client:
            client.writer.write(b'{"type": "select-program", "data": {"name": "zork"}}\n' + bytes(8 << 20))
            await client.writer.drain()
            self.assertIn("there is no model", (await client.receive("error"))["data"]["text"])

    async def test_client_of_the_package(self) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # audioop, before Python 3.13
                from wyoming.asr import Transcribe, Transcript
                from wyoming.audio import AudioChunk, AudioStart, AudioStop
                from wyoming.client import AsyncTcpClient
                from wyoming.info import Describe, Info
        except ImportError:
            self.skipTest("the package wyoming is missing: pip install wyoming, and name that Python by SENONE_PYTHON")

        async def speak(number: int) -> str:
            name = ("low_mid_high", "high_low", "low")[number % 3]
            async with AsyncTcpClient("127.0.0.1", self.server.wyoming_port) as client:
                await client.write_event(Describe().event())
                event = await client.read_event()
                assert event is not None
                self.assertEqual(Info.from_event(event).asr[0].models[0].name, "tones")
                await client.write_event(Transcribe(language="en", transcript_terms=["mid high"]).event())
                await client.write_event(AudioStart(16000, 2, 1).event())
                data = samples(name).tobytes()
                for begin in range(0, len(data), 2048):
                    await client.write_event(AudioChunk(16000, 2, 1, data[begin : begin + 2048]).event())
                await client.write_event(AudioStop().event())
                while (event := await client.read_event()) is not None:
                    if Transcript.is_type(event.type):
                        return Transcript.from_event(event).text
            raise AssertionError("no transcript came")

        heard = await asyncio.gather(*(speak(number) for number in range(32)))
        self.assertEqual(heard, [("low mid high", "high low", "low")[number % 3] for number in range(32)])


class Telephony(Case):
    async def test_jambonz(self) -> None:
        async with aiohttp.ClientSession() as session, session.ws_connect(f"{self.server.url}/jambonz") as ws:
            start = {"type": "start", "language": "en-US", "format": "raw", "encoding": "LINEAR16", "interimResults": True}
            await ws.send_json({**start, "sampleRateHz": 16000, "options": {"hints": ["zork", "mid high", "zork low"]}})
            for part in (samples(), np.zeros(32000, np.int16), samples("low")):
                await ws.send_bytes(part.tobytes())
            await ws.send_json({"type": "stop"})
            found = [json.loads(message.data) async for message in ws]
            self.assertEqual(ws.close_code, 1000)
        self.assertEqual({each["type"] for each in found}, {"transcription"})
        finals = [each["alternatives"][0] for each in found if each["is_final"]]
        self.assertEqual([each["transcript"] for each in finals], [SENTENCE, "low"])
        self.assertTrue(all(0 < each["confidence"] <= 1 for each in finals))
        self.assertTrue(any(not each["is_final"] for each in found))
        wrong = [{"type": "start", "options": {"model": model}} for model in (["x"], 5)]
        wrong.append({"type": "start", "options": {"hints": ["low " * 300]}})
        for message in ({"type": "zork"}, {"type": "start", "encoding": "MP3"}, {"type": "start", "sampleRateHz": 1}, *wrong):
            async with aiohttp.ClientSession() as session, session.ws_connect(f"{self.server.url}/jambonz") as ws:
                await ws.send_json(message)
                self.assertEqual((await ws.receive_json())["type"], "error")
                self.assertEqual(await closing(ws), 1008)

    async def test_asterisk(self) -> None:
        async with aiohttp.ClientSession() as session:
            url = f"{self.server.url}/aeap"
            async with session.ws_connect(url, protocols=("speech_to_text",)) as ws:
                self.assertEqual(ws.protocol, "speech_to_text")
                codecs = [{"name": "opus"}, {"name": "slin16"}]
                await ws.send_json({"request": "setup", "id": "1", "version": "0.1.0", "codecs": codecs})
                self.assertEqual(await ws.receive_json(), {"response": "setup", "id": "1", "codecs": [{"name": "slin16"}]})
                await ws.send_bytes(samples().tobytes() + bytes(64000))
                result = await ws.receive_json(timeout=WAIT_S)
                self.assertEqual(result["request"], "set")
                self.assertEqual(result["params"]["results"][0]["text"], SENTENCE)
                self.assertTrue(0 < result["params"]["results"][0]["score"] <= 100)
                await ws.send_json({"response": "set", "id": result["id"]})
                await ws.send_json({"request": "get", "id": "2", "params": ["results", "codec"]})
                got = await ws.receive_json()
                self.assertEqual(got["params"]["results"][0]["text"], SENTENCE)
                await ws.send_json({"request": "setup", "id": "3", "codecs": [{"name": "opus"}]})
                self.assertIn("error_msg", await ws.receive_json())
                await ws.send_json({"request": "setup", "id": "\ud800", "codecs": codecs, "params": {"model": ["x"]}})
                refused = await ws.receive_json()
                self.assertEqual((refused["id"], refused["error_msg"]), ("\ud800", "a model and a language are named by texts"))
                params = {"model": "tones", "grammar": "zork"}
                await ws.send_json({"request": "setup", "id": "4", "codecs": codecs, "params": params})
                self.assertIn("is served without --lexicon", (await ws.receive_json(timeout=WAIT_S))["error_msg"])
                await ws.send_bytes(bytes(320))
                self.assertIn("audio came before setup", (await ws.receive_json(timeout=WAIT_S))["error_msg"])
                self.assertEqual(await closing(ws), 1008)
            async with session.ws_connect(url, protocols=("speech_to_text",)) as ws:
                await ws.send_str('{"request": "get", "id": NaN, "params": []}')
                self.assertEqual((await ws.receive_json())["response"], "error")
                self.assertEqual(await closing(ws), 1008)


class Bounds(Case):
    options = ("--connections", "4", "--idle-s", "86400", "--lag-s", "0.5", "--message-kb", "64", "--file-mb", "1")

    async def test_no_more_connections(self) -> None:
        held = [vosk(self.server) for _ in range(4)]
        for each in held:
            await each.__aenter__()
        try:
            async with aiohttp.ClientSession() as session:
                async with session.post(f"{self.server.url}/recognize", data=as_wav(samples())) as answer:
                    self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "1"))
                with self.assertRaises(aiohttp.WSServerHandshakeError) as refused:
                    await session.ws_connect(f"{self.server.url}/")
                self.assertEqual(refused.exception.status, 503)
            async with wyoming(self.server) as client:
                await client.send("describe")
                self.assertEqual((await client.receive("error"))["data"]["code"], "full")
        finally:
            for each in held:
                await each.__aexit__(None, None, None)
        await self._quiet()

    async def test_silent_sockets_make_room(self) -> None:
        """Of 2 * 4 + 64 sockets the oldest that say nothing go; who asks is answered, for the silent are no connections."""
        for port, question, answer in (
            (self.server.port, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 200 "),
            (self.server.wyoming_port, b'{"type": "ping"}\n', b'"pong"'),
        ):
            silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(80)]
            try:
                await self._quiet()
                for reader, _ in silent[:8]:
                    with contextlib.suppress(ConnectionResetError):
                        self.assertEqual(await asyncio.wait_for(reader.read(), WAIT_S), b"")
                reader, writer = silent[-1]
                writer.write(question)
                self.assertIn(answer, await asyncio.wait_for(reader.readline(), WAIT_S))
            finally:
                for _, writer in silent:
                    writer.close()

    async def test_who_does_not_read_is_dropped(self) -> None:
        """Long replies fill the buffers of both sides, so that the server must wait."""
        language = "x" * 60000
        setup = {"request": "setup", "id": 1, "codecs": [{"name": "ulaw"}], "params": {"language": language}}
        asked = self._frame({"request": "get", "id": 2, "params": ["language"]}) * 200
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", self.server.port))
            client.setblocking(False)
            head = "GET /aeap HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            head += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(client, head.encode() + self._frame(setup) + asked)
            await until(lambda: "lag" in [line["reason"] for line in self.server.logged("connection ended")])
        await self._quiet()

    def _frame(self, message: Any) -> bytes:
        """Returns a text message of a WebSocket, masked with zeros."""
        data = json.dumps(message).encode()
        return b"\x81" + struct.pack("!BHI", 0x80 | 126, len(data), 0) + data

    async def test_sizes(self) -> None:
        async with vosk(self.server) as client:
            await client.ws.send_bytes(bytes((64 << 10) + 1))
            self.assertIn(await closing(client.ws), (1006, 1009))
        await until(lambda: "too_big" in [line["reason"] for line in self.server.logged("connection ended")])
        async with aiohttp.ClientSession() as session:
            for data in (io.BytesIO(bytes(3 << 20)), self._endless()):
                async with session.post(f"{self.server.url}/recognize?rate=8000", data=data) as answer:
                    self.assertEqual(answer.status, 413)
        await self._quiet()

    async def _endless(self) -> Any:
        for _ in range(100):
            yield bytes(1 << 16)

    async def _quiet(self) -> None:
        async with aiohttp.ClientSession() as session:
            while True:
                async with session.get(f"{self.server.url}/health") as answer:
                    if (await answer.json())["connections"] == 0:
                        return
                await asyncio.sleep(0.02)


class Idle(Case):
    options = ("--idle-s", "0.5")

    async def test_the_idle_are_sent_away(self) -> None:
        async with vosk(self.server) as client:
            self.assertEqual(await closing(client.ws), 1008)
        async with wyoming(self.server) as client:
            with self.assertRaises(EOFError):
                await client.receive()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        writer.write(b"POST /recognize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nRIFF")
        self.assertIn(b" 408 ", await asyncio.wait_for(reader.readline(), WAIT_S))
        writer.close()
        self.assertEqual({line["reason"] for line in self.server.logged("connection ended")}, {"idle"})


    async def test_sockets_without_a_request_are_closed(self) -> None:
        """Also one that has begun a request; not one that has made a request and may make another."""
        silent, slow, polite = [await asyncio.open_connection("127.0.0.1", self.server.port) for _ in range(3)]
        slow[1].write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        health = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        polite[1].write(health)
        self.assertIn(b" 200 ", await asyncio.wait_for(polite[0].readline(), WAIT_S))
        for reader, _ in (silent, slow):
            with contextlib.suppress(ConnectionResetError):
                self.assertEqual(await asyncio.wait_for(reader.read(), WAIT_S), b"")
        polite[1].write(health)
        while (line := await asyncio.wait_for(polite[0].readline(), WAIT_S)) and b" 200 " not in line:
            pass
        self.assertTrue(line)
        for _, writer in (silent, slow, polite):
            writer.close()


class Admission(Case):
    options = ("--origin", "https://example.org", "--token-file")

    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("0123456789abcdef\n")
            file.flush()
            cls.server = Server(*cls.options, file.name)

    async def _status(self, path: str = "/metrics", **headers: str) -> int:
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{self.server.url}{path}", headers=headers) as answer:
                return answer.status

    async def test_token(self) -> None:
        self.assertEqual(await self._status("/health"), 200)
        self.assertEqual(await self._status(), 401)
        self.assertEqual(await self._status(Authorization="Bearer 0123456789abcdeX"), 401)
        self.assertEqual(await self._status(Authorization="Bearer 0123456789abcdef"), 200)
        self.assertEqual(await self._status("/metrics?token=0123456789abcdef"), 200)
        async with aiohttp.ClientSession() as session:
            for path in ("/", "/jambonz", "/aeap"):
                with self.assertRaises(aiohttp.WSServerHandshakeError) as refused:
                    await session.ws_connect(self.server.url + path)
                self.assertEqual(refused.exception.status, 401)
                async with session.ws_connect(f"{self.server.url}{path}?token=0123456789abcdef"):
                    pass

    async def test_pages_of_other_sites(self) -> None:
        path = "/metrics?token=0123456789abcdef"
        port = self.server.port
        for origin, host, status in (
            ("https://example.org", f"127.0.0.1:{port}", 200),
            (f"http://127.0.0.1:{port}", f"127.0.0.1:{port}", 200),
            (f"http://localhost:{port}", f"localhost:{port}", 200),
            ("https://example.com", f"127.0.0.1:{port}", 403),
            (f"http://example.com:{port}", f"example.com:{port}", 403),  # a name that was made to lead here
            ("null", f"127.0.0.1:{port}", 403),
        ):
            self.assertEqual(await self._status(path, Origin=origin, Host=host), status, origin)

    async def test_names_that_were_made_to_lead_here(self) -> None:
        """A browser sends no Origin with what a page asks of its own host."""
        for host, status in (("localhost", 200), ("[::1]:2700", 200), ("example.org", 200), ("example.com", 403), ("[", 403)):
            for path in ("/metrics", "/status"):
                self.assertEqual(await self._status(f"{path}?token=0123456789abcdef", Host=host), status, host)

    def test_addresses_that_others_reach(self) -> None:
        from senone.serve._options import is_loopback, parse

        self.assertTrue(all(is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
        self.assertFalse(any(is_loopback(host) for host in ("0.0.0.0", "::", "192.168.0.1", "example.org", "")))
        with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nothing:
            token = Path(folder, "token")
            token.write_text("short\n")
            wrong = ["--host 0.0.0.0", f"--token-file {token}", "--cert x", "--port 70000", "--devices ,", "--lexicon zork=x"]
            for options in wrong:
                with self.assertRaises(SystemExit) as ended, unittest.mock.patch("sys.stderr", nothing):
                    parse(["bundle", *options.split()])
                self.assertEqual(ended.exception.code, 2, options)
        self.assertEqual(parse(["bundle", "--host", "0.0.0.0", "--insecure"]).host, "0.0.0.0")
        named = parse(["a=x/y", "z/b", "--language", "de", "--language", "b=fr"]).bundles
        self.assertEqual([(each.name, each.path, each.language) for each in named], [("a", "x/y", "de"), ("b", "z/b", "fr")])


class Life(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)

    async def test_running_streams_finish(self) -> None:
        server = Server("--grace-s", str(WAIT_S))
        async with vosk(server) as client:
            await client.configure(sample_rate=16000)
            await client.hear(samples()[:8000])
            server.process.send_signal(signal.SIGTERM)
            await until(lambda: server.logged("stopping"))
            async with aiohttp.ClientSession() as session:
                async with session.get(f"{server.url}/health") as answer:
                    self.assertEqual((answer.status, (await answer.json())["status"]), (503, "stopping"))
                with self.assertRaises(aiohttp.WSServerHandshakeError) as refused:
                    await session.ws_connect(f"{server.url}/")
                self.assertEqual(refused.exception.status, 503)
            await client.hear(samples()[8000:])
            self.assertEqual(await client.end(), SENTENCE)
        self.assertEqual(server.stop(), 0)

    async def test_the_rest_have_their_words_when_the_grace_is_over(self) -> None:
        server = Server("--grace-s", "0.2")
        async with vosk(server) as client, wyoming(server) as other, aiohttp.ClientSession() as session:
            await client.configure(sample_rate=16000)
            await client.hear(samples())
            await other.send("transcribe")
            form = {"rate": 16000, "width": 2, "channels": 1}
            await other.send("audio-start", form)
            await other.send("audio-chunk", form, samples().tobytes())
            async with session.ws_connect(f"{server.url}/jambonz") as call:
                await call.send_json({"type": "start", "sampleRateHz": 16000})
                await call.send_bytes(samples().tobytes())
                await asyncio.sleep(0.1)
                server.process.send_signal(signal.SIGTERM)
                await client.reply()
                self.assertEqual(" ".join(client.texts), SENTENCE)
                self.assertEqual(await closing(client.ws), 1001)
                self.assertEqual((await call.receive_json(timeout=WAIT_S))["alternatives"][0]["transcript"], SENTENCE)
            self.assertEqual((await other.receive("transcript"))["data"]["text"], SENTENCE)
        self.assertEqual(server.stop(), 0)

    async def test_bundles_are_loaded_again_under_streams(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            link = Path(folder, "tones")
            link.symlink_to(BUNDLE)
            server = Server(models=(str(link), f"model={TONES}/model"))
            async with vosk(server) as client:
                await client.configure(sample_rate=16000)
                await client.hear(samples("high_low")[:8000])
                link.unlink()
                link.symlink_to(TONES / "ends")
                async with vosk(server) as other:
                    await other.configure(sample_rate=16000, model="tones")
                    async with aiohttp.ClientSession() as session, session.get(f"{server.url}/health") as answer:
                        await answer.read()  # so that the server has the configuration, too
                    server.process.send_signal(signal.SIGHUP)
                    await until(lambda: len(server.logged("model loaded")) == 4)
                    await until(lambda: server.threads() > 0)
                    await other.hear(samples("low"))
                    self.assertEqual(await other.end(), "low")
                await client.hear(samples("high_low")[8000:])
                self.assertEqual(await client.end(), "high low")
            async with vosk(server) as client:
                await client.configure(sample_rate=16000)
                await client.hear(samples("low"))
                self.assertEqual(await client.end(), "low")
            link.unlink()
            server.process.send_signal(signal.SIGHUP)
            await until(lambda: any("traceback" in line for line in server.log))
            async with vosk(server) as client:
                await client.configure(sample_rate=16000)
                await client.hear(samples("low"))
                self.assertEqual(await client.end(), "low")
            self.assertEqual(server.stop(), 0)

    async def test_a_reload_while_a_grammar_is_compiled(self) -> None:
        """The stream is the new model's, whether the old one is closed before the grammar is added to it or after."""
        from senone.serve import _service
        from senone.serve._models import Model
        from senone.serve._options import Bundle, Options

        bundle = Bundle("model", str(TONES / "model"), str(TONES / "tones.dict"))
        for is_closed_before in (False, True):
            service = _service.Service(Options([bundle], ["cpu"], threads=1))
            await service.start()
            old, new = service.models["model"], Model(bundle, service.options)
            lease = old.lease

            def compile_meanwhile(*arguments: Any) -> Any:
                if is_closed_before:
                    old.close()
                found = None if is_closed_before else lease(*arguments)
                service.models = {"model": new}
                return found or lease(*arguments)

            with unittest.mock.patch.object(old, "lease", compile_meanwhile):
                async with service.connection("http", "") as connection:
                    await connection.open(old, phrases=["low", "high"])
                    self.assertEqual((old.streams(), new.streams()), ([0], [1]))
            self.assertEqual(new.streams(), [0])
            old.close()
            await service.close()

    async def test_signals_while_the_bundles_are_loaded(self) -> None:
        from senone.serve import _service
        from senone.serve.__main__ import serve
        from senone.serve._models import Model
        from senone.serve._options import Bundle, Options

        options = Options([Bundle("tones", str(BUNDLE))], ["cpu"], threads=1, port=0)
        loads: list[int] = []

        def load(bundle: Bundle, options: Options) -> Model:
            while loads and not ready.done():
                time.sleep(0.01)
            loads.append(signals[len(loads)])
            os.kill(os.getpid(), loads[-1])
            for _ in range(2):  # the loop has seen the signal after that, or has ended by it
                seen = threading.Event()
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(seen.set)
                    seen.wait(1)
            return Model(bundle, options)

        loop = asyncio.get_running_loop()
        for signals, listens in (((signal.SIGHUP, signal.SIGTERM), True), ((signal.SIGTERM,), False)):
            loads.clear()
            ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            with unittest.mock.patch.object(_service, "Model", load):
                await asyncio.wait_for(serve(options, ready), WAIT_S)
            self.assertEqual((tuple(loads), ready.done()), (signals, listens))

    async def test_memory_and_threads_come_back(self) -> None:
        server = Server()
        n_clients = 16

        async def speak(number: int) -> None:
            async with vosk(server) as client:
                await client.configure(sample_rate=16000, max_alternatives=number % 3)
                await client.hear(samples(), 16000)
                if number % 4 == 0:
                    client.ws._response.connection.transport.abort()
                else:
                    await client.end()

        async def rounds(n: int) -> None:
            for _ in range(n):
                n_ended = len(server.logged("connection ended"))
                await asyncio.gather(*(speak(number) for number in range(n_clients)))
                await until(lambda: len(server.logged("connection ended")) == n_ended + n_clients)

        await rounds(5)
        memory_mb, threads, files = server.resident_mb(), server.threads(), server.open_files()
        await rounds(10)
        await until(lambda: server.open_files() <= files)
        # Threads that read files begin one by one, up to asyncio's limit; a thread left by each client would be 160.
        self.assertLessEqual(server.threads(), threads + 32)
        self.assertLess(server.resident_mb(), memory_mb + 8)
        self.assertEqual(server.stop(), 0)


class Parts(unittest.TestCase):
    def test_a_bundle_may_have_its_dictionary(self) -> None:
        from senone.serve._options import parse

        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(parse([folder]).bundles[0].lexicon)
            own = Path(folder, "lexicon.dict")
            own.touch()
            self.assertEqual(parse([folder]).bundles[0].lexicon, str(own))
            self.assertEqual(parse([folder, "--lexicon", "other.dict"]).bundles[0].lexicon, "other.dict")

    def test_accepts_without_files_do_not_fill_the_log(self) -> None:
        from senone.serve._log import _Seldom

        def passes(error: Exception) -> bool:
            return seldom.filter(logging.LogRecord("asyncio", logging.ERROR, "", 0, "", None, (type(error), error, None)))

        seldom = _Seldom()
        self.assertEqual([passes(OSError(errno.EMFILE, "")) for _ in range(3)], [True, False, False])
        self.assertTrue(passes(OSError(errno.EPIPE, "")) and passes(ValueError()))

    def test_a_close_does_not_wait_for_who_does_not_read(self) -> None:
        from senone.serve._socket import close

        ws, transport = unittest.mock.Mock(), unittest.mock.Mock()

        async def drain(**_: Any) -> None:
            await asyncio.Event().wait()

        ws.close = drain
        asyncio.run(close(ws, transport, 1000, "done", 0.01))
        transport.abort.assert_called_once_with()

    def test_grammars_of_clients_cannot_leave_their_phrases(self) -> None:
        from senone.serve._models import _srgs

        text = _srgs(['</item><ruleref uri="x"/>', "a\x00b\ud800", 'say "new york"'])
        self.assertIn("<item>&lt;/item&gt;&lt;ruleref uri= x /&gt;</item><item>a b</item><item>say new york</item>", text)

    def test_rejected_words_are_not_shown(self) -> None:
        from senone.serve._results import confidence, file_json, is_heard, subtitles, text_of

        final = engine().recognize(samples())
        self.assertTrue(is_heard(final))
        final.flags |= senone.Flag.REJECTED
        final.out_of_grammar = 0.9
        self.assertFalse(is_heard(final))
        self.assertEqual((text_of([final]), subtitles([final], False)), ("", ""))
        utterance = file_json([final], 1.0, [])["utterances"][0]
        self.assertEqual((utterance["text"], utterance["words"], utterance["rejected"]), ("", [], True))
        self.assertEqual(confidence([]), 0.0)

    def test_subtitles_break_at_pauses(self) -> None:
        from senone.serve._results import subtitles

        final = engine().recognize(np.concatenate([samples(), np.zeros(32000, np.int16), samples("low")]))
        self.assertEqual(subtitles([final], False).count("-->"), 2)

    def test_streams_go_to_the_engine_with_the_fewest(self) -> None:
        from senone.serve._models import Model
        from senone.serve._options import Bundle, Options

        bundle = Bundle("model", str(TONES / "model"), str(TONES / "tones.dict"))
        model = Model(bundle, Options([bundle], ["cpu", "cpu", "cpu"], threads=1))
        leases = [model.lease(phrases=["low", "high"]) for _ in range(6)]
        self.assertEqual(model.streams(), [2, 2, 2])
        for lease in leases[1:3]:
            lease.release()
            lease.release()
        self.assertEqual(model.streams(), [2, 1, 1])
        self.assertEqual({lease.graph for lease in leases}, {leases[0].graph})
        for lease in leases:
            lease.release()
        for number in range(70):
            model.lease(phrases=["low " * (number + 1)]).release()
        self.assertLessEqual(len(model._graphs), 65)
        lease = model.lease(phrases=["low", "high"])
        with lease.engine.stream(graph=lease.graph, endpoint="command") as stream:
            stream.feed(samples("high_low"))
        self.assertEqual([event.text for event in stream if event.kind == senone.EventKind.FINAL], ["high low"])
        model.close()


if __name__ == "__main__":
    unittest.main()
