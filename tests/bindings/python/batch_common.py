# SPDX-License-Identifier: Apache-2.0
"""Common code of the tests of ``python -m senone.batch``: runs of it, and recordings that slow down or kill its workers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import BUNDLE, TONES

# Python runs this at the start of every process; names of recordings select slowness and crashes. NO_NUMPY hides numpy.
SITE = """
import os, signal, sys, time
if os.environ.get("NO_NUMPY"):
    sys.modules["numpy"] = None
if os.environ.get("BATCH_TRAPS"):
    import senone._audio
    opened = senone._audio.Recording.__init__
    def open_trap(self, path, *args, **named):
        if "slow" in str(path): time.sleep(0.02)
        if "poison" in str(path): os.kill(os.getpid(), signal.SIGKILL)
        opened(self, path, *args, **named)
    senone._audio.Recording.__init__ = open_trap
"""


class BatchTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out.jsonl"
        (self.folder / "site").mkdir()
        (self.folder / "site" / "sitecustomize.py").write_text(SITE)
        self.environment = {
            **os.environ,
            "BATCH_TRAPS": "1",
            "PYTHONPATH": f"{self.folder / 'site'}:{os.environ['PYTHONPATH']}",
        }

    def recordings(self, n: int, name: str = "slow") -> Path:
        """A list of n recordings with equal content that are slow to open."""
        recording = self.folder / f"{name}.raw"
        shutil.copy(TONES / "low.raw", recording)
        path = self.folder / f"{name}.txt"
        path.write_text("".join(f"{recording}\t{name} {i}\n" for i in range(n)))
        return path

    def command(self, *arguments: object) -> list[str]:
        return [
            sys.executable,
            "-m",
            "senone.batch",
            "--model",
            str(BUNDLE),
            "--out",
            str(self.out),
            *map(str, arguments),
        ]

    def run_batch(self, *arguments: object, status: int = 0, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*arguments), env=self.environment, capture_output=True, text=True, timeout=seconds
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            self.command(*arguments), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def wait_for(self, condition: Callable[[], bool], seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it never happened")
            time.sleep(0.01)

    def n_lines(self) -> int:
        return self.out.read_bytes().count(b"\n") if self.out.exists() else 0

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.read_text().splitlines()]

    def check_once(self, n: int, name: str = "slow") -> None:
        """Checks that each recording of `recordings` has one result, the right one."""
        records = self.records()
        self.assertEqual(sorted(record["id"] for record in records), sorted(f"{name} {i}" for i in range(n)))
        self.assertEqual({record.get("text") for record in records}, {"low"}, [r for r in records if "error" in r][:3])


def children(process: subprocess.Popen[str]) -> list[int]:
    """Child processes of a process."""
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
