# SPDX-License-Identifier: Apache-2.0
"""Tests the page of senone.serve in headless Chromium: a recording as a file and as the microphone, alternatives, accessibility.

SENONE_SCREENSHOT names a file for a picture of the page. SENONE_AXE names axe.min.js of axe-core, whose findings then fail.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
from common import SENTENCE, samples
from serve_common import WAIT_S, Server, as_wav

import aiohttp

CHROMIUM = shutil.which("chromium")


class Page:
    """A tab of a browser, driven by the DevTools protocol."""

    def __init__(self, ws: Any) -> None:
        self.ws = ws
        self.n = 0
        self.messages: list[dict[str, Any]] = []  # of the console and the log

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.n += 1
        await self.ws.send_json({"id": self.n, "method": method, "params": parameters})
        while True:
            message = await self.ws.receive_json(timeout=WAIT_S)
            if message.get("id") == self.n:
                assert "error" not in message, (method, message)
                found: dict[str, Any] = message["result"]
                return found
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.messages.append(message["params"])

    async def run(self, script: str) -> Any:
        """Returns the value of a script, which may be a promise."""
        found = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def until(self, script: str) -> Any:
        """Waits until a script has a true value, and returns it."""
        end_s = asyncio.get_running_loop().time() + WAIT_S
        while not (value := await self.run(script)):
            state = await self.run("document.getElementById('state').textContent")
            assert asyncio.get_running_loop().time() < end_s, (script, state, self.messages)
            await asyncio.sleep(0.05)
        return value


@contextlib.asynccontextmanager
async def browser(microphone: Path) -> AsyncIterator[Page]:
    """Starts Chromium with a recording as its microphone."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
        command += ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--window-size=900,700"]
        command += [f"--use-file-for-fake-audio-capture={microphone}", "--disable-dev-shm-usage", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port = await _port(Path(profile, "DevToolsActivePort"))
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    target = next(each for each in await answer.json() if each["type"] == "page")
                async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as ws:
                    page = Page(ws)
                    for domain in ("Page", "Runtime", "Log", "DOM"):
                        await page.call(f"{domain}.enable")
                    yield page
        finally:
            process.terminate()
            process.wait(WAIT_S)


async def _port(file: Path) -> int:
    end_s = asyncio.get_running_loop().time() + WAIT_S
    while not file.exists() or not (text := file.read_text()):
        assert asyncio.get_running_loop().time() < end_s, "Chromium does not start"
        await asyncio.sleep(0.05)
    return int(text.splitlines()[0])


UTTERANCES = "[...document.querySelectorAll('#utterances button')].map(each => each.textContent.trim())"


@unittest.skipIf(CHROMIUM is None, "chromium is missing; apt-get install chromium")
class Captions(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.recording = Path(self.folder.name, "said.wav")
        pause = np.zeros(32000, np.int16)
        self.recording.write_bytes(as_wav(np.concatenate([pause, samples(), pause, samples("high_low"), pause])))
        self.server = Server()
        self.addCleanup(self.server.stop)

    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)

    async def _open(self, page: Page) -> None:
        await page.call("Page.navigate", url=f"{self.server.url}/")
        await page.until("document.querySelectorAll('#model option').length == 2")
        self.assertIn("tones on ", await page.run("document.getElementById('server').textContent"))

    async def test_a_file_and_its_alternatives(self) -> None:
        async with browser(self.recording) as page:
            await self._open(page)
            root = (await page.call("DOM.getDocument"))["root"]["nodeId"]
            file = (await page.call("DOM.querySelector", nodeId=root, selector="#file"))["nodeId"]
            await page.call("DOM.setFileInputFiles", files=[str(self.recording)], nodeId=file)
            await page.until("document.getElementById('state').textContent == 'said.wav has ended.'")
            self.assertEqual(await page.run(UTTERANCES), [SENTENCE, "high low"])
            self.assertEqual(await page.run("document.querySelectorAll('#utterances .word').length"), 5)
            pressed = "document.querySelector('#utterances button')"
            await page.run(f"{pressed}.focus(), {pressed}.click()")
            self.assertEqual(await page.run(f"{pressed}.getAttribute('aria-expanded')"), "true")
            self.assertTrue(await page.run(f"{pressed}.nextElementSibling.checkVisibility()"))
            await self._check(page)
            self.assertEqual(page.messages, [])

    async def test_the_microphone(self) -> None:
        async with browser(self.recording) as page:
            await self._open(page)
            button = "document.getElementById('microphone')"
            await page.run(f"{button}.click()")
            await page.until("document.getElementById('partial').textContent.length > 0")
            # A busy machine may lose some of the audio, which comes again and again.
            await page.until(f"{UTTERANCES}.some(text => ['{SENTENCE}', 'high low'].includes(text))")
            self.assertEqual(await page.run(f"{button}.getAttribute('aria-pressed')"), "true")
            await page.run(f"{button}.click()")
            await page.until("document.getElementById('state').textContent == 'The microphone is off.'")
            self.assertEqual(await page.run(f"{button}.getAttribute('aria-pressed')"), "false")
            self.assertEqual(page.messages, [])

    async def test_what_fails_is_told(self) -> None:
        async with browser(self.recording) as page:
            await self._open(page)
            await page.run("document.getElementById('model').value = 'model'")  # has no graph of its own
            await page.run("document.getElementById('microphone').click()")
            await page.until("document.getElementById('state').textContent.includes('has no graph of its own')")
            self.assertEqual(await page.run("document.getElementById('microphone').getAttribute('aria-pressed')"), "false")

    async def _check(self, page: Page) -> None:
        """Every control has a name and can be reached by the keyboard; axe, if it is there, finds nothing."""
        tree = (await page.call("Accessibility.getFullAXTree"))["nodes"]
        controls = [node for node in tree if node.get("role", {}).get("value") in ("button", "combobox", "textbox")]
        self.assertGreaterEqual(len(controls), 5)
        self.assertEqual([node for node in controls if not node.get("name", {}).get("value")], [])
        roles = {node.get("role", {}).get("value") for node in tree}
        self.assertLessEqual({"heading", "main", "log", "status"}, roles)
        axe = os.environ.get("SENONE_AXE")
        if axe:
            await page.run(Path(axe).read_text(encoding="utf-8") + "; 0")
            violations = await page.run("axe.run().then(found => JSON.stringify(found.violations))")
            self.assertEqual(json.loads(violations), [])
        screenshot = os.environ.get("SENONE_SCREENSHOT")
        if screenshot:
            picture = await page.call("Page.captureScreenshot", format="png")
            Path(screenshot).write_bytes(base64.b64decode(picture["data"]))


if __name__ == "__main__":
    unittest.main()
