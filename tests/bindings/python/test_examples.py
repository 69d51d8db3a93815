# SPDX-License-Identifier: Apache-2.0
"""Tests that the examples run, and report missing parts."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from common import BUNDLE, RECORDING, SENTENCE, TONES

from senone import _build_library
from senone._library import library_path

EXAMPLES = Path(os.environ["SENONE_SOURCE"]) / "bindings" / "python" / "examples"


def run(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


class Examples(unittest.TestCase):
    def test_recognize_file(self) -> None:
        done = run("recognize_file.py", BUNDLE, RECORDING, "cpu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], SENTENCE)
        self.assertEqual(len(done.stdout.splitlines()), 4)

    @unittest.skipUnless(Path(library_path(_build_library.SONAME)).exists(), "this build has no libsenone_build")
    def test_align_file(self) -> None:
        done = run("align_file.py", TONES / "model", TONES / "tones.dict", RECORDING, SENTENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = [[word, f"({word.upper()})"] for word in SENTENCE.split()]
        self.assertEqual([line.split()[3:] for line in done.stdout.splitlines()], expected)
        self.assertIn("'zap'", run("align_file.py", TONES / "model", TONES / "tones.dict", RECORDING, "zap").stderr)

    def test_many_streams(self) -> None:
        done = run("many_streams.py", BUNDLE, RECORDING)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], f"500 streams: {SENTENCE}")

    def test_folder(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for recording in TONES.glob("*.raw"):
                shutil.copy(recording, folder)
            done = run("folder.py", BUNDLE, folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [line.split("\t") for line in done.stdout.splitlines()]
            self.assertEqual({Path(path).stem.replace("_", " "): text for path, text in lines}, {
                "low mid high": SENTENCE, "high low": "high low", "low": "low",
            })  # fmt: skip
            (Path(folder) / "broken.wav").write_text("no audio")
            done = run("folder.py", BUNDLE, folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("broken.wav", done.stderr)

    def test_lattice_graph(self) -> None:
        done = run("lattice_graph.py", BUNDLE, RECORDING, 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("digraph lattice {"))
        self.assertIn('label="mid ', done.stdout)
        self.assertIn("doublecircle", done.stdout)
        if shutil.which("dot"):
            subprocess.run(["dot", "-Tsvg"], input=done.stdout, text=True, check=True, stdout=subprocess.DEVNULL)

    def test_microphone_says_what_is_missing(self) -> None:
        if importlib.util.find_spec("sounddevice"):
            self.skipTest("sounddevice is installed")
        done = run("microphone.py", BUNDLE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("pip install sounddevice", done.stderr)

    def test_errors_are_messages(self) -> None:
        for name in ("recognize_file.py", "many_streams.py", "lattice_graph.py"):
            done = run(name, "/no/bundle", RECORDING)
            self.assertEqual(done.returncode, 1)
            self.assertNotIn("Traceback", done.stderr)
            self.assertIn("/no/bundle", done.stderr)


if __name__ == "__main__":
    unittest.main()
