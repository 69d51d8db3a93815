# SPDX-License-Identifier: Apache-2.0
"""Tests senone.serve over engines whose device is lost in use: the back end with faults of tests/api/plugins/overlapping.cc."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import unittest
import unittest.mock
from pathlib import Path
from typing import Any

import senone
from common import BUNDLE, SENTENCE, TONES, samples
from serve_common import Server, as_wav, closing, until, vosk, wyoming

import aiohttp

_FAULTY = Path(os.environ["SENONE_LIBRARY"]).parent.parent / "tests" / "faulty"
_ENVIRONMENT = {"SENONE_PLUGIN_PATH": str(_FAULTY), "SENONE_PLUGINS": "cpu,overlapping"}
_LIST = "import senone\nfor device in senone.devices(): print(device.id, device.name, sep='\\t')"


def device_named(name: str) -> str:
    """Returns the device with a fault, such as "advance 16: lost"."""
    command = [sys.executable, "-c", _LIST]
    lines = subprocess.run(command, env={**os.environ, **_ENVIRONMENT}, capture_output=True, text=True, check=True).stdout
    return next(line.split("\t")[0] for line in lines.splitlines() if line.split("\t")[1] == name)


@unittest.skipUnless(_FAULTY.is_dir(), "the library's build has no tests, and so no back end with faults")
class LostDevices(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)

    def _server(self, *options: str, **others: Any) -> Server:
        server = Server(*options, environment=_ENVIRONMENT, **others)
        self.addCleanup(server.stop)
        return server

    async def _get(self, server: Server, path: str) -> tuple[int, Any]:
        async with aiohttp.ClientSession() as session, session.get(f"{server.url}{path}") as answer:
            return answer.status, await (answer.json() if answer.content_type == "application/json" else answer.text())

    async def _hear(self, server: Server, **config: Any) -> str:
        async with vosk(server) as client:
            await client.configure(sample_rate=16000, **config)
            await client.hear(samples())
            return await client.end()

    async def _lose(self, server: Server) -> None:
        """Speaks until an engine is lost; the stream on it is told, and those on others go on."""
        async with vosk(server) as one, vosk(server) as other:  # one on each engine
            for client in (one, other):
                await client.configure(sample_rate=16000)
                await client.ws.send_bytes(bytes(320))
                await client.reply()
            await one.ws.send_bytes(samples().tobytes() + bytes(64000))
            while "error" not in (reply := await one.reply()):
                await one.ws.send_bytes(bytes(320))
            self.assertIn("the device that recognised was lost", reply["error"])
            self.assertEqual(await closing(one.ws), 1013)
            await other.hear(samples())
            self.assertEqual(await other.end(), SENTENCE)

    async def test_a_lost_engine_gets_no_streams(self) -> None:
        server = self._server("--devices", f"{device_named('advance 1: lost')},cpu")
        self.assertEqual((await self._get(server, "/health"))[1]["status"], "ok")
        await self._lose(server)
        for _ in range(5):
            self.assertEqual(await self._hear(server), SENTENCE)
        self.assertEqual(await asyncio.gather(*(self._hear(server) for _ in range(8))), [SENTENCE] * 8)
        status, health = await self._get(server, "/health")
        self.assertEqual((status, health["status"]), (200, "degraded"))
        _, metrics = await self._get(server, "/metrics")
        lost = re.findall(r'senone_engine_lost\{.*engine="(\d)",model="tones"\} (\d)', metrics)
        self.assertEqual(lost, [("0", "1"), ("1", "0")])
        _, found = await self._get(server, "/status")
        self.assertEqual([engine["lost"] for engine in found["models"][0]["engines"]], [True, False])
        self.assertEqual(len(server.logged("an engine has lost its device")), 1)
        server.process.send_signal(signal.SIGHUP)  # opens the device again
        await until(lambda: len(server.logged("model loaded")) == 4)
        await until(lambda: server.threads() > 0)
        while (await self._get(server, "/health"))[1]["status"] != "ok":
            await asyncio.sleep(0.02)
        self.assertEqual(server.stop(), 0)

    async def test_without_a_device_the_process_ends(self) -> None:
        """So that a service manager begins a new one, which may have the device again."""
        device = device_named("advance 1: lost")
        server = self._server("--devices", device, "--grace-s", "0", models=(f"tones={BUNDLE}",))
        async with aiohttp.ClientSession() as session, wyoming(server) as other:
            form = {"rate": 16000, "width": 2, "channels": 1}
            await other.send("audio-start", form)
            async with session.post(f"{server.url}/recognize", data=as_wav(samples())) as answer:
                self.assertEqual((answer.status, answer.headers["Retry-After"]), (503, "1"))
            await other.send("audio-chunk", form, samples().tobytes() + bytes(64000))
            self.assertEqual((await other.receive("error"))["data"]["code"], "device")
        await until(lambda: server.process.poll() is not None)
        self.assertEqual(server.stop(), 1)
        self.assertIn("no engine has its device any more", server.log[-1]["text"])


class Places(unittest.IsolatedAsyncioTestCase):
    async def test_a_stream_that_cannot_begin_on_an_engine_begins_on_another(self) -> None:
        """Whether the loss shows when its grammar is added there, or when it is opened."""
        from senone.serve._options import Bundle, Options
        from senone.serve._refused import Refused
        from senone.serve._service import Service

        lost = unittest.mock.Mock(side_effect=senone.DeviceLost("made for this test"))
        bundle = Bundle("model", str(TONES / "model"), str(TONES / "tones.dict"))
        for call in ("add_graph", "stream"):
            service = Service(Options([bundle], ["cpu", "cpu"], threads=1))
            await service.start()
            model = service.models["model"]
            with unittest.mock.patch.object(model.engines[0], call, lost):
                async with service.connection("http", "") as one, service.connection("http", "") as other:
                    for connection in (one, other):
                        session = await connection.open(model, phrases=["low", "mid", "high"], input="int16")
                        await session.feed(samples().tobytes())
                        self.assertEqual([final.text for final in await session.finals()], [SENTENCE])
                    self.assertEqual((model.streams(), model.lost()), ([0, 2], [True, False]))
                    with unittest.mock.patch.object(model.engines[1], "stream", lost):
                        with self.assertRaises(Refused) as refused:
                            await one.open(model, phrases=["low", "mid", "high"])
                    self.assertEqual((refused.exception.status, model.lost()), (503, [True, True]))
            self.assertEqual(model.streams(), [0, 0])
            await service.close()


if __name__ == "__main__":
    unittest.main()
