# SPDX-License-Identifier: Apache-2.0
"""Tests ``python -m senone.batch --ray`` on a cluster of this host. SENONE_MORE=1 and Ray Data: pip install
./bindings/python[ray]"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import unittest
from pathlib import Path

from batch_common import BatchTest
from common import RECORDING

RAY = ("--ray", "--device", "cpu", "--workers", 2, "--threads", 1)


def actors() -> list[int]:
    """Recognising processes of this user's Ray actors."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::MapWorker(MapBatches(Actor))"):
                found.append(int(path.parent.name))
        except OSError:  # it has ended
            pass
    return found


@unittest.skipUnless(os.environ.get("SENONE_MORE") == "1", "SENONE_MORE=1 runs it")
@unittest.skipUnless(importlib.util.find_spec("ray"), "Ray is not installed")
class Ray(BatchTest):
    def test_500_recordings_and_a_killed_worker(self) -> None:
        process = self.start(*RAY, self.recordings(500))
        self.wait_for(lambda: self.n_lines() > 100)
        n = self.n_lines()
        killed = actors()
        os.kill(killed[0], signal.SIGKILL)
        stdout, stderr = process.communicate()
        self.assertEqual(process.returncode, 0, stderr)
        self.assertLess(n, 400)
        self.assertIn("500 recordings", stdout)
        self.check_once(500)

    def test_a_killed_run_goes_on_and_ctrl_c_ends_it(self) -> None:
        names = self.recordings(300)
        for number in (signal.SIGKILL, signal.SIGINT):
            process = self.start(*RAY, names)
            n = self.n_lines()
            self.wait_for(lambda: self.n_lines() > n)
            process.send_signal(number)
            process.communicate()
            self.assertEqual(process.returncode, -number)
            self.wait_for(lambda: not actors())
        self.assertLess(self.n_lines(), 300)
        self.run_batch(*RAY, names)
        self.check_once(300)

    def test_a_recording_that_kills_workers_has_an_error(self) -> None:
        poison = self.folder / "poison.raw"
        shutil.copy(RECORDING, poison)
        self.run_batch(*RAY, "--retries", 1, self.recordings(40), poison, "/no/file.wav", status=1)
        records = {record["id"]: record for record in self.records()}
        self.assertIn("the actor died whenever it recognised this", records.pop(str(poison))["error"])
        self.assertIn("does not exist", records.pop("/no/file.wav")["error"])
        self.assertEqual([record["text"] for record in records.values()], ["low"] * 40)

    def test_what_cannot_be_is_said(self) -> None:
        for words, arguments in (
            ("/no/bundle", (*RAY, RECORDING, "--model", "/no/bundle")),
            ("999 workers need 999 cores", (*RAY, RECORDING, "--workers", 999)),
        ):
            self.assertIn(words, self.run_batch(*arguments, status=1).stderr)


if __name__ == "__main__":
    unittest.main()
